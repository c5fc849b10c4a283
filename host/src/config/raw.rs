//! Text that may hold a secret.

use std::fmt;

/// Text as it stands in the file, `${VAR}` not yet filled in.
///
/// People write tokens literally where a variable should be, so this prints as `…` wherever it goes;
/// [`Raw::expose`] is the one way to the text.
#[derive(Clone, PartialEq, Eq)]
pub struct Raw(String);

impl Raw {
    /// Keeps `text` from being printed.
    pub fn new(text: impl Into<String>) -> Raw {
        Raw(text.into())
    }

    /// The text, for the one that starts or calls the server.
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
