//! Signing key of heads.

use crate::error::{AuditError, Tampered};
use crate::files;
use data_encoding::HEXLOWER;
use ring::digest::{Context, SHA256};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use std::path::Path;

const SEED_BYTES: usize = 32;

/// Prefix of the genesis hash.
const START: &[u8] = b"agent-spaces audit log\n";

pub(crate) struct Key(Ed25519KeyPair);

impl Key {
    /// Loads the key; `None` if there is no file.
    pub(crate) fn load(path: &Path) -> Result<Option<Key>, AuditError> {
        let Some(seed) = files::read(path, SEED_BYTES as u64 + 1)? else { return Ok(None) };
        let damaged = |_| Tampered::new(format!("the key {path:?} is damaged"));
        Ok(Some(Key(Ed25519KeyPair::from_seed_unchecked(&seed).map_err(damaged)?)))
    }

    /// Generates a key in a private file.
    pub(crate) fn make(path: &Path) -> Result<Key, AuditError> {
        let mut seed = [0; SEED_BYTES];
        SystemRandom::new().fill(&mut seed).map_err(|_| AuditError::NoRandom)?;
        files::replace(path, &seed, true)?;
        Ed25519KeyPair::from_seed_unchecked(&seed).map(Key).map_err(|_| AuditError::NoRandom)
    }

    /// Returns the genesis hash, the `prev` of the first line. It depends on the key, so logs of different keys differ
    /// from the first line on.
    pub(crate) fn start(&self) -> String {
        let mut context = Context::new(&SHA256);
        context.update(START);
        context.update(self.0.public_key().as_ref());
        HEXLOWER.encode(context.finish().as_ref())
    }

    /// Returns the public key in lower-case hex.
    pub(crate) fn public(&self) -> String {
        HEXLOWER.encode(self.0.public_key().as_ref())
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.0.sign(message).as_ref().to_vec()
    }

    pub(crate) fn is_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, self.0.public_key()).verify(message, signature).is_ok()
    }
}
