//! What is wrong with a document, where, and what to do about it.

use crate::definition::Place;

/// Why a document cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}. {fix}")]
pub struct SourceError {
    /// The file and the JSON path in it; `line 3, column 7` where it is not JSON.
    pub place: Place,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to do, a sentence.
    pub fix: String,
}

/// How much of a document's own text a message repeats.
const MAX_QUOTED_CHARACTERS: usize = 64;

/// Text of a document for a message: in quotation marks, escaped, short.
pub(super) fn quoted(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED_CHARACTERS) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}
