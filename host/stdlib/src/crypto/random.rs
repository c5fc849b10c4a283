//! Cryptographically secure random bytes and UUIDs.

use crate::error::StdError;
use data_encoding::HEXLOWER;
use ring::rand::{SecureRandom, SystemRandom};

/// Most bytes of one call, as in `crypto.getRandomValues`.
const MAX_BYTES: u64 = 65_536;

pub(super) fn bytes(count: u64) -> Result<Vec<u8>, StdError> {
    let length = usize::try_from(count).ok().filter(|_| count <= MAX_BYTES);
    let length = length.ok_or_else(|| StdError::invalid(format!("count must be at most {MAX_BYTES}, not {count}")))?;
    let mut bytes = vec![0; length];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Version 4 of RFC 9562.
pub(super) fn uuid() -> Result<String, StdError> {
    let mut bytes = [0; 16];
    fill(&mut bytes)?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = HEXLOWER.encode(&bytes);
    for place in [8, 13, 18, 23] {
        text.insert(place, '-');
    }
    Ok(text)
}

pub(super) fn fill(bytes: &mut [u8]) -> Result<(), StdError> {
    let failed = |_| StdError::unavailable("The system gives no random numbers; try again");
    SystemRandom::new().fill(bytes).map_err(failed)
}
