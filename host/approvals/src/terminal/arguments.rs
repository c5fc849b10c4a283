//! Arguments of a call as pretty-printed canonical JSON.

use crate::canonical::sorted;
use agent_spaces_types::hidden::is_hidden;
use serde_json::Value;
use std::fmt::Write as _;

/// A longer string is shown by its beginning and end, so that it cannot push other arguments off the screen.
const MAX_TEXT: usize = 300;
/// Shown characters of the beginning.
const BEGINNING: usize = 200;
/// Shown characters of the end: a command's last words matter as much as its first.
const END: usize = 80;

/// Formats arguments with sorted keys, two spaces per level. Hidden characters become JSON escapes.
pub fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value, 0);
    text
}

fn write_value(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::String(string) => write_string(text, string),
        Value::Array(items) if !items.is_empty() => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                begin_line(text, index, depth + 1);
                write_value(text, item, depth + 1);
            }
            begin_line(text, 0, depth);
            text.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            text.push('{');
            for (index, (key, member)) in sorted(map).into_iter().enumerate() {
                begin_line(text, index, depth + 1);
                write_string(text, key);
                text.push_str(": ");
                write_value(text, member, depth + 1);
            }
            begin_line(text, 0, depth);
            text.push('}');
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

fn begin_line(text: &mut String, index: usize, depth: usize) {
    text.push_str(if index > 0 { ",\n" } else { "\n" });
    (0..depth).for_each(|_| text.push_str("  "));
}

fn write_string(text: &mut String, string: &str) {
    let length = string.chars().count();
    if length <= MAX_TEXT {
        return quote(text, string.chars());
    }
    // Our own words stand outside of the quotes, where no argument can imitate them.
    quote(text, string.chars().take(BEGINNING));
    let _ = write!(text, " … {} characters are not shown … ", length - BEGINNING - END);
    quote(text, string.chars().skip(length - END));
}

/// Writes a JSON string without hidden characters.
fn quote(text: &mut String, characters: impl Iterator<Item = char>) {
    text.push('"');
    for character in characters {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            hidden if is_hidden(hidden) => {
                for unit in hidden.encode_utf16(&mut [0; 2]) {
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
            seen => text.push(seen),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::pretty;
    use serde_json::{Value, json};

    #[test]
    fn arguments_are_pretty_printed_with_sorted_keys() {
        let params = json!({ "b": [1, { "y": null, "x": true }], "a": "x", "c": [], "d": {} });
        let expected = "{\n  \"a\": \"x\",\n  \"b\": [\n    1,\n    {\n      \"x\": true,\n      \"y\": null\n    }\n  ],\n  \"c\": [],\n  \"d\": {}\n}";
        assert_eq!(pretty(&params), expected);
        assert_eq!(pretty(&Value::Null), "null");
    }

    #[test]
    fn hidden_characters_are_escaped_losslessly() {
        let string = "a\"\\\n\r\t\x1b[2J\u{202e}\u{200b}\u{e0041}é日";
        let shown = pretty(&json!({ string: string }));
        assert_eq!(
            shown,
            r#"{
  "a\"\\\n\r\t\u001b[2J\u202e\u200b\udb40\udc41é日": "a\"\\\n\r\t\u001b[2J\u202e\u200b\udb40\udc41é日"
}"#
        );
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), json!({ string: string }));
    }

    #[test]
    fn a_long_string_is_truncated_in_the_middle() {
        let long = format!("{}; rm -rf /", "x".repeat(100_000));
        let shown = pretty(&json!({ "a": long, "b": "seen" }));
        assert!(shown.contains("\" … 99730 characters are not shown … \"xx"), "{shown}");
        assert!(shown.contains("; rm -rf /\",\n  \"b\": \"seen\"") && shown.len() < 500, "{shown}");
    }
}
