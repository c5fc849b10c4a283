//! YAML 1.2 text → the value that the same document would be as JSON.
//!
//! - `build`: events of the parser → value; keys, aliases, merge keys and bounds
//! - `scalar`: what a bare word is: YAML's core schema
//! - `find`: line and column of a value
//!
//! What parsers differ about is refused rather than guessed: a key that stands twice, a key that is a list or an
//! object, tags that only one program knows, numbers that JSON has none for, a second document.

mod build;
mod find;
mod scalar;

pub use find::find;

use crate::json_memory::UniqueKeys;
use saphyr_parser::{Marker, ScanError};
use serde_json::Value;
use std::fmt;

/// Most characters that may begin a token inside `[ ]` and `{ }`. The parser keeps all tokens of such a list until it
/// ends, about 100 bytes each; the largest OpenAPI documents have less than half as many.
const MAX_INDICATORS: usize = 1 << 20;

/// How much a document may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Most bytes of text; also most bytes of the value with every alias written out, so that a few lines of aliases
    /// of aliases cannot become gigabytes.
    pub bytes: usize,
    /// Deepest nesting, aliases written out.
    pub depth: usize,
}

/// A place in a text, counted from one.
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

/// Why a text is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {message}. {fix}")]
pub struct YamlError {
    /// Where.
    pub position: Position,
    /// The value that it is about, where that is known.
    pub path: Vec<Step>,
    /// What is wrong, without a full stop. It repeats names of the document, and no values.
    pub message: String,
    /// What to do, a sentence.
    pub fix: &'static str,
}

/// Reads a text of one document. One without any value is `null`.
///
/// # Errors
///
/// The first thing that is wrong, with its place and what to do.
pub fn read(text: &str, bounds: Bounds) -> Result<Value, YamlError> {
    check_size(text, bounds)?;
    match json(text, bounds.depth) {
        Some(value) => Ok(value),
        None => build::document(text, bounds),
    }
}

/// JSON is YAML, but for escapes of half a character that parsers of YAML refuse. What is not JSON, has a key twice or is
/// too deep is left to the parser of YAML, which knows the place.
fn json(text: &str, depth: usize) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let UniqueKeys(value) = serde_json::from_str(text).ok()?;
    (levels(&value) <= depth).then_some(value)
}

/// How deep a value is nested. The parser of JSON bounds that.
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
