//! Bytes in JSON: as text where they are UTF-8, otherwise as base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Bytes {
    Text(String),
    Base64 { base64: String },
}

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let bytes = match std::str::from_utf8(bytes) {
        Ok(text) => Bytes::Text(text.to_owned()),
        Err(_) => Bytes::Base64 { base64: STANDARD.encode(bytes) },
    };
    bytes.serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    match Bytes::deserialize(deserializer)? {
        Bytes::Text(text) => Ok(text.into_bytes()),
        Bytes::Base64 { base64 } => STANDARD.decode(base64).map_err(D::Error::custom),
    }
}
