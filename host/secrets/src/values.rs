//! Redaction of JSON values.

use super::encoded;
use super::finder::Finder;
use super::mask::{MASK, mask};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Masks secrets in every string, key and number. Base64 whose bytes contain one is withheld as a whole.
pub(super) fn redact(finder: &Finder, value: &mut Value) {
    // A work list instead of recursion: deep nesting could overflow the stack.
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        match value {
            Value::String(text) => redact_string(finder, text),
            Value::Number(number) if finder.numbers && finder.is_in(number.to_string().as_bytes()) => {
                *value = Value::String(MASK.to_owned());
            }
            Value::Array(items) => left.extend(items),
            Value::Object(members) => {
                redact_keys(finder, members);
                left.extend(members.values_mut());
            }
            _ => {}
        }
    }
}

/// Returns true if a string, key or number contains a secret.
pub(super) fn holds(finder: &Finder, value: &Value) -> bool {
    let mut left = vec![value];
    while let Some(value) = left.pop() {
        let is_found = match value {
            Value::String(text) => is_tainted(finder, text),
            Value::Number(number) => finder.numbers && finder.is_in(number.to_string().as_bytes()),
            Value::Array(items) => {
                left.extend(items);
                false
            }
            Value::Object(members) => {
                left.extend(members.values());
                members.keys().any(|key| is_tainted(finder, key))
            }
            Value::Null | Value::Bool(_) => false,
        };
        if is_found {
            return true;
        }
    }
    false
}

fn redact_string(finder: &Finder, text: &mut String) {
    if encoded::decoded(text).is_some_and(|bytes| finder.is_in(&bytes)) {
        MASK.clone_into(text);
    } else if let Cow::Owned(masked) = mask(finder, text) {
        *text = masked;
    }
}

fn redact_keys(finder: &Finder, members: &mut Map<String, Value>) {
    if !members.keys().any(|key| is_tainted(finder, key)) {
        return;
    }
    let mut count = 1;
    for (mut key, value) in std::mem::take(members) {
        redact_string(finder, &mut key);
        let mut unique = key.clone();
        // The count is never reset, so that many keys that become equal do not take quadratic time.
        while members.contains_key(&unique) {
            count += 1;
            unique = format!("{key} {count}");
        }
        members.insert(unique, value);
    }
}

/// Returns true if [`redact_string`] would change the text.
fn is_tainted(finder: &Finder, text: &str) -> bool {
    encoded::decoded(text).is_some_and(|bytes| finder.is_in(&bytes)) || !finder.ranges(text).is_empty()
}
