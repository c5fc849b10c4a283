//! Text → value: JSON, or YAML where the file's name says so.

use super::error::SourceError;
use super::json;
use crate::definition::Place;
use crate::yaml::{self, Bounds};
use serde_json::Value;

/// As deep as the parser of JSON goes.
const MAX_YAML_DEPTH: usize = 127;

/// Reads a document of at most so many bytes.
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

/// Whether a file is YAML, by its name.
fn is_yaml(file: &str) -> bool {
    let extension = file.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
    ["yaml", "yml"].iter().any(|known| extension.eq_ignore_ascii_case(known))
}
