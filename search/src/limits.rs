//! How much of everything is read. What is beyond is cut, but for the number of documents, which is refused.

/// Functions in one index: ten times what large collections have. So many take some hundred megabytes.
pub const MAX_DOCUMENTS: usize = 100_000;
/// Characters of a query that are read: a paragraph, not a page.
pub const MAX_QUERY_CHARACTERS: usize = 1_000;
/// Different words of a query that are looked for. Each costs a walk over the whole vocabulary.
pub const MAX_QUERY_WORDS: usize = 24;
/// Characters of a word. What is longer is data, not language; the cost of comparing two words grows with its square.
pub(crate) const MAX_WORD_CHARACTERS: usize = 32;
/// Characters of a server's or function's name, and of a title.
pub(crate) const MAX_NAME_CHARACTERS: usize = 200;
/// The first characters of a description say what a function does; they count apart, and a sentence model reads no more.
pub const SUMMARY_CHARACTERS: usize = 200;
/// Characters of a description: what comes later are examples and warnings.
pub(crate) const MAX_DESCRIPTION_CHARACTERS: usize = 2_000;
/// Characters of the names and descriptions of all parameters together.
pub(crate) const MAX_PARAMETERS_CHARACTERS: usize = 4_000;
/// Different words in one index. Text that strangers write could otherwise fill the memory with words nobody says.
pub(crate) const MAX_TERMS: usize = 500_000;
