//! Headers: those a script may set, those that follow a redirect, and those of a response.

use crate::error::StdError;
use capability_gen::implementation::CONNECTION_HEADERS;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Map, Value};

/// Most headers of a request or response.
pub(super) const MAX_HEADERS: usize = 100;

/// Most bytes of all names and values. Servers accept about eight thousand; responses may have more.
const MAX_BYTES: usize = 64 << 10;

/// Name parts of headers that may hold a secret for their host.
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

/// Parses a script's headers: an object of names and values.
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
            return Err(StdError::invalid(format!("options.headers: {shown} is given twice, in different case")));
        }
    }
    check_size(&headers)?;
    Ok(headers)
}

/// Refuses headers over the size limit.
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
    // Latin-1, as browsers send.
    let bytes: Option<Vec<u8>> = text.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect();
    HeaderValue::from_bytes(&bytes?).ok()
}

/// Removes headers meant for the first origin only.
pub(super) fn remove_secrets(headers: &mut HeaderMap) {
    remove(headers, |name| SECRET.iter().any(|part| name.contains(part)));
}

/// Removes headers of a body that is no longer sent.
pub(super) fn remove_content(headers: &mut HeaderMap) {
    remove(headers, |name| name.starts_with("content-"));
}

fn remove(headers: &mut HeaderMap, is_unwanted: impl Fn(&str) -> bool) {
    let unwanted: Vec<HeaderName> = headers.keys().filter(|name| is_unwanted(name.as_str())).cloned().collect();
    for name in unwanted {
        headers.remove(name);
    }
}

/// True if the headers of a response exceed the limits.
pub(super) fn is_too_large(headers: &HeaderMap) -> bool {
    headers.len() > MAX_HEADERS || size(headers) > MAX_BYTES
}

fn size(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum()
}

/// Converts response headers: names in lower case, repeated values joined by a comma.
pub(super) fn to_json(headers: &HeaderMap) -> Value {
    let mut members = Map::new();
    for name in headers.keys() {
        let values: Vec<String> = headers.get_all(name).iter().map(to_text).collect();
        members.insert(name.as_str().to_owned(), Value::String(values.join(", ")));
    }
    Value::Object(members)
}

/// Decodes Latin-1, as browsers do.
pub(super) fn to_text(value: &HeaderValue) -> String {
    value.as_bytes().iter().copied().map(char::from).collect()
}
