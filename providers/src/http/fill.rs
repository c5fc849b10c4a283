//! Parameters as text.

use crate::error::ProviderError;
use capability_gen::implementation::{Part, Template, value_of};
use serde_json::Value;

/// The value of the parameter; nothing where it was not given or is null.
pub(super) fn given<'a>(params: &'a Value, name: &str) -> Option<&'a Value> {
    value_of(params, name).filter(|value| !value.is_null())
}

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

/// A template with its parameters; nothing where one was not given. Lists and objects are JSON text.
pub(super) fn text(template: &Template, params: &Value) -> Option<String> {
    let mut filled = String::new();
    for part in template.parts() {
        match part {
            Part::Text(text) => filled.push_str(text),
            Part::Parameter(name) => {
                let value = given(params, name)?;
                filled.push_str(&scalar(value).unwrap_or_else(|| value.to_string()));
            }
        }
    }
    Some(filled)
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
