//! Header values are bytes, and JavaScript has strings: each byte is one character, as the Fetch standard
//! has it. So nothing is lost on the way in, and what a script copies out is what came in.

use alloc::{string::String, vec::Vec};

pub(crate) fn decode(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Nothing, where a character is not a byte.
pub(crate) fn encode(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|character| u8::try_from(character).ok()).collect()
}
