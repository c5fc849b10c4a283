//! Hashes and codes, in lower-case hex.

use super::encoding::hex;
use ring::{digest, hmac};

#[derive(Clone, Copy)]
pub(super) enum Hash {
    Sha(&'static digest::Algorithm),
    Blake3,
}

/// By the names that scripts know them by.
pub(super) const HASHES: &[(&str, Hash)] = &[
    ("sha256", Hash::Sha(&digest::SHA256)),
    ("sha384", Hash::Sha(&digest::SHA384)),
    ("sha512", Hash::Sha(&digest::SHA512)),
    ("blake3", Hash::Blake3),
];

/// By the names that scripts know them by.
pub(super) const CODES: &[(&str, hmac::Algorithm)] =
    &[("sha256", hmac::HMAC_SHA256), ("sha384", hmac::HMAC_SHA384), ("sha512", hmac::HMAC_SHA512)];

pub(super) fn hash(algorithm: Hash, bytes: &[u8]) -> String {
    match algorithm {
        Hash::Sha(algorithm) => hex(digest::digest(algorithm, bytes).as_ref()),
        Hash::Blake3 => blake3::hash(bytes).to_hex().to_string(),
    }
}

pub(super) fn code(algorithm: hmac::Algorithm, key: &[u8], bytes: &[u8]) -> String {
    hex(hmac::sign(&hmac::Key::new(algorithm, key), bytes).as_ref())
}
