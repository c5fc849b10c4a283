//! Limits. Texts beyond them are truncated; too many documents are refused.

/// Functions in one index: ten times what large collections have. That many take some hundred megabytes.
pub const MAX_DOCUMENTS: usize = 100_000;
/// Characters of a query that are read: a paragraph, not a page.
pub const MAX_QUERY_CHARACTERS: usize = 1_000;
/// Distinct words of a query. Each costs a scan of the whole vocabulary.
pub const MAX_QUERY_WORDS: usize = 24;
/// Characters of a word. Anything longer is data, not language; the cost of comparing two words is quadratic.
pub(crate) const MAX_WORD_CHARACTERS: usize = 32;
/// Characters of a server's or function's name, and of a title.
pub(crate) const MAX_NAME_CHARACTERS: usize = 200;
/// Characters of a description's beginning, which says what a function does. It is a field of its own, and all that a
/// sentence model reads.
pub const SUMMARY_CHARACTERS: usize = 200;
/// Characters of a description: the rest is examples and warnings.
pub(crate) const MAX_DESCRIPTION_CHARACTERS: usize = 2_000;
/// Characters of the names and descriptions of all parameters together.
pub(crate) const MAX_PARAMETERS_CHARACTERS: usize = 4_000;
/// Distinct words in one index. Untrusted text could otherwise fill the memory with made-up words.
pub(crate) const MAX_TERMS: usize = 500_000;
