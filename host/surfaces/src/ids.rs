//! Ids of answers.

use data_encoding::HEXLOWER;

/// A new id: a prefix and 96 random bits. It names an answer for people and logs, and gives access to nothing.
pub(crate) fn new(prefix: &str) -> String {
    let mut bytes = [0; 12];
    // Without randomness ids repeat, which harms nobody.
    let _ = getrandom::fill(&mut bytes);
    format!("{prefix}{}", HEXLOWER.encode(&bytes))
}
