//! Parse error with its place and fix.

use crate::definition::Place;

/// Parse error of a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}. {fix}")]
pub struct SourceError {
    /// File and JSON path; `line 3, column 7` if it is not valid JSON.
    pub place: Place,
    /// Description of the error, without a full stop.
    pub message: String,
    /// Suggested fix, as a sentence.
    pub fix: String,
}

/// Maximum length of quoted text from a document.
const MAX_QUOTED_CHARACTERS: usize = 64;

/// Quotes text of a document for a message: escaped and truncated.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}
