//! Hashes, codes, keys and chance. All of it is `ring`'s, but for BLAKE3.
//!
//! - `digest`: hashes and codes. `seal`: encryption. `random`: bytes and UUIDs. `encoding`: bytes as text.

mod digest;
mod encoding;
mod random;
mod seal;

use crate::bounded::no_memory;
use crate::error::{Answer, StdError};
use crate::params::{bytes_value, read};
use capability_gen::json_memory::{self, Account, Meter};
use serde_json::Value;

/// What a call makes of its parameters, at most: bytes of base64, what they become, and that as text.
const COPIES: u64 = 4;

/// Answers a call. What it makes is taken from the account.
pub fn call(function: &str, params: Value, account: &mut dyn Account) -> Answer {
    let mut meter = Meter::new(account);
    meter.take(COPIES * json_memory::size(&params, u64::MAX)).map_err(|_| no_memory())?;
    match function {
        "hash" => {
            let (algorithm, text) =
                read(params, |params| Ok((params.choice("algorithm", digest::HASHES)?, params.text("text")?)))?;
            Ok(digest::hash(algorithm, text.as_bytes(), &mut meter)?.into())
        }
        "hashBytes" => {
            let (algorithm, bytes) =
                read(params, |params| Ok((params.choice("algorithm", digest::HASHES)?, params.bytes("bytes")?)))?;
            Ok(digest::hash(algorithm, &bytes, &mut meter)?.into())
        }
        "hmac" => {
            let (algorithm, key, text) = read(params, |params| {
                Ok((params.choice("algorithm", digest::CODES)?, params.bytes("key")?, params.text("text")?))
            })?;
            Ok(digest::code(algorithm, &key, text.as_bytes(), &mut meter)?.into())
        }
        "encrypt" => {
            let (key, plain) = read(params, |params| Ok((params.bytes("key")?, params.bytes("plain")?)))?;
            Ok(bytes_value(&seal::encrypt(&key, plain)?))
        }
        "decrypt" => {
            let (key, sealed) = read(params, |params| Ok((params.bytes("key")?, params.bytes("sealed")?)))?;
            Ok(bytes_value(&seal::decrypt(&key, sealed)?))
        }
        "randomBytes" => {
            let count = read(params, |params| params.count("count", u32::MAX.into()))?;
            Ok(bytes_value(&random::bytes(count)?))
        }
        "uuid" => {
            read(params, |_| Ok(()))?;
            Ok(random::uuid()?.into())
        }
        "encode" => {
            let (encoding, bytes) =
                read(params, |params| Ok((params.choice("encoding", encoding::ENCODINGS)?, params.bytes("bytes")?)))?;
            Ok(encoding.encode(&bytes).into())
        }
        "decode" => {
            let (encoding, text) =
                read(params, |params| Ok((params.choice("encoding", encoding::ENCODINGS)?, params.text("text")?)))?;
            Ok(bytes_value(&encoding.decode(&text)?))
        }
        _ => Err(StdError::unknown_function("crypto", function)),
    }
}

#[cfg(test)]
mod tests;
