//! Encoding of parameters as text.

use crate::error::ProviderError;
use capability_gen::template::{Template, TooLong};
use serde_json::{Map, Value};

/// Longest header or query parameter. Servers accept about eight thousand bytes in total.
pub(super) const MAX_MEMBER: usize = 64 << 10;

/// Longest body; the policy limits what is sent.
pub(super) const MAX_BODY: usize = 32 << 20;

/// Returns the text of a scalar.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_set) => Some(is_set.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns the text of a value that must be a scalar; `name` is used in the error.
pub(super) fn plain(value: &Value, name: &str) -> Result<String, ProviderError> {
    scalar(value).ok_or_else(|| {
        ProviderError::invalid(format!("{name} must be text, a number, true or false to be sent in the request"))
    })
}

/// Encodes an object as `name=value` pairs; `name` is used in errors.
pub(super) fn named(
    members: &Map<String, Value>,
    name: &str,
    written: impl Fn(&str) -> String,
) -> Result<Vec<String>, ProviderError> {
    let member = |(key, value): (&String, &Value)| {
        let value = plain(value, name)?;
        Ok::<_, ProviderError>(format!("{}={}", written(key), written(&value)))
    };
    members.iter().map(member).collect()
}

/// Fills a template; `None` if a parameter is missing. Lists and objects become JSON text.
pub(super) fn text(template: &Template, params: &Value, most: usize) -> Result<Option<String>, ProviderError> {
    template.fill(params, most).map_err(too_long)
}

/// Error for a template that expands to too much.
pub(super) fn too_long(error: TooLong) -> ProviderError {
    ProviderError::invalid(format!("Request too long: {error}"))
}

/// Percent-encodes everything but letters, digits and `-._~`.
pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
