//! Headers: which a script may set, which follow a redirect to another origin, and those of an answer.

use crate::error::StdError;
use capability_gen::implementation::CONNECTION_HEADERS;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// Most headers of a request, and of an answer.
pub(super) const MAX_HEADERS: usize = 100;

/// Most bytes of all names and values together. Servers take eight thousand or so; answers of ours have some more.
const MAX_BYTES: usize = 64 << 10;

/// A header whose name has one of these in it may be a secret for the host that it was written for.
const SECRET: [&str; 14] = [
    "auth",
    "bearer",
    "cookie",
    "credential",
    "csrf",
    "jwt",
    "key",
    "login",
    "pass",
    "secret",
    "session",
    "signature",
    "token",
    "xsrf",
];

/// Reads the headers that a script wrote: an object of names and values.
pub(super) fn read(given: Option<Value>) -> Result<HeaderMap, StdError> {
    let mut headers = HeaderMap::new();
    let members = match given {
        None => return Ok(headers),
        Some(Value::Object(members)) => members,
        Some(_) => return Err(StdError::invalid("options.headers must be an object of names and values")),
    };
    if members.len() > MAX_HEADERS {
        return Err(StdError::invalid(format!("options.headers has more than {MAX_HEADERS} members")));
    }
    for (name, value) in members {
        let shown: String = name.chars().take(100).map(|c| if c.is_ascii_graphic() { c } else { '?' }).collect();
        let parsed = HeaderName::try_from(name.as_str())
            .map_err(|_| StdError::invalid(format!("options.headers: \"{shown}\" cannot be the name of a header")))?;
        if CONNECTION_HEADERS.contains(&parsed.as_str()) || parsed.as_str().starts_with("proxy-") {
            return Err(StdError::invalid(format!("options.headers: {shown} cannot be set by a script; leave it out")));
        }
        let value = header_value(&value).ok_or_else(|| {
            StdError::invalid(format!(
                "options.headers: the value of {shown} must be a string without line breaks, other control characters \
                 and characters above U+00FF, a number, true or false"
            ))
        })?;
        if headers.insert(parsed, value).is_some() {
            return Err(StdError::invalid(format!("options.headers: {shown} is there twice, in other letters")));
        }
    }
    check_size(&headers)?;
    Ok(headers)
}

/// Whether headers are small enough to be sent.
pub(super) fn check_size(headers: &HeaderMap) -> Result<(), StdError> {
    match size(headers) > MAX_BYTES {
        true => Err(StdError::invalid(format!("The headers have more than {MAX_BYTES} bytes"))),
        false => Ok(()),
    }
}

fn header_value(value: &Value) -> Option<HeaderValue> {
    let text = match value {
        Value::String(text) => text.trim_matches([' ', '\t']).to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Bool(is_set) => is_set.to_string(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    // One byte to a character, as browsers send them.
    let bytes: Option<Vec<u8>> = text.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect();
    HeaderValue::from_bytes(&bytes?).ok()
}

/// Takes out what was meant for the first origin alone.
pub(super) fn remove_secrets(headers: &mut HeaderMap) {
    remove(headers, |name| SECRET.iter().any(|part| name.contains(part)));
}

/// Takes out what describes a body that is not sent any more.
pub(super) fn remove_content(headers: &mut HeaderMap) {
    remove(headers, |name| name.starts_with("content-"));
}

fn remove(headers: &mut HeaderMap, is_unwanted: impl Fn(&str) -> bool) {
    let unwanted: Vec<HeaderName> = headers.keys().filter(|name| is_unwanted(name.as_str())).cloned().collect();
    for name in unwanted {
        headers.remove(name);
    }
}

/// Whether the headers of an answer are more than anyone needs.
pub(super) fn is_too_large(headers: &HeaderMap) -> bool {
    headers.len() > MAX_HEADERS || size(headers) > MAX_BYTES
}

fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

/// The headers of an answer: names in lower case; values of a name that comes twice are joined by a comma.
pub(super) fn to_json(headers: &HeaderMap) -> Value {
    let mut members = Map::new();
    for name in headers.keys() {
        let values: Vec<String> = headers.get_all(name).iter().map(to_text).collect();
        members.insert(name.as_str().to_owned(), Value::String(values.join(", ")));
    }
    Value::Object(members)
}

/// One character to a byte, as browsers read them.
pub(super) fn to_text(value: &HeaderValue) -> String {
    value.as_bytes().iter().copied().map(char::from).collect()
}
