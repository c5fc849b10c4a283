//! Offsets that the engine records for tokens.
//!
//! QuickJS gives a token the offset of the last word or blank before it: in `list.map(1)` the `1` is at `map`.

use super::super::tokens::Tokens;
use oxc_parser::{Kind, Token};

/// Offset of each token as the engine records it.
pub(super) struct EngineOffsets<'t> {
    tokens: Tokens<'t>,
    /// One for each token. Filled in one pass: a minified line can be a single run of adjacent tokens, which would
    /// otherwise be walked back for each of them.
    recorded: Vec<u32>,
}

impl<'t> EngineOffsets<'t> {
    /// Computes the offsets of all tokens of a code.
    pub(super) fn new(code: &str, tokens: Tokens<'t>) -> EngineOffsets<'t> {
        let mut recorded = Vec::with_capacity(tokens.all().len());
        let mut previous: Option<(u32, u32)> = None;
        for token in tokens.all() {
            let is_word = code.as_bytes().get(token.start() as usize).is_some_and(is_word_start);
            let offset = match previous {
                Some((end, before)) if !is_word && end == token.start() => before,
                _ => token.start(),
            };
            recorded.push(offset);
            previous = Some((token.end(), offset));
        }
        EngineOffsets { tokens, recorded }
    }

    /// Returns the recorded offset of the first token from `offset` on.
    pub(super) fn at(&self, offset: u32) -> u32 {
        self.recorded.get(self.tokens.index(offset)).copied().unwrap_or(offset)
    }

    /// Returns the recorded offset of the token after the `(` of a call whose callee ends at `offset`.
    pub(super) fn after_parenthesis(&self, offset: u32, end: u32) -> u32 {
        let open = self.tokens.find(offset, end, Kind::LParen);
        open.map_or(offset, |open: Token| self.at(open.end()))
    }
}

/// The engine treats words that start with other letters differently.
fn is_word_start(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || *byte == b'_' || *byte == b'$'
}
