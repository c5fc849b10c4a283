//! Hashes and HMACs, in lower-case hex.

use crate::bounded::no_memory;
use crate::error::StdError;
use agent_spaces_types::json_memory::Meter;
use data_encoding::HEXLOWER;
use ring::{digest, hmac};

/// Bytes between two cancellation checks.
const CHUNK_BYTES: usize = 64 << 10;

#[derive(Clone, Copy)]
pub(super) enum Hash {
    Sha(&'static digest::Algorithm),
    Blake3,
}

/// By their names in scripts.
pub(super) const HASHES: &[(&str, Hash)] = &[
    ("sha256", Hash::Sha(&digest::SHA256)),
    ("sha384", Hash::Sha(&digest::SHA384)),
    ("sha512", Hash::Sha(&digest::SHA512)),
    ("blake3", Hash::Blake3),
];

/// By their names in scripts.
pub(super) const CODES: &[(&str, hmac::Algorithm)] =
    &[("sha256", hmac::HMAC_SHA256), ("sha384", hmac::HMAC_SHA384), ("sha512", hmac::HMAC_SHA512)];

pub(super) fn hash(algorithm: Hash, bytes: &[u8], meter: &mut Meter<'_>) -> Result<String, StdError> {
    Ok(match algorithm {
        Hash::Sha(algorithm) => {
            let mut digest = digest::Context::new(algorithm);
            in_chunks(bytes, meter, |chunk| digest.update(chunk))?;
            HEXLOWER.encode(digest.finish().as_ref())
        }
        Hash::Blake3 => {
            let mut hasher = blake3::Hasher::new();
            in_chunks(bytes, meter, |chunk| {
                hasher.update(chunk);
            })?;
            hasher.finalize().to_hex().to_string()
        }
    })
}

pub(super) fn code(
    algorithm: hmac::Algorithm,
    key: &[u8],
    bytes: &[u8],
    meter: &mut Meter<'_>,
) -> Result<String, StdError> {
    let mut code = hmac::Context::with_key(&hmac::Key::new(algorithm, key));
    in_chunks(bytes, meter, |chunk| code.update(chunk))?;
    Ok(HEXLOWER.encode(code.sign().as_ref()))
}

fn in_chunks(bytes: &[u8], meter: &mut Meter<'_>, mut update: impl FnMut(&[u8])) -> Result<(), StdError> {
    for chunk in bytes.chunks(CHUNK_BYTES) {
        meter.work(chunk.len() as u64).map_err(|_| no_memory())?;
        update(chunk);
    }
    Ok(())
}
