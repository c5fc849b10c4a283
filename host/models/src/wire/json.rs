//! What the wires share in reading and writing JSON.

use serde_json::{Map, Value};

use crate::bounds::MAX_ERROR_TEXT;
use crate::{ModelError, ModelErrorKind, Origin};

/// Adds options to a body. Objects are merged, everything else is replaced.
pub(super) fn merge(body: &mut Map<String, Value>, options: &Map<String, Value>) {
    for (name, value) in options {
        if let (Some(Value::Object(inner)), Value::Object(added)) = (body.get_mut(name), value) {
            merge(inner, added);
        } else {
            body.insert(name.clone(), value.clone());
        }
    }
}

/// A text member. `None`, if it is absent, null or something else.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// A count. `None`, if it is absent, null or something else.
pub(super) fn count(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_u64)
}

/// The beginning of a provider's words, short enough for an error message.
pub(super) fn words(text: &str) -> String {
    let mut end = text.len().min(MAX_ERROR_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}

/// Parses an event or a body. The error does not quote it.
pub(super) fn parse(origin: &Origin, json: &[u8]) -> Result<Value, ModelError> {
    serde_json::from_slice(json).map_err(|error| malformed(origin, &format!("not JSON ({error})")))
}

/// An answer that breaks the wire format.
pub(super) fn malformed(origin: &Origin, fault: &str) -> ModelError {
    ModelError::new(
        ModelErrorKind::Malformed,
        format!("{}: malformed answer of {}: {fault}", origin.provider, origin.model),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn options_merge_objects_and_replace_the_rest() {
        let mut body = json!({"a": {"b": 1, "c": [1]}, "d": {"e": 1}}).as_object().cloned().unwrap();
        let options = json!({"a": {"c": [2], "f": {"g": 1}}, "d": null, "h": 1}).as_object().cloned().unwrap();
        merge(&mut body, &options);
        assert_eq!(Value::Object(body), json!({"a": {"b": 1, "c": [2], "f": {"g": 1}}, "d": null, "h": 1}));
    }

    #[test]
    fn words_are_cut_between_characters() {
        assert_eq!(words("short"), "short");
        let cut = words(&format!("a{}", "é".repeat(MAX_ERROR_TEXT)));
        assert_eq!(cut.len(), MAX_ERROR_TEXT - 1);
        assert!(cut.ends_with('é'));
    }
}
