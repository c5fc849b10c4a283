//! Why there is no index.

use crate::limits::MAX_DOCUMENTS;

/// Why an index could not be made or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexError {
    /// There are more documents than an index holds.
    #[error("more than {MAX_DOCUMENTS} functions cannot be searched; leave some servers out")]
    TooManyDocuments,
    /// The documents have more different words than an index holds.
    #[error("the functions' descriptions have too many different words to be searched; leave some servers out")]
    TooManyTerms,
    /// The bytes are not an index, or were made by another version of this crate or of its table.
    #[error("these bytes are no search index of this version; build it again")]
    OtherVersion,
    /// The bytes began as an index and are not whole.
    #[error("the search index is damaged; build it again")]
    Damaged,
    /// The table of words that is built in does not fit this code.
    #[error("the built-in table of words is damaged ({0}); make it again with search/table/make.py")]
    Table(&'static str),
}
