//! Token lookup, for syntax that has no spans in the tree: modifiers, commas, question marks.

use oxc_parser::{Kind, Token};

/// The tokens of a source, in order.
#[derive(Clone, Copy)]
pub(super) struct Tokens<'t> {
    list: &'t [Token],
}

impl<'t> Tokens<'t> {
    /// Wraps a list of tokens that is ordered by offset.
    pub(super) fn new(list: &'t [Token]) -> Self {
        Self { list }
    }

    /// All tokens.
    pub(super) fn all(&self) -> &'t [Token] {
        self.list
    }

    /// Index of the first token that starts at `offset` or after it.
    pub(super) fn index(&self, offset: u32) -> usize {
        self.list.partition_point(|token| token.start() < offset)
    }

    /// The first token that starts at `offset` or after it.
    pub(super) fn at(&self, offset: u32) -> Option<Token> {
        self.list.get(self.index(offset)).copied()
    }

    /// The first token that starts at `offset` or after it, if it is a `kind`.
    pub(super) fn at_kind(&self, offset: u32, kind: Kind) -> Option<Token> {
        self.at(offset).filter(|token| token.kind() == kind)
    }

    /// The last token that starts before `offset`.
    pub(super) fn before(&self, offset: u32) -> Option<Token> {
        self.list.get(self.index(offset).checked_sub(1)?).copied()
    }

    /// The tokens that start in a range.
    pub(super) fn between(&self, start: u32, end: u32) -> &'t [Token] {
        self.list.get(self.index(start)..self.index(end)).unwrap_or_default()
    }

    /// The first `kind` that starts in a range.
    pub(super) fn find(&self, start: u32, end: u32, kind: Kind) -> Option<Token> {
        let from = self.index(start);
        self.list
            .get(from..)?
            .iter()
            .take_while(|token| token.start() < end)
            .find(|token| token.kind() == kind)
            .copied()
    }

    /// True if any token is one of `kinds`.
    pub(super) fn contain(&self, kinds: &[Kind]) -> bool {
        self.list.iter().any(|token| kinds.contains(&token.kind()))
    }

    /// Returns the end of the last token.
    pub(super) fn end(&self) -> u32 {
        self.list.last().map_or(0, Token::end)
    }

    /// True if a token covers `offset`.
    pub(super) fn cover(&self, offset: u32) -> bool {
        self.before(offset + 1).is_some_and(|token| token.end() > offset)
    }
}
