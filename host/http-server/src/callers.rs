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

    /// Returns the index of the caller that sent a request. Compares all tokens, so that timing reveals nothing.
    pub(crate) fn index_of(&self, headers: &HeaderMap) -> Option<usize> {
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (given.next(), given.next()) else { return None };
        let token = Token::of_header(value.as_bytes())?;
        self.0.iter().enumerate().fold(None, |found, (index, (own, _))| if *own == token { Some(index) } else { found })
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
            callers.index_of(&headers)
        };
        assert_eq!(index(&["Bearer token-of-bob-123"]), Some(1));
        assert_eq!(index(&["Bearer token-of-ann-123"]), Some(0));
        assert_eq!(index(&[]), None);
        assert_eq!(index(&["Bearer token-of-eve-123"]), None);
        assert_eq!(index(&["Bearer token-of-ann-123", "Bearer token-of-bob-123"]), None, "whose is it?");
    }
}
