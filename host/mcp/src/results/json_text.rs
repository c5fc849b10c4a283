//! JSON in text blocks, parsed only if that is lossless.
//!
//! Objects and arrays are parsed. Everything else stays text: `007`, `1e5`, `true` and `"quoted"` may well be names or
//! ids. So does JSON that a script could not get unchanged: with a duplicate key, with an integer that JavaScript cannot
//! represent (beyond 2^53 - 1; any number from 2^64), or nested deeper than 64 levels. Fractions are parsed as in
//! JavaScript.
//!
//! Python literals are parsed under the same rules: see `python_text`.
//!
//! Several blocks that are each such JSON become a list: this is how the Python SDK sends a list of objects.

use super::{malformed, python_text};
use crate::error::CallError;
use crate::transport::decode::{MAX_VALUE_BYTES, too_many_values};
use agent_spaces_types::json_memory::{self, Allowance, Meter, ReadError, RepeatedKeys};
use serde_json::{Number, Value};

const MAX_DEPTH: usize = 64;
const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;
/// Integers from here on are rounded by the parser.
const ROUNDED: f64 = 18_446_744_073_709_551_616.0;

/// Returns the data of text blocks. JSON over the memory limit is an error, because as text it would have another type
/// than declared.
pub(super) fn data(texts: &[&str]) -> Result<Value, CallError> {
    let mut allowance = Allowance(MAX_VALUE_BYTES);
    if let [text] = texts {
        return Ok(read(text, &mut allowance)?.unwrap_or_else(|| (*text).into()));
    }
    let joined = texts.join("\n");
    if let Some(value) = read(&joined, &mut allowance)? {
        return Ok(value);
    }
    let mut items = Vec::new();
    for text in texts {
        match read(text, &mut allowance)? {
            Some(item) => items.push(item),
            None => return Ok(joined.into()),
        }
    }
    Ok(if items.is_empty() { joined.into() } else { Value::Array(items) })
}

/// Parses the text as an object or array, if that is lossless and within the memory limit.
pub(super) fn parse(text: &str) -> Option<Value> {
    read(text, &mut Allowance(MAX_VALUE_BYTES)).ok().flatten()
}

fn read(text: &str, allowance: &mut Allowance) -> Result<Option<Value>, CallError> {
    if !text.trim_start().starts_with(['{', '[']) {
        return Ok(None);
    }
    let read = match read_json(text, allowance) {
        Err(ReadError::Json(_)) => match python_text::as_json(text) {
            Some(json) => read_json(&json, allowance),
            None => return Ok(None),
        },
        read => read,
    };
    match read {
        Ok(value) => Ok(is_faithful(&value, 1).then_some(value)),
        Err(ReadError::Json(_)) => Ok(None),
        Err(ReadError::Memory(_)) => Err(malformed(&too_many_values())),
    }
}

fn read_json(text: &str, allowance: &mut Allowance) -> Result<Value, ReadError> {
    json_memory::from_str(text, RepeatedKeys::Refused, &mut Meter::new(allowance))
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
    use super::{MAX_DEPTH, MAX_VALUE_BYTES};
    use agent_spaces_types::json_memory::ITEM_BYTES;
    use serde_json::{Value, json};

    fn data(texts: &[&str]) -> Value {
        super::data(texts).unwrap()
    }

    #[test]
    fn json_over_the_memory_limit_is_an_error() {
        let zeroes = |bytes: u64| format!("[{}0]", "0,".repeat(usize::try_from(bytes / ITEM_BYTES).unwrap()));
        let error = super::data(&[&zeroes(MAX_VALUE_BYTES)]).unwrap_err().to_string();
        assert!(error.contains("bytes of memory"), "{error}");
        assert!(data(&[&zeroes(MAX_VALUE_BYTES / 64)]).is_array());
    }

    #[test]
    fn objects_and_arrays_are_parsed() {
        assert_eq!(data(&[r#" {"a": [1, -2.5e3, "x", null]} "#]), json!({"a": [1, -2500.0, "x", null]}));
        assert_eq!(data(&["[]"]), json!([]));
        assert_eq!(data(&["{\n  \"id\": 9007199254740991\n}\n"]), json!({"id": 9_007_199_254_740_991_u64}));
    }

    #[test]
    fn other_text_stays_text() {
        for text in
            ["007", "1e5", "12345678901234567890", "true", "null", "\"quoted\"", "", " ", "[INFO] started", "{a}"]
        {
            assert_eq!(data(&[text]), json!(text));
        }
    }

    #[test]
    fn json_that_cannot_be_parsed_losslessly_stays_text() {
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
    fn python_literals_are_parsed_if_that_is_lossless() {
        assert_eq!(data(&["{'a': None, 'b': [True]}"]), json!({"a": null, "b": [true]}));
        assert_eq!(data(&["{'a': 1}", "{'a': 2}"]), json!([{"a": 1}, {"a": 2}]));
        for text in ["{'id': 9007199254740992}", "{'a': 1, 'a': 2}", "{'a': Decimal('1')}", "{'a': 1} done"] {
            assert_eq!(data(&[text]), json!(text));
        }
        for text in ["[1 2, None]", "1, 2"] {
            assert_eq!(data(&[text]), json!(text));
        }
    }

    #[test]
    fn several_blocks_of_json_are_a_list() {
        assert_eq!(data(&[r#"{"a":1}"#, r#"{"a":2}"#]), json!([{"a": 1}, {"a": 2}]));
        assert_eq!(data(&["[1]", "[2]"]), json!([[1], [2]]));
    }

    #[test]
    fn other_blocks_are_joined_by_newlines() {
        assert_eq!(data(&["one", "two"]), json!("one\ntwo"));
        assert_eq!(data(&[r#"{"a":1}"#, "and a note"]), json!("{\"a\":1}\nand a note"));
        assert_eq!(data(&["1", "2"]), json!("1\n2"));
        assert_eq!(data(&["[1,", "2]"]), json!([1, 2]));
        assert_eq!(data(&[]), json!(""));
    }
}
