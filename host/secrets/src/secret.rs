//! Secret value that cannot be printed.

use secrecy::{ExposeSecret, SecretString};
use std::fmt;

/// Minimum length of a secret: shorter texts would match everywhere.
pub const MIN_SECRET: usize = 8;

/// Length limit of a secret, in bytes. Of a longer one only the beginning is searched for; settings with one are
/// refused.
pub const MAX_SECRET: usize = 16 << 10;

/// Text that cannot be printed, compared or serialized; its memory is zeroed on drop.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(SecretString::from(text.into()))
    }

    /// Returns the text, for starting or calling a server.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("…")
    }
}
