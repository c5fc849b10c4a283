//! YAML 1.2 parser that produces JSON values.
//!
//! - `build`: parser events → value; keys, aliases, merge keys and limits
//! - `scalar`: plain scalars by YAML's core schema
//! - `find`: line and column of a value
//!
//! Constructs that parsers treat differently are refused: duplicate keys, keys that are lists or objects, custom tags,
//! numbers that JSON cannot represent, a second document.

mod build;
mod find;
mod scalar;

pub use find::find;

use crate::json_memory::UniqueKeys;
use saphyr_parser::{Marker, ScanError};
use serde_json::Value;
use std::fmt;

/// Maximum number of characters that may start a token inside `[ ]` and `{ }`. The parser keeps all tokens of such a
/// list until its end, about 100 bytes each; the largest OpenAPI documents have less than half as many.
const MAX_INDICATORS: usize = 1 << 20;

/// Size limits of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Maximum bytes of the text, and of the value with all aliases expanded, so that a few lines of nested aliases
    /// cannot expand to gigabytes.
    pub bytes: usize,
    /// Maximum nesting, with aliases expanded.
    pub depth: usize,
}

/// Position in a text, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character within the line.
    pub column: usize,
}

/// One step from a value to one inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the member of an object.
    Key(String),
    /// To the item of a list.
    Index(usize),
}

/// YAML error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {message}. {fix}")]
pub struct YamlError {
    /// Position in the text.
    pub position: Position,
    /// Path of the value, if known.
    pub path: Vec<Step>,
    /// Description of the error, without a full stop. Contains names from the document, but no values.
    pub message: String,
    /// Suggested fix, as a sentence.
    pub fix: &'static str,
}

/// Parses one document. An empty document is `null`.
///
/// # Errors
///
/// The first error, with its place and fix.
pub fn read(text: &str, bounds: Bounds) -> Result<Value, YamlError> {
    check_size(text, bounds)?;
    match json(text, bounds.depth) {
        Some(value) => Ok(value),
        None => build::document(text, bounds),
    }
}

/// Parses JSON, which is YAML except for lone surrogate escapes. Text that is not JSON, has duplicate keys or is nested
/// too deeply is left to the YAML parser, which knows the place.
fn json(text: &str, depth: usize) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let UniqueKeys(value) = serde_json::from_str(text).ok()?;
    (levels(&value) <= depth).then_some(value)
}

/// Depth of a value, which the JSON parser limits.
fn levels(value: &Value) -> usize {
    let inside = match value {
        Value::Array(items) => items.iter().map(levels).max(),
        Value::Object(members) => members.values().map(levels).max(),
        _ => None,
    };
    1 + inside.unwrap_or_default()
}

fn check_size(text: &str, bounds: Bounds) -> Result<(), YamlError> {
    let refuse = |message: String| YamlError {
        position: Position { line: 1, column: 1 },
        path: Vec::new(),
        message,
        fix: "Split it, or leave out what is not needed.",
    };
    if text.len() > bounds.bytes {
        return Err(refuse(format!("the document has {} bytes, more than {}", text.len(), bounds.bytes)));
    }
    let indicators = text.bytes().filter(|byte| b",[]{}:?\"'*&!#".contains(byte)).take(MAX_INDICATORS + 1).count();
    if indicators > MAX_INDICATORS {
        return Err(refuse(format!(
            "the document has more than {MAX_INDICATORS} brackets, commas, colons and the like"
        )));
    }
    Ok(())
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

impl From<Marker> for Position {
    fn from(marker: Marker) -> Position {
        Position { line: marker.line().max(1), column: marker.col() + 1 }
    }
}

impl YamlError {
    fn of_syntax(error: &ScanError) -> YamlError {
        let info: String = error.info().chars().take(200).flat_map(char::escape_debug).collect();
        let info = info.replace("\\\"", "`").replace("\\'", "'");
        let (message, fix) = match info.as_str() {
            "recursion limit exceeded" => ("it is nested too deep".to_owned(), "Flatten it."),
            "while parsing node, found unknown anchor" => {
                ("an alias (`*name`) has no anchor (`&name`) before it".to_owned(), "Write the anchor first.")
            }
            _ => (format!("this is not YAML: {info}"), "Correct the YAML at this place."),
        };
        YamlError { position: (*error.marker()).into(), path: Vec::new(), message, fix }
    }
}
