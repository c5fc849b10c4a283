//! Text that is JSON, read only where nothing is changed by it.
//!
//! Objects and arrays are read. Everything else stays text: `007`, `1e5`, `true` and `"quoted"` may well be names or
//! ids. So does JSON that a script could not be given as it is: with a key that stands twice, with a whole number that
//! JavaScript cannot hold (beyond 2^53 - 1; any number from 2^64), or nested deeper than 64 levels. Fractions are
//! read as JavaScript reads them.
//!
//! Several blocks each of which is such JSON become a list: this is how a list of objects arrives from servers over
//! the Python SDK.

use super::strict::Strict;
use serde_json::{Number, Value};

const MAX_DEPTH: usize = 64;
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
/// Whole numbers from here on have been rounded by the time they are read.
const ROUNDED: f64 = 18_446_744_073_709_551_616.0;

/// The data in the text blocks of an answer.
pub(super) fn data(texts: &[&str]) -> Value {
    if let [text] = texts {
        return parse(text).unwrap_or_else(|| (*text).into());
    }
    let joined = texts.join("\n");
    if let Some(value) = parse(&joined) {
        return value;
    }
    let items: Option<Vec<Value>> = texts.iter().map(|text| parse(text)).collect();
    match items {
        Some(items) if !items.is_empty() => Value::Array(items),
        _ => joined.into(),
    }
}

/// The object or array that the text is, where reading it changes nothing.
pub(super) fn parse(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let Strict(value) = serde_json::from_str(text).ok()?;
    is_faithful(&value, 1).then_some(value)
}

fn is_faithful(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth <= MAX_DEPTH && items.iter().all(|item| is_faithful(item, depth + 1)),
        Value::Object(members) => depth <= MAX_DEPTH && members.values().all(|member| is_faithful(member, depth + 1)),
        Value::Number(number) => is_exact(number),
        Value::Null | Value::Bool(_) | Value::String(_) => true,
    }
}

fn is_exact(number: &Number) -> bool {
    match (number.as_i64(), number.as_u64(), number.as_f64()) {
        (Some(integer), ..) => integer.unsigned_abs() <= MAX_SAFE_INTEGER,
        (None, Some(integer), _) => integer <= MAX_SAFE_INTEGER,
        (None, None, float) => float.is_some_and(|float| float.abs() < ROUNDED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn s0_40_objects_and_arrays_are_read() {
        assert_eq!(data(&[r#" {"a": [1, -2.5e3, "x", null]} "#]), json!({"a": [1, -2500.0, "x", null]}));
        assert_eq!(data(&["[]"]), json!([]));
        assert_eq!(data(&["{\n  \"id\": 9007199254740991\n}\n"]), json!({"id": 9_007_199_254_740_991_u64}));
    }

    #[test]
    fn s0_40_what_may_be_a_name_stays_text() {
        for text in
            ["007", "1e5", "12345678901234567890", "true", "null", "\"quoted\"", "", " ", "[INFO] started", "{a}"]
        {
            assert_eq!(data(&[text]), json!(text));
        }
    }

    #[test]
    fn json_that_would_be_changed_by_reading_stays_text() {
        let deep = "[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1);
        let very_deep = "[".repeat(100_000);
        let texts = [
            r#"{"id": 9007199254740992}"#,
            r#"{"id": [-9007199254740992]}"#,
            r#"{"id": 123456789012345678901234567890}"#,
            r#"{"a": 1, "a": 2}"#,
            r#"{"a": "\ud800"}"#,
            r#"{"a": 1e999}"#,
            &deep,
            &very_deep,
        ];
        for text in texts {
            assert_eq!(data(&[text]), json!(text));
        }
        let allowed = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        assert!(data(&[&allowed]).is_array());
    }

    #[test]
    fn several_blocks_of_json_are_a_list() {
        assert_eq!(data(&[r#"{"a":1}"#, r#"{"a":2}"#]), json!([{"a": 1}, {"a": 2}]));
        assert_eq!(data(&["[1]", "[2]"]), json!([[1], [2]]));
    }

    #[test]
    fn s1_22_other_blocks_are_joined_by_newlines() {
        assert_eq!(data(&["one", "two"]), json!("one\ntwo"));
        assert_eq!(data(&[r#"{"a":1}"#, "and a note"]), json!("{\"a\":1}\nand a note"));
        assert_eq!(data(&["1", "2"]), json!("1\n2"));
        assert_eq!(data(&["[1,", "2]"]), json!([1, 2]));
        assert_eq!(data(&[]), json!(""));
    }
}
