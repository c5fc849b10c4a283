//! Reading and writing JSON, for all wires.

use agent_spaces_types::json_memory::{self, Allowance, Meter, ReadError, RepeatedKeys};
use serde_json::{Map, Value};

use crate::bounds::{MAX_ERROR_BODY, MAX_ERROR_TEXT};
use crate::{ModelError, ModelErrorKind, Origin};

/// Memory of the values of one event or body, which may be a multiple of its text.
const MAX_MEMORY: u64 = 128 << 20;

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

/// A text member; empty, if it is absent, null or something else.
pub(super) fn text_or_empty<'a>(value: &'a Value, name: &str) -> &'a str {
    text(value, name).unwrap_or_default()
}

/// The elements of an array member; none, if it is absent, null or something else.
pub(super) fn elements<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A count. `None`, if it is absent, null or something else.
pub(super) fn count(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_u64)
}

/// Returns true if a JSON Schema describes an object.
pub(super) fn is_object_schema(schema: &Map<String, Value>) -> bool {
    let is_named = match schema.get("type") {
        Some(Value::String(name)) => name == "object",
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        _ => false,
    };
    is_named || schema.contains_key("properties")
}

/// The start of a provider's text, short enough for a message.
pub(super) fn excerpt(text: &str) -> String {
    start(text, MAX_ERROR_TEXT)
}

/// The start of a provider's error message. It is longer than what is shown: the client redacts it before it cuts it to
/// that length, because half a key would not be found.
pub(super) fn error_text(text: &str) -> String {
    start(text, MAX_ERROR_BODY)
}

/// The first bytes of a text, at most `most`, without half a character.
fn start(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}

/// Parses an event or a body. The error does not quote it.
///
/// # Errors
/// `Cut`, if it ends too early: then the connection did. `TooLarge`; `Malformed`.
pub(super) fn parse(origin: &Origin, text: &[u8]) -> Result<Value, ModelError> {
    let mut allowance = Allowance(MAX_MEMORY);
    let read = json_memory::from_slice(text, RepeatedKeys::LastCounts, &mut Meter::new(&mut allowance));
    read.map_err(|error| match error {
        ReadError::Json(error) if error.is_eof() => failed(origin, ModelErrorKind::Cut, "it ends within its JSON"),
        ReadError::Json(error) => malformed(origin, &format!("it is not JSON: {error}")),
        ReadError::Memory(_) => {
            failed(origin, ModelErrorKind::TooLarge, &format!("an event needs more than {MAX_MEMORY} bytes of memory"))
        }
    })
}

/// An answer that breaks the wire format.
pub(super) fn malformed(origin: &Origin, fault: &str) -> ModelError {
    failed(origin, ModelErrorKind::Malformed, fault)
}

fn failed(origin: &Origin, kind: ModelErrorKind, fault: &str) -> ModelError {
    ModelError::of(origin, kind, format_args!("the answer cannot be read: {fault}"))
}

/// Copies of a value, each with one of its members or items replaced by something odd: what a provider might send.
#[cfg(test)]
pub(super) fn mutations(value: &Value) -> Vec<Value> {
    use serde_json::json;

    let mut found = vec![Value::Null, json!(-1), json!(1e300), json!("odd"), json!([[]]), json!({"odd": {}})];
    match value {
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                for mutation in mutations(item) {
                    let mut copy = items.clone();
                    copy[place] = mutation;
                    found.push(Value::Array(copy));
                }
            }
        }
        Value::Object(members) => {
            for (name, member) in members {
                for mutation in mutations(member) {
                    let mut copy = members.clone();
                    copy.insert(name.clone(), mutation);
                    found.push(Value::Object(copy));
                }
            }
        }
        _ => {}
    }
    found
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
    fn excerpts_are_cut_between_characters() {
        assert_eq!(excerpt("short"), "short");
        let cut = excerpt(&format!("a{}", "é".repeat(MAX_ERROR_TEXT)));
        assert_eq!(cut.len(), MAX_ERROR_TEXT - 1);
        assert!(cut.ends_with('é'));
    }

    #[test]
    fn unreadable_texts() {
        let origin = Origin { provider: "p".to_owned(), model: "m".to_owned(), api: crate::Api::Ollama };
        let kind = |text: &str| parse(&origin, text.as_bytes()).unwrap_err().kind;
        assert_eq!(kind("{\"a\": [1, 2"), ModelErrorKind::Cut);
        assert_eq!(kind("<html>"), ModelErrorKind::Malformed);
        assert_eq!(kind(&"[".repeat(1000)), ModelErrorKind::Malformed);
        assert_eq!(kind(&format!("[{}0]", "0,".repeat(8 << 20))), ModelErrorKind::TooLarge);
    }
}
