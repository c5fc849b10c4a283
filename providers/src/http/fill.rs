//! Parameters as text.

use crate::error::ProviderError;
use capability_gen::template::{Template, TooLong};
use serde_json::{Map, Value};

/// The most that a header, or a member of a query, becomes. Servers take eight thousand bytes or so of all together.
pub(super) const MAX_MEMBER: usize = 64 << 10;

/// The most that a body becomes; what may be sent is the policy's to say.
pub(super) const MAX_BODY: usize = 32 << 20;

/// The text of a value that has one.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_set) => Some(is_set.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The text of a value that must have one; `name` is where it was found.
pub(super) fn plain(value: &Value, name: &str) -> Result<String, ProviderError> {
    scalar(value).ok_or_else(|| {
        ProviderError::invalid(format!("{name} must be text, a number, true or false to be sent where it goes"))
    })
}

/// The members of an object as `name=value`, both as `written`; `name` is where it was found.
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

/// A template with its parameters; nothing where one was not given. Lists and objects are JSON text.
pub(super) fn text(template: &Template, params: &Value, most: usize) -> Result<Option<String>, ProviderError> {
    template.fill(params, most).map_err(too_long)
}

/// Parameters that make too much of what the definition says.
pub(super) fn too_long(error: TooLong) -> ProviderError {
    ProviderError::invalid(format!("What would be sent is too long: {error}"))
}

/// A text as a component of an address: what is not a letter, a digit or one of `-._~` is escaped.
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
