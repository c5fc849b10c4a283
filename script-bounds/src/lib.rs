//! Bounds of a JavaScript or TypeScript source, found in one pass without recursion: how deep its syntax tree can be, and
//! how much work parsing it can be.
//!
//! A parser recurses with its source, so a source that nests too deep overflows its stack. And it guesses: `(a)` may be
//! the parameters of an arrow function, `a<b` the start of type arguments. A wrong guess is parsed again, and guesses
//! inside guesses multiply: 200 bytes can keep a parser busy for years. Neither can be stopped from outside once it has
//! begun. So both are bounded before, here.
//!
//! Both bounds may be too high, never too low: whatever cannot be told apart without parsing is counted both ways.
//!
//! # Layout
//! - `scan`: the pass over the tokens, and what it counts; `scan::text`: comments, strings, templates and regular
//!   expressions, whose brackets are not code
//! - `words`: what keywords mean for the count

mod scan;
mod words;

#[cfg(test)]
mod tests;

/// What a source may come to.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Brackets inside one another, type arguments included.
    pub brackets: u32,
    /// Brackets and links of chains together: how deep the syntax tree is.
    pub depth: u32,
    /// Tokens that the parser may have to read, with those that it reads again after a wrong guess.
    pub work: u64,
}

/// What a source comes to at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// How deep its syntax tree is.
    pub depth: u32,
    /// How many tokens a parser reads, those included that it reads again.
    pub work: u64,
}

/// Which limit a source passes, and at which byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exceeded {
    /// Too many brackets inside one another.
    Brackets(u32),
    /// Too deep a syntax tree.
    Depth(u32),
    /// Too much work: what cannot be told apart without parsing nests too often.
    Work(u32),
}

/// Work that any source may be, however short: a thousand parentheses inside one another are half of it, though they are no guesses.
const WORK_BASE: u64 = 1_000_000;

/// Work for each byte of a source. Of twenty thousand files of npm packages, bundled and minified ones among them, the dearest
/// comes to 6.4. Reading a token takes some 50 bytes of the parser's memory.
const WORK_PER_BYTE: u64 = 8;

/// The work that parsing a source of so many bytes may be.
#[must_use]
pub fn work_limit(bytes: usize) -> u64 {
    WORK_BASE + WORK_PER_BYTE.saturating_mul(bytes as u64)
}

/// The bounds of a source.
///
/// # Errors
/// The first limit that it passes.
pub fn bound(source: &str, limits: Limits) -> Result<Bound, Exceeded> {
    scan::bound(source, limits)
}
