//! Response as returned to a script.

use super::exchange::Received;
use super::headers;
use crate::error::{Answer, StdError};
use crate::params::bytes_value;
use agent_spaces_types::json_memory::{self, Allowance, Meter, ReadError, RepeatedKeys};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use serde_json::Value;

/// Most values in one JSON body. A value takes some seventy bytes in memory, and may take two in the text.
const MAX_VALUES: usize = 1_000_000;

/// Memory limit of the values of one JSON body: as much as [`MAX_VALUES`] numbers, or half a million short texts.
const MAX_VALUE_BYTES: u64 = 128 << 20;

/// Requested form of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// By its media type.
    Auto,
    Json,
    Text,
    Bytes,
}

/// Body, keyed by its name in the response.
#[derive(Debug, PartialEq)]
enum Body {
    Json(Value),
    Text(String),
    Bytes(Vec<u8>),
}

/// Converts a response to the value of a call.
pub(super) fn of(received: Received, wanted: Wanted) -> Answer {
    let Received { status, url, headers, body } = received;
    let (member, body) = match read(body, &headers, wanted)? {
        Body::Json(value) => ("json", value),
        Body::Text(text) => ("text", Value::String(text)),
        Body::Bytes(bytes) => ("bytes", bytes_value(&bytes)),
    };
    let answer = [
        ("status", Value::from(status.as_u16())),
        ("ok", Value::Bool(status.is_success())),
        ("url", Value::String(url.into())),
        ("headers", headers::to_json(&headers)),
        (member, body),
    ];
    Ok(answer.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn read(body: Vec<u8>, headers: &HeaderMap, wanted: Wanted) -> Result<Body, StdError> {
    let media = Media::of(headers);
    match wanted {
        Wanted::Bytes => Ok(Body::Bytes(body)),
        Wanted::Json | Wanted::Text if media.is_packed => {
            Err(StdError::failed("The answer is compressed: leave out the header accept-encoding"))
        }
        Wanted::Json => match parse_json(&body) {
            Ok(value) => Ok(Body::Json(value)),
            Err(why) => Err(StdError::failed(format!("The answer is not JSON: {why}"))),
        },
        Wanted::Text => Ok(Body::Text(media.decode(&body))),
        Wanted::Auto if media.is_packed => Ok(Body::Bytes(body)),
        Wanted::Auto if media.is_json() => match parse_json(&body) {
            Ok(value) => Ok(Body::Json(value)),
            Err(_) => Ok(Body::Text(media.decode(&body))),
        },
        Wanted::Auto if media.is_text() => Ok(Body::Text(media.decode(&body))),
        Wanted::Auto if media.essence.is_empty() && looks_like_text(&body) => Ok(Body::Text(media.decode(&body))),
        Wanted::Auto => Ok(Body::Bytes(body)),
    }
}

/// Parses JSON within limits on the number of values and their memory.
///
/// # Errors
/// If it is invalid, or has too many values.
pub fn parse_json(body: &[u8]) -> Result<Value, String> {
    if json_memory::has_more_values(body, MAX_VALUES) {
        return Err(format!("it has more than {MAX_VALUES} values"));
    }
    let mut allowance = Allowance(MAX_VALUE_BYTES);
    let read = json_memory::from_slice(without_mark(body), RepeatedKeys::LastCounts, &mut Meter::new(&mut allowance));
    read.map_err(|error| match error {
        ReadError::Json(error) => error.to_string(),
        ReadError::Memory(_) => format!("its values take more than {MAX_VALUE_BYTES} bytes of memory"),
    })
}

/// Guesses whether untyped bytes are text: UTF-8 without control characters of binary files.
fn looks_like_text(body: &[u8]) -> bool {
    let is_layout = |character: char| matches!(character, '\t' | '\n' | '\r' | '\u{c}' | '\u{1b}');
    std::str::from_utf8(body)
        .is_ok_and(|text| text.chars().all(|character| !character.is_control() || is_layout(character)))
}

/// Strips a byte order mark.
fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Media type and encoding from the headers.
pub(super) struct Media {
    /// Such as `text/html`, in lower case; empty if missing.
    pub(super) essence: String,
    charset: Option<String>,
    /// The body is compressed.
    pub(super) is_packed: bool,
}

impl Media {
    pub(super) fn of(headers: &HeaderMap) -> Media {
        let said = headers.get(CONTENT_TYPE).map(headers::to_text).unwrap_or_default().to_ascii_lowercase();
        let mut parts = said.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default().to_owned();
        let charset = parts.find_map(|part| part.strip_prefix("charset="));
        let is_packed = headers.get_all(CONTENT_ENCODING).iter().any(|coding| {
            let coding = coding.as_bytes().trim_ascii();
            !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity")
        });
        Media { charset: charset.map(|charset| charset.trim_matches('"').to_owned()), essence, is_packed }
    }

    pub(super) fn is_json(&self) -> bool {
        matches!(self.essence.as_str(), "application/json" | "text/json") || self.essence.ends_with("+json")
    }

    pub(super) fn is_text(&self) -> bool {
        let is_text_type = self.essence.starts_with("text/")
            || self.essence.ends_with("+xml")
            || matches!(
                self.essence.as_str(),
                "application/xml"
                    | "application/javascript"
                    | "application/x-javascript"
                    | "application/ecmascript"
                    | "application/x-www-form-urlencoded"
                    | "application/x-ndjson"
                    | "application/yaml"
            );
        is_text_type && (self.is_utf8() || self.is_latin1())
    }

    fn is_utf8(&self) -> bool {
        matches!(self.charset.as_deref(), None | Some("utf-8" | "utf8" | "us-ascii" | "ascii"))
    }

    fn is_latin1(&self) -> bool {
        matches!(self.charset.as_deref(), Some("iso-8859-1" | "latin1" | "latin-1"))
    }

    /// Decodes as Latin-1 if declared, otherwise as UTF-8. Invalid bytes become U+FFFD.
    pub(super) fn decode(&self, body: &[u8]) -> String {
        if self.is_latin1() {
            return body.iter().copied().map(char::from).collect();
        }
        String::from_utf8_lossy(without_mark(body)).into_owned()
    }
}
