//! Upper bounds on nesting depth and parse cost of a JavaScript or TypeScript source, found in one pass without
//! recursion.
//!
//! A parser recurses with its source, so a source that nests too deep overflows its stack. It also backtracks: `(a)`
//! may be the parameters of an arrow function, `a<b` the start of type arguments. A wrong guess is parsed again, and
//! nested guesses multiply: 200 bytes can keep a parser busy for years. Neither can be stopped from outside once
//! parsing has begun, so both are bounded here first.
//!
//! Both bounds may be too high, never too low: what is ambiguous without parsing is counted both ways.
//!
//! # Layout
//! - `scan`: the pass over the tokens; `scan::level`: open brackets; `scan::text`: comments, strings, templates and
//!   regular expressions, whose brackets are not code
//! - `words`: roles of keywords

mod scan;
mod words;

#[cfg(test)]
mod tests;

/// Limits of a source.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Nested brackets, type arguments included.
    pub brackets: u32,
    /// Depth of the syntax tree: nested brackets plus links of chains.
    pub depth: u32,
    /// Tokens that the parser may read, including those read again after backtracking.
    pub work: u64,
}

/// Upper bounds of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Depth of its syntax tree.
    pub depth: u32,
    /// Tokens that a parser reads, including those read again.
    pub work: u64,
}

/// Exceeded limit, and the byte offset where it was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// Too many nested brackets.
    Brackets(u32),
    /// Too deep a syntax tree.
    Depth(u32),
    /// Too much work: ambiguous syntax nests too often.
    Work(u32),
}

/// Work allowed for any source, however short: a thousand nested parentheses take half of it, though they are
/// unambiguous.
const WORK_BASE: u64 = 1_000_000;

/// Work allowed per byte. Of twenty thousand files of npm packages, bundled and minified ones among them, the most
/// expensive takes 6.4. Reading a token takes some 50 bytes of the parser's memory.
const WORK_PER_BYTE: u64 = 8;

/// Returns the work limit for a source of this length.
#[must_use]
pub fn work_limit(bytes: usize) -> u64 {
    WORK_BASE + WORK_PER_BYTE.saturating_mul(bytes as u64)
}

/// Computes the bounds of a source.
///
/// # Errors
/// The first exceeded limit.
pub fn bound(source: &str, limits: Limits) -> Result<Bound, Exceeded> {
    scan::bound(source, limits)
}
