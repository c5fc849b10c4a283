//! Unexpanded text that may hold a secret.

use std::fmt;

/// Text of the file with `${VAR}` not yet expanded.
///
/// People write tokens literally where a variable should be, so `Debug` and `Display` print `…`; only [`Raw::expose`]
/// returns the text.
#[derive(Clone, PartialEq, Eq)]
pub struct Raw(String);

impl Raw {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Raw {
        Raw(text.into())
    }

    /// Returns the text.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Raw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}

impl fmt::Display for Raw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}
