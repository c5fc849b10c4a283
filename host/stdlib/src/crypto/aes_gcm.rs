//! AES-GCM encryption: a random nonce, the ciphertext, and its tag.

use super::random::fill;
use crate::error::StdError;
use ring::aead::{AES_128_GCM, AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

pub(super) fn encrypt(key: &[u8], mut plain: Vec<u8>) -> Result<Vec<u8>, StdError> {
    let key = key_of(key)?;
    // Random nonces do not collide as long as a key encrypts fewer than 2^32 texts, which no script does.
    let mut nonce = [0; NONCE_LEN];
    fill(&mut nonce)?;
    key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut plain)
        .map_err(|_| StdError::invalid("plain is too long to be encrypted in one piece"))?;
    Ok([&nonce[..], &plain].concat())
}

pub(super) fn decrypt(key: &[u8], mut sealed: Vec<u8>) -> Result<Vec<u8>, StdError> {
    let key = key_of(key)?;
    // One message for all faults: probing keys or bytes reveals nothing.
    let refused =
        || StdError::failed("sealed was changed, or was not encrypted under this key").because("notAuthentic");
    let (nonce, text) = sealed.split_at_mut_checked(NONCE_LEN).ok_or_else(refused)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| refused())?;
    key.open_in_place(nonce, Aad::empty(), text).map(|plain| plain.to_vec()).map_err(|_| refused())
}

fn key_of(key: &[u8]) -> Result<LessSafeKey, StdError> {
    let wrong = || StdError::invalid(format!("key must have 16 or 32 bytes, not {}", key.len()));
    let algorithm = match key.len() {
        16 => &AES_128_GCM,
        32 => &AES_256_GCM,
        _ => return Err(wrong()),
    };
    UnboundKey::new(algorithm, key).map(LessSafeKey::new).map_err(|_| wrong())
}
