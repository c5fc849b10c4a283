//! Where the engine sees a token.
//!
//! QuickJS gives a token the place of the last word or blank before it: in `list.map(1)` the `1` is at `map`.

use super::super::tokens::Tokens;
use oxc_parser::{Kind, Token};

pub(super) struct Marks<'t> {
    code: &'t str,
    tokens: Tokens<'t>,
}

impl<'t> Marks<'t> {
    pub(super) fn new(code: &'t str, tokens: Tokens<'t>) -> Marks<'t> {
        Marks { code, tokens }
    }

    /// Where the first token from `offset` on is seen.
    pub(super) fn at(&self, offset: u32) -> u32 {
        let Some(mut token) = self.tokens.at(offset) else { return offset };
        loop {
            let is_word = self.code.as_bytes().get(token.start() as usize).is_some_and(is_word_start);
            match self.tokens.before(token.start()) {
                Some(before) if !is_word && before.end() == token.start() => token = before,
                _ => return token.start(),
            }
        }
    }

    /// Where the token after the `(` of a call is seen, whose callee ends at `offset`.
    pub(super) fn after_parenthesis(&self, offset: u32, end: u32) -> u32 {
        let open = self.tokens.find(offset, end, Kind::LParen);
        open.map_or(offset, |open: Token| self.at(open.end()))
    }
}

/// The engine has its own way with words that start with other letters.
fn is_word_start(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || *byte == b'_' || *byte == b'$'
}
