//! A value that cannot be printed.

use secrecy::{ExposeSecret, SecretString};
use std::fmt;

/// Shorter texts would be found everywhere: they cannot be kept out of anything.
pub const MIN_SECRET: usize = 8;

/// Text that cannot be printed, compared or serialized; its memory is cleared when it goes.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Keeps `text` from being printed.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(SecretString::from(text.into()))
    }

    /// The text, for the one that starts or calls a server.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}
