//! Authentication of callers by bearer token.

use crate::client::Client;
use crate::token::{Token, TokenError};
use http::HeaderMap;
use http::header::AUTHORIZATION;

/// Callers by token. An empty list admits no one.
#[derive(Clone, Debug, Default)]
pub struct Callers(Vec<(Token, Client)>);

impl Callers {
    /// Adds a caller. Fails if the token is already in use.
    pub fn add(&mut self, token: Token, client: Client) -> Result<(), TokenError> {
        if self.0.iter().any(|(other, _)| *other == token) {
            return Err(TokenError::Twice);
        }
        self.0.push((token, client));
        Ok(())
    }

    /// Returns true if there are no callers.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the callers, in the order in which they were added.
    pub fn clients(&self) -> impl Iterator<Item = &Client> {
        self.0.iter().map(|(_, client)| client)
    }

    /// Returns the callers with their tokens, in the same order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &(Token, Client)> {
        self.0.iter()
    }

    /// Returns the index of the caller that sent a request, with its token in `Authorization` or in `other`. A request with
    /// both names one caller: they have to be the same. Compares all tokens, so that timing reveals nothing.
    pub(crate) fn index_of(&self, headers: &HeaderMap, other: Option<&str>) -> Option<usize> {
        let bearer = only(headers, AUTHORIZATION.as_str())?.map(|value| Token::of_header(value).ok_or(())).transpose();
        let bearer = bearer.ok()?;
        let key = match other {
            Some(name) => only(headers, name)?.map(Token::of_key),
            None => None,
        };
        let token = match (bearer, key) {
            (Some(bearer), Some(key)) => Some(bearer).filter(|bearer| *bearer == key)?,
            (bearer, key) => bearer.or(key)?,
        };
        self.0.iter().enumerate().fold(None, |found, (index, (own, _))| if *own == token { Some(index) } else { found })
    }
}

/// Returns the value of a header that is there at most once; `None` if it is there more often.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<Option<&'a [u8]>> {
    let mut given = headers.get_all(name).iter();
    match (given.next(), given.next()) {
        (value, None) => Some(value.map(|value| value.as_bytes())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::callers::*;
    use agent_spaces_types::caller::Caller;

    #[test]
    fn a_caller_is_identified_by_exactly_one_token() {
        let mut callers = Callers::default();
        let client = |name: &str| Client::named(name, Caller::default());
        callers.add(Token::new("token-of-ann-123").unwrap(), client("ann")).unwrap();
        callers.add(Token::new("token-of-bob-123").unwrap(), client("bob")).unwrap();
        assert_eq!(callers.add(Token::new("token-of-ann-123").unwrap(), client("eve")), Err(TokenError::Twice));

        let index = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            callers.index_of(&headers, None)
        };
        assert_eq!(index(&["Bearer token-of-bob-123"]), Some(1));
        assert_eq!(index(&["Bearer token-of-ann-123"]), Some(0));
        assert_eq!(index(&[]), None);
        assert_eq!(index(&["Bearer token-of-eve-123"]), None);
        assert_eq!(index(&["Bearer token-of-ann-123", "Bearer token-of-bob-123"]), None, "whose is it?");
    }

    #[test]
    fn another_header_counts_only_where_it_is_asked_for() {
        let mut callers = Callers::default();
        for name in ["ann", "bob"] {
            let token = Token::new(&format!("token-of-{name}-123")).unwrap();
            callers.add(token, Client::named(name, Caller::default())).unwrap();
        }
        let index = |values: &[(&'static str, &str)], other| {
            let mut headers = HeaderMap::new();
            for (name, value) in values {
                headers.append(*name, value.parse().unwrap());
            }
            callers.index_of(&headers, other)
        };
        let (key, bob) = (Some("x-api-key"), ("x-api-key", "token-of-bob-123"));
        assert_eq!((index(&[bob], key), index(&[bob], None)), (Some(1), None));
        assert_eq!(index(&[("authorization", "Bearer token-of-bob-123")], key), Some(1));
        assert_eq!(index(&[bob, ("authorization", "Bearer token-of-bob-123")], key), Some(1));
        assert_eq!(index(&[bob, ("authorization", "Bearer token-of-ann-123")], key), None, "whose is it?");
        assert_eq!(index(&[bob, ("authorization", "Basic token-of-bob-123")], key), None);
        assert_eq!(index(&[bob, bob], key), None);
        assert_eq!(index(&[("x-api-key", "Bearer token-of-bob-123")], key), None);
        // Elsewhere the header means nothing.
        assert_eq!(index(&[bob, ("authorization", "Bearer token-of-ann-123")], None), Some(0));
    }
}
