//! Secret that all hosts of a store have, and the store has not: it makes them one server.
//!
//! Whoever can write to the store must not be able to approve calls. So what signs decisions is derived from the secret on
//! each host, and a public key that hosts share through the store is sealed with it.

use agent_spaces_approvals::{ApproverToken, StoreError};
use std::fmt;

/// Fewest bytes of the text: 24 random bytes in base64, 32 hexadecimal digits.
const MIN_BYTES: usize = 32;

/// Most bytes of the text.
const MAX_BYTES: usize = 1024;

/// What keys are derived for. A changed text is another key.
const ROOT: &str = "agent-spaces 2026-11-18 key of hosts";
const DECISIONS: &str = "agent-spaces 2026-11-18 decisions made over HTTP";
const DOCUMENTS: &str = "agent-spaces 2026-11-18 documents that hosts trust";

/// Secret of all hosts that share a store.
#[derive(Clone)]
pub struct HostKey([u8; 32]);

impl HostKey {
    /// Reads a text of random characters. The same text is the same key.
    pub fn parse(text: &str) -> Result<HostKey, String> {
        let text = text.trim();
        if !(MIN_BYTES..=MAX_BYTES).contains(&text.len()) {
            return Err(format!("the key of hosts has {MIN_BYTES} to {MAX_BYTES} random characters"));
        }
        Ok(HostKey(blake3::derive_key(ROOT, text.as_bytes())))
    }

    /// Returns the token with which all hosts sign decisions that are made over HTTP.
    pub fn approver_token(&self) -> Result<ApproverToken, StoreError> {
        ApproverToken::from_seed(blake3::derive_key(DECISIONS, &self.0))
    }

    /// Returns the seal of a text that is kept under a name.
    pub(crate) fn seal(&self, name: &str, text: &str) -> String {
        let mut hasher = blake3::Hasher::new_keyed(&blake3::derive_key(DOCUMENTS, &self.0));
        hasher.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes()).update(text.as_bytes());
        hasher.finalize().to_hex().to_string()
    }

    /// True if a host sealed this text under this name.
    pub(crate) fn is_seal(&self, seal: &str, name: &str, text: &str) -> bool {
        // Hashes are compared in constant time.
        match (blake3::Hash::from_hex(seal), blake3::Hash::from_hex(self.seal(name, text))) {
            (Ok(given), Ok(expected)) => given == expected,
            _ => false,
        }
    }
}

impl fmt::Debug for HostKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HostKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::HostKey;

    const TEXT: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn hosts_with_the_same_text_sign_alike() {
        let (one, two) = (HostKey::parse(TEXT).unwrap(), HostKey::parse(&format!(" {TEXT}\n")).unwrap());
        assert_eq!(one.approver_token().unwrap().key(), two.approver_token().unwrap().key());
        let other = HostKey::parse(&TEXT.replace('f', "e")).unwrap();
        assert_ne!(one.approver_token().unwrap().key(), other.approver_token().unwrap().key());
        assert!(!format!("{one:?}").contains("012"));
    }

    #[test]
    fn a_seal_is_of_one_name_and_one_text() {
        let (ours, other) = (HostKey::parse(TEXT).unwrap(), HostKey::parse(&"x".repeat(40)).unwrap());
        let seal = ours.seal("a", "bc");
        assert!(ours.is_seal(&seal, "a", "bc"));
        for (key, seal, name, text) in [
            (&ours, seal.as_str(), "ab", "c"),
            (&ours, seal.as_str(), "a", "bd"),
            (&ours, "", "a", "bc"),
            (&other, seal.as_str(), "a", "bc"),
        ] {
            assert!(!key.is_seal(seal, name, text), "{name} {text}");
        }
    }

    #[test]
    fn a_text_that_can_be_guessed_is_refused_and_not_repeated() {
        for text in ["", "hunter2", &"x".repeat(2000)] {
            let error = HostKey::parse(text).unwrap_err();
            assert!(!error.contains("hunter2") && error.contains("random"), "{error}");
        }
    }
}
