//! Approver token: the private key that signs decisions.

use super::error::StoreError;
use super::key::ApproverKey;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use std::fmt;
use std::str::FromStr;

/// Prefix of a token.
const PREFIX: &str = "ast_";

/// Private key of an approver. It is shown once and stored nowhere: the machine keeps only its public key.
pub struct ApproverToken {
    seed: [u8; 32],
    pair: Ed25519KeyPair,
}

impl ApproverToken {
    /// Generates a token.
    pub fn new() -> Result<ApproverToken, StoreError> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| StoreError::NoRandomness(error.to_string()))?;
        ApproverToken::from_seed(seed)
    }

    /// Returns its text, `ast_…`, for the approver to keep. Whoever reads it can approve.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(self.seed))
    }

    /// Returns the public key that verifies its decisions.
    pub fn key(&self) -> ApproverKey {
        ApproverKey::of(self.pair.public_key().as_ref())
    }

    /// Returns the token of a seed: for hosts that derive it from a secret of theirs, so that all of them have the same.
    pub fn from_seed(seed: [u8; 32]) -> Result<ApproverToken, StoreError> {
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed).map_err(|_| StoreError::NotToken)?;
        Ok(ApproverToken { seed, pair })
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(message).as_ref().to_vec()
    }
}

impl FromStr for ApproverToken {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<ApproverToken, StoreError> {
        // The text is not repeated in the error: it may be a token with one wrong letter.
        let encoded = text.trim().strip_prefix(PREFIX).ok_or(StoreError::NotToken)?;
        let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| StoreError::NotToken)?;
        ApproverToken::from_seed(bytes.try_into().map_err(|_| StoreError::NotToken)?)
    }
}

impl fmt::Debug for ApproverToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApproverToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::ApproverToken;

    #[test]
    fn a_token_round_trips_through_text() {
        let token = ApproverToken::new().unwrap();
        let text = token.reveal();
        assert!(text.starts_with("ast_") && text.len() == 47, "{text}");
        let read: ApproverToken = format!(" {text}\n").parse().unwrap();
        assert_eq!(read.key(), token.key());
        assert_ne!(ApproverToken::new().unwrap().key(), token.key());
    }

    #[test]
    fn debug_output_does_not_reveal_the_token() {
        let token = ApproverToken::new().unwrap();
        assert_eq!(format!("{token:?}"), "ApproverToken(…)");
        let text = token.reveal();
        for wrong in ["", "ast_", "ast_!", &text[4..], &text[..46], &format!("{text}A"), &text.replace("ast_", "AST_")]
        {
            let error = wrong.parse::<ApproverToken>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains(&text[4..40]), "{error}");
        }
    }
}
