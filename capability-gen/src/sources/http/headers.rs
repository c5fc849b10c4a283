//! Headers that a definition may set.

use crate::implementation::CONNECTION_HEADERS;

/// Maximum length of a header name.
const MAX_NAME_BYTES: usize = 256;

/// Reason why a definition may not set a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sources) enum Refused {
    /// Invalid name.
    Name,
    /// Set by the connection.
    Connection,
    /// Carries credentials, which only the configuration may set.
    Credentials,
}

pub(in crate::sources) fn check(name: &str) -> Result<(), Refused> {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.bytes().all(is_token) {
        return Err(Refused::Name);
    }
    let name = name.to_ascii_lowercase();
    if CONNECTION_HEADERS.contains(&name.as_str()) {
        return Err(Refused::Connection);
    }
    if matches!(name.as_str(), "authorization" | "cookie" | "set-cookie") || name.starts_with("proxy-") {
        return Err(Refused::Credentials);
    }
    Ok(())
}
