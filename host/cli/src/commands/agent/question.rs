//! The question of a command, and the schema of its answer.

use crate::commands::failure::Failure;
use agent_spaces::Code;
use capability_gen::validate::Validator;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// Maximum size of a question, in bytes: more than fits into any context window.
pub(super) const MAX_QUESTION: u64 = 4 << 20;

/// Maximum size of a schema, in bytes. It is a part of every request.
const MAX_SCHEMA: u64 = 256 << 10;

/// Returns the question: this text, or that of stdin.
pub(super) fn read(text: &str) -> Result<String, Failure> {
    let text = match text {
        "-" => bounded(std::io::stdin().lock(), MAX_QUESTION, "stdin")?,
        text => text.to_owned(),
    };
    match text.trim().is_empty() {
        true => Err(Failure::new(Code::ConfigUsage, "the question is empty", None)),
        false => Ok(text),
    }
}

/// Reads a JSON Schema.
pub(super) fn schema(file: &Path) -> Result<Value, Failure> {
    let shown = file.display().to_string();
    let fail = |message: String| Failure::new(Code::ConfigFile, format!("{shown}: {message}"), None);
    let opened = std::fs::File::open(file).map_err(|error| fail(error.to_string()))?;
    let text = bounded(opened, MAX_SCHEMA, &shown)?;
    let schema: Value = serde_json::from_str(&text).map_err(|error| fail(error.to_string()))?;
    if !schema.is_object() {
        return Err(fail("expected a JSON Schema, which is an object".to_owned()));
    }
    Validator::new(&schema).map_err(|error| fail(format!("the schema is not usable: {error}")))?;
    Ok(schema)
}

fn bounded(from: impl Read, most: u64, shown: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let fail = |message: String| Failure::new(Code::ConfigUsage, format!("{shown}: {message}"), None);
    let read = from.take(most + 1).read_to_string(&mut text).map_err(|error| fail(error.to_string()))?;
    match read as u64 > most {
        true => Err(fail(format!("longer than {most} bytes"))),
        false => Ok(text),
    }
}
