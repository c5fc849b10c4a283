//! Cryptography: hashes, HMAC, encryption and randomness. Uses `ring`, except for BLAKE3.
//!
//! - `digest`: hashes and HMACs. `aes_gcm`: encryption. `random`: bytes and UUIDs. `encoding`: hex and base64.

mod aes_gcm;
mod digest;
mod encoding;
mod random;

use crate::bounded::no_memory;
use crate::error::{Answer, StdError};
use crate::params::{bytes_value, read};
use agent_spaces_types::json_memory::{self, Account, Meter};
use serde_json::Value;

/// Most copies of its parameters that a call makes: base64, decoded bytes, their result, and that as text.
const COPIES: u64 = 4;

/// Calls a function. Memory is charged to the account.
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
            Ok(bytes_value(&aes_gcm::encrypt(&key, plain)?))
        }
        "decrypt" => {
            let (key, sealed) = read(params, |params| Ok((params.bytes("key")?, params.bytes("sealed")?)))?;
            Ok(bytes_value(&aes_gcm::decrypt(&key, sealed)?))
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
