//! Document parser: JSON, or YAML by the file's extension.

use super::error::SourceError;
use super::json;
use crate::definition::Place;
use crate::yaml::{self, Bounds};
use serde_json::Value;

/// Depth limit of the JSON parser.
const MAX_YAML_DEPTH: usize = 127;

/// Parses a document of at most `most` bytes.
pub(super) fn read(file: &str, text: &str, most: usize) -> Result<Value, SourceError> {
    if !is_yaml(file) {
        return json::read(file, text, most);
    }
    let refuse = |path: String, message: String, fix: &str| {
        let place = Place { file: file.to_owned(), path };
        SourceError { place, message, fix: fix.to_owned() }
    };
    if text.len() > most {
        let message = format!("the document has {} bytes, more than {most}", text.len());
        return Err(refuse("$".to_owned(), message, json::too_large_fix(most)));
    }
    yaml::read(text, Bounds { bytes: most, depth: MAX_YAML_DEPTH })
        .map_err(|error| refuse(error.position.to_string(), error.message, error.fix))
}

/// Returns true if a file has a YAML extension.
fn is_yaml(file: &str) -> bool {
    let extension = file.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
    ["yaml", "yml"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}
