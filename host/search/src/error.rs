//! Errors of indexes.

use crate::limits::MAX_DOCUMENTS;

/// Error of building or reading an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// Too many documents.
    #[error("too many functions for search (limit {MAX_DOCUMENTS}); leave some servers out")]
    TooManyDocuments,
    /// Too many distinct words.
    #[error("too many distinct words in the functions' descriptions for search; leave some servers out")]
    TooManyTerms,
    /// The bytes are not an index, or one of another version of this crate or of its table.
    #[error("not a search index of this version; build it again")]
    OtherVersion,
    /// The bytes are damaged or incomplete.
    #[error("the search index is damaged; build it again")]
    Damaged,
    /// The built-in table of word vectors is invalid.
    #[error("invalid built-in table of word vectors ({0}); make it again with search/table/make.py")]
    Table(&'static str),
}
