//! What is added to requests to one origin, and to none other.

use super::query::Pair;
use http::header::COOKIE;
use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

/// What is added to requests to one origin. Printing it shows names alone.
#[derive(Clone, Default, Debug)]
pub struct Credentials {
    /// Marked as sensitive, so that their values are not printed.
    headers: Vec<(HeaderName, HeaderValue)>,
    query: Vec<(String, SecretString)>,
}

/// Why credentials cannot be sent. Never holds one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// The name is none.
    #[error("{0:?} cannot be the name of a header")]
    Name(String),
    /// The value has something in it that would end the header.
    #[error("the value of the header {0} has a line break or another character that cannot be sent")]
    Value(String),
}

impl Credentials {
    /// Adds a header, which takes the place of one that a definition sets.
    ///
    /// # Errors
    /// A name or a value that cannot be sent.
    pub fn add_header(&mut self, name: &str, value: &str) -> Result<(), CredentialError> {
        let header = HeaderName::try_from(name).map_err(|_| CredentialError::Name(name.to_owned()))?;
        let mut value = HeaderValue::try_from(value).map_err(|_| CredentialError::Value(name.to_owned()))?;
        value.set_sensitive(true);
        self.headers.push((header, value));
        Ok(())
    }

    /// Adds a member of the query, which takes the place of one that a definition sets.
    pub fn add_query(&mut self, name: &str, value: &str) {
        self.query.push((name.to_owned(), value.into()));
    }

    pub(super) fn has_query(&self, name: &str) -> bool {
        self.query.iter().any(|(known, _)| known == name)
    }

    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.query.iter().map(|(name, value)| Pair::new(name, value.expose_secret()))
    }

    /// Cookies stand beside those of the definition that have other names; everything else takes the place of what is
    /// there.
    pub(super) fn add_headers(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.headers {
            let both = headers.get(name).filter(|_| name == COOKIE).and_then(|own| both_cookies(own, value));
            let mut value = both.unwrap_or_else(|| value.clone());
            value.set_sensitive(true);
            headers.insert(name, value);
        }
    }
}

/// Cookies, and those that are given: of one name only the latter, because a server may take the first.
fn both_cookies(own: &HeaderValue, given: &HeaderValue) -> Option<HeaderValue> {
    let names: Vec<&[u8]> = cookies(given).map(|(name, _)| name).collect();
    let own = cookies(own).filter(|(name, _)| !names.contains(name)).map(|(_, cookie)| cookie);
    let all: Vec<&[u8]> = own.chain([given.as_bytes()]).collect();
    HeaderValue::from_bytes(&all.join(&b"; "[..])).ok()
}

/// Cookies, each with its name before it.
fn cookies(header: &HeaderValue) -> impl Iterator<Item = (&[u8], &[u8])> {
    header.as_bytes().split(|byte| *byte == b';').map(|cookie| {
        let cookie = cookie.trim_ascii();
        (cookie.split(|byte| *byte == b'=').next().unwrap_or_default().trim_ascii(), cookie)
    })
}
