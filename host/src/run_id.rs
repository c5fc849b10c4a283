//! Names of runs.

use std::sync::Arc;

/// `run_` and 96 random bits: unique, and not to be guessed.
pub(crate) fn new() -> Arc<str> {
    let mut bytes = [0; 12];
    // Without randomness the name repeats, and nothing else depends on it.
    let _ = getrandom::fill(&mut bytes);
    let mut text = String::with_capacity(28);
    text.push_str("run_");
    for byte in bytes {
        text.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or('0'));
        text.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or('0'));
    }
    text.into()
}
