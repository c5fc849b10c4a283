//! Reading of JSON bodies, with errors that name the member.

use crate::bounds::{MAX_ID, MAX_VALUES};
use crate::failure::{Failure, FailureKind};
use agent_spaces_types::json_memory;
use serde_json::{Map, Value};

/// A JSON object.
pub(crate) type Object = Map<String, Value>;

/// Reads a body that is an object.
pub(crate) fn body(bytes: &[u8]) -> Result<Object, Failure> {
    if json_memory::has_more_values(bytes, MAX_VALUES) {
        let message = format!("The body has more than {MAX_VALUES} JSON values");
        return Err(Failure::new(FailureKind::TooLarge, message));
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(Failure::new(FailureKind::Invalid, "The body is not a JSON object")),
        Err(error) => Err(Failure::new(FailureKind::Invalid, format!("The body is not JSON: {error}"))),
    }
}

/// The path of a member: `messages[0].role`.
pub(crate) fn path(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

fn wrong(at: &str, key: &str, expected: &str) -> Failure {
    let path = path(at, key);
    let message = format!("`{path}` is wrong: expected {expected}");
    Failure::invalid(path, message)
}

/// A member; null is as good as missing.
fn member<'a>(object: &'a Object, key: &str) -> Option<&'a Value> {
    object.get(key).filter(|value| !value.is_null())
}

/// A text.
pub(crate) fn text<'a>(object: &'a Object, key: &str, at: &str) -> Result<Option<&'a str>, Failure> {
    member(object, key).map(|value| value.as_str().ok_or_else(|| wrong(at, key, "a text"))).transpose()
}

/// A text that has to be there.
pub(crate) fn needed_text<'a>(object: &'a Object, key: &str, at: &str) -> Result<&'a str, Failure> {
    text(object, key, at)?.ok_or_else(|| wrong(at, key, "a text"))
}

/// An id or a name.
pub(crate) fn id<'a>(object: &'a Object, key: &str, at: &str) -> Result<&'a str, Failure> {
    let id = needed_text(object, key, at)?;
    let is_right = !id.is_empty() && id.len() <= MAX_ID;
    if is_right { Ok(id) } else { Err(wrong(at, key, &format!("1 to {MAX_ID} bytes"))) }
}

/// True or false.
pub(crate) fn boolean(object: &Object, key: &str, at: &str) -> Result<Option<bool>, Failure> {
    member(object, key).map(|value| value.as_bool().ok_or_else(|| wrong(at, key, "true or false"))).transpose()
}

/// A number between two others.
pub(crate) fn number(object: &Object, key: &str, least: f64, most: f64) -> Result<Option<f64>, Failure> {
    let read = |value: &Value| value.as_f64().filter(|number| (least..=most).contains(number));
    let fault = || wrong("", key, &format!("a number from {least} to {most}"));
    member(object, key).map(|value| read(value).ok_or_else(fault)).transpose()
}

/// A count of at least 1.
pub(crate) fn count(object: &Object, key: &str) -> Result<Option<u32>, Failure> {
    // More than any model writes is no bound at all.
    let read =
        |value: &Value| value.as_u64().filter(|count| *count > 0).map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    member(object, key).map(|value| read(value).ok_or_else(|| wrong("", key, "a whole number above 0"))).transpose()
}

/// A list.
pub(crate) fn list<'a>(object: &'a Object, key: &str, at: &str) -> Result<Option<&'a [Value]>, Failure> {
    let read = |value: &'a Value| value.as_array().map(Vec::as_slice).ok_or_else(|| wrong(at, key, "a list"));
    member(object, key).map(read).transpose()
}

/// An object.
pub(crate) fn object<'a>(object: &'a Object, key: &str, at: &str) -> Result<Option<&'a Object>, Failure> {
    let read = |value: &'a Value| value.as_object().ok_or_else(|| wrong(at, key, "an object"));
    member(object, key).map(read).transpose()
}

/// An item of a list, which has to be an object.
pub(crate) fn item<'a>(value: &'a Value, at: &str) -> Result<&'a Object, Failure> {
    value.as_object().ok_or_else(|| Failure::invalid(at, format!("`{at}` is wrong: expected an object")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given() -> Object {
        json!({ "a": "x", "n": null, "t": 0.5, "c": 3, "l": [1], "o": {} }).as_object().unwrap().clone()
    }

    #[test]
    fn null_is_as_good_as_missing() {
        assert_eq!(text(&given(), "n", ""), Ok(None));
        assert_eq!(text(&given(), "a", ""), Ok(Some("x")));
        assert!(list(&given(), "zzz", "").unwrap().is_none());
    }

    #[test]
    fn faults_name_the_member() {
        let fault = text(&given(), "t", "messages[0]").unwrap_err();
        assert_eq!(fault.param.as_deref(), Some("messages[0].t"));
        assert!(number(&given(), "t", 0.0, 0.1).is_err() && count(&given(), "t").is_err());
        assert_eq!((number(&given(), "t", 0.0, 1.0), count(&given(), "c")), (Ok(Some(0.5)), Ok(Some(3))));
    }

    #[test]
    fn bodies_are_objects_within_bounds() {
        assert!(body(b"[]").is_err() && body(b"{").is_err() && body(b"\xff").is_err());
        let many = format!("{{\"a\":[{}1]}}", "1,".repeat(MAX_VALUES));
        assert_eq!(body(many.as_bytes()).unwrap_err().kind, FailureKind::TooLarge);
        let deep = format!("{{\"a\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(body(deep.as_bytes()).unwrap_err().kind, FailureKind::Invalid);
    }
}
