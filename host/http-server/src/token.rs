//! Bearer tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Length limits: a shorter token could be guessed, a longer one does not fit a header.
const SHORTEST: usize = 16;
const LONGEST: usize = 4096;

/// Context of the keys that sign sessions, so that they are keys of nothing else.
const SESSION_KEY: &str = "agent-spaces 2026-11-18 console session";

/// Bearer token, stored as a hash and compared in constant time.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(blake3::Hash);

/// Invalid token. Messages never contain the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Too short: it could be guessed.
    #[error("token too short: it must have at least {SHORTEST} characters")]
    Short,
    /// Too long for a header.
    #[error("token too long: it must have at most {LONGEST} characters")]
    Long,
    /// Contains characters that a header cannot have.
    #[error("invalid token: it contains spaces, control characters or non-ASCII characters")]
    Characters,
    /// Two callers have the same token.
    #[error("two callers have the same token")]
    Twice,
}

impl Token {
    /// Parses a token, without surrounding white space.
    pub fn new(text: &str) -> Result<Token, TokenError> {
        let text = text.trim();
        match text.len() {
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => Err(TokenError::Characters),
            0..SHORTEST => Err(TokenError::Short),
            SHORTEST..=LONGEST => Ok(Token(blake3::hash(text.as_bytes()))),
            _ => Err(TokenError::Long),
        }
    }

    /// Generates the text of a new token: 256 random bits.
    pub fn generate() -> std::io::Result<String> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
        Ok(URL_SAFE_NO_PAD.encode(bytes))
    }

    /// Parses the value of an `Authorization` header.
    pub(crate) fn of_header(value: &[u8]) -> Option<Token> {
        let (scheme, text) = value.split_at_checked(7)?;
        let is_bearer = scheme.eq_ignore_ascii_case(b"bearer ");
        is_bearer.then(|| Token(blake3::hash(text.trim_ascii())))
    }

    /// Parses the value of a header that holds a token alone.
    pub(crate) fn of_key(value: &[u8]) -> Token {
        Token(blake3::hash(value.trim_ascii()))
    }

    /// Derives the key that signs sessions of the token's caller: sessions survive a restart of the server, and end when
    /// the token changes.
    pub(crate) fn session_key(&self) -> [u8; 32] {
        blake3::derive_key(SESSION_KEY, self.0.as_bytes())
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use crate::token::{Token, TokenError};

    #[test]
    fn only_a_bearer_header_with_the_same_token_matches() {
        let token = Token::new("0123456789abcdef\n").unwrap();
        let found = |value: &str| Token::of_header(value.as_bytes()).is_some_and(|found| found == token);
        assert!(found("Bearer 0123456789abcdef") && found("bearer  0123456789abcdef "));
        for other in ["", "Bearer", "Bearer ", "Basic 0123456789abcdef", "Bearer 0123456789abcdeg", "0123456789abcdef"]
        {
            assert!(!found(other), "{other}");
        }
    }

    #[test]
    fn short_long_and_non_ascii_tokens_are_refused() {
        assert_eq!(Token::new("short"), Err(TokenError::Short));
        assert_eq!(Token::new(""), Err(TokenError::Short));
        assert_eq!(Token::new(&"x".repeat(5000)), Err(TokenError::Long));
        assert_eq!(Token::new("0123456789 abcdef"), Err(TokenError::Characters));
        assert_eq!(Token::new("0123456789äabcdef"), Err(TokenError::Characters));
    }

    #[test]
    fn generated_tokens_are_valid_and_unique() {
        let [one, two] = [Token::generate().unwrap(), Token::generate().unwrap()];
        assert_ne!(Token::new(&one).unwrap(), Token::new(&two).unwrap());
        assert!(!format!("{:?}", Token::new(&one).unwrap()).contains(&one[..8]));
    }
}
