//! Credentials for one origin.

use super::query::Pair;
use http::header::COOKIE;
use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

/// Credentials added to requests to one origin. `Debug` shows names only.
#[derive(Clone, Default, Debug)]
pub struct Credentials {
    /// Marked as sensitive, so that their values are not printed.
    headers: Vec<(HeaderName, HeaderValue)>,
    query: Vec<(String, SecretString)>,
}

/// Invalid credential. Never contains its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// Invalid header name.
    #[error("{0:?} is not a valid header name")]
    Name(String),
    /// Header value with characters that cannot be sent.
    #[error("the value of the header {0} has a line break or another character that cannot be sent")]
    Value(String),
}

impl Credentials {
    /// Adds a header, overriding the definition's.
    ///
    /// # Errors
    /// If the name or value is invalid.
    pub fn add_header(&mut self, name: &str, value: &str) -> Result<(), CredentialError> {
        let header = HeaderName::try_from(name).map_err(|_| CredentialError::Name(name.to_owned()))?;
        let mut value = HeaderValue::try_from(value).map_err(|_| CredentialError::Value(name.to_owned()))?;
        value.set_sensitive(true);
        self.headers.push((header, value));
        Ok(())
    }

    /// Adds a query parameter, overriding the definition's.
    pub fn add_query(&mut self, name: &str, value: &str) {
        self.query.push((name.to_owned(), value.into()));
    }

    pub(super) fn has_query(&self, name: &str) -> bool {
        self.query.iter().any(|(known, _)| known == name)
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.query.iter().map(|(name, value)| Pair::new(name, value.expose_secret()))
    }

    /// Adds the headers. Cookies are merged with the definition's by name; other headers replace it.
    pub(super) fn add_headers(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.headers {
            let both = headers.get(name).filter(|_| name == COOKIE).and_then(|own| both_cookies(own, value));
            let mut value = both.unwrap_or_else(|| value.clone());
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
}

/// Merges cookies. The given one replaces one of the same name, because a server may take the first.
fn both_cookies(own: &HeaderValue, given: &HeaderValue) -> Option<HeaderValue> {
    let names: Vec<&[u8]> = cookies(given).map(|(name, _)| name).collect();
    let own = cookies(own).filter(|(name, _)| !names.contains(name)).map(|(_, cookie)| cookie);
    let all: Vec<&[u8]> = own.chain([given.as_bytes()]).collect();
    HeaderValue::from_bytes(&all.join(&b"; "[..])).ok()
}

/// Splits cookies into name and whole pair.
fn cookies(header: &HeaderValue) -> impl Iterator<Item = (&[u8], &[u8])> {
    header.as_bytes().split(|byte| *byte == b';').map(|cookie| {
        let cookie = cookie.trim_ascii();
        (cookie.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii(), cookie)
    })
}
