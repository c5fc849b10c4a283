//! JSON parsing and serialization.

use crate::bounded::{BoundedText, no_memory, too_large};
use crate::error::{Answer, StdError};
use crate::params::read;
use agent_spaces_types::json_memory::{self, Account, Meter, ReadError, RepeatedKeys};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Value, json};

/// Same limit as `JSON.stringify`.
const MAX_INDENT: u64 = 10;

/// Calls `parse` or `stringify`. Memory is charged to the account.
pub fn call(function: &str, params: Value, account: &mut dyn Account) -> Answer {
    match function {
        "parse" => parse(&read(params, |params| params.text("text"))?, account),
        "stringify" => {
            let (value, indent) = read(params, |params| {
                Ok((params.value("value")?, params.optional_count("indent", MAX_INDENT)?.unwrap_or(0)))
            })?;
            stringify(&value, usize::try_from(indent).unwrap_or(0), account).map(Value::String)
        }
        _ => Err(StdError::unknown_function("json", function)),
    }
}

/// Parses like `JSON.parse`: the last of duplicate members wins, and numbers are doubles. Nesting is bounded, and
/// errors carry their position.
fn parse(text: &str, account: &mut dyn Account) -> Answer {
    json_memory::from_str(text, RepeatedKeys::LastCounts, &mut Meter::new(account)).map_err(|error| {
        let error = match error {
            ReadError::Json(error) => error,
            ReadError::Memory(_) => return no_memory(),
        };
        let (line, column) = (error.line(), characters(text, error.line(), error.column()));
        let why = error.to_string();
        let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why);
        let why = if why == "recursion limit exceeded" { "it is nested too deeply" } else { why };
        let message = format!("The text is not JSON at line {line}, column {column}: {why}");
        StdError { details: Some(json!({ "line": line, "column": column })), ..StdError::invalid(message) }
    })
}

/// Converts a byte column to a character column, as editors count.
fn characters(text: &str, line: usize, column: usize) -> usize {
    let line = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
    line.char_indices().take_while(|(start, _)| *start < column).count()
}

fn stringify(value: &Value, indent: usize, account: &mut dyn Account) -> Result<String, StdError> {
    let mut text = BoundedText::new(account);
    let written = if indent == 0 {
        value.serialize(&mut Serializer::new(&mut text))
    } else {
        let spaces = " ".repeat(indent);
        value.serialize(&mut Serializer::with_formatter(&mut text, PrettyFormatter::with_indent(spaces.as_bytes())))
    };
    written.map_err(|_| too_large())?;
    text.into_text()
}

#[cfg(test)]
mod tests {
    use crate::Answer;
    use agent_spaces_types::json_memory::Allowance;
    use serde_json::{Value, json};

    fn call(function: &str, params: Value) -> Answer {
        super::call(function, params, &mut Allowance(u64::MAX))
    }

    fn parse(text: &str) -> Result<Value, String> {
        call("parse", json!({ "text": text })).map_err(|error| error.message)
    }

    #[test]
    fn json_is_parsed() {
        assert_eq!(
            parse(r#" {"b":[1,2.5,-0,true,null,"é\n"],"a":{}} "#),
            Ok(json!({"b":[1,2.5,-0.0,true,null,"é\n"],"a":{}}))
        );
    }

    #[test]
    fn the_last_of_duplicate_members_wins() {
        assert_eq!(parse(r#"{"a":1,"a":2}"#), Ok(json!({"a":2})));
    }

    #[test]
    fn numbers_round_to_the_nearest_double() {
        assert_eq!(parse("123456789012345678901234567890"), Ok(json!(1.2345678901234568e29)));
        assert_eq!(parse("0.1"), Ok(json!(0.1)));
    }

    #[test]
    fn an_error_has_line_and_column_in_characters() {
        let error = call("parse", json!({ "text": "{\n  \"é\": x\n}" })).unwrap_err();
        assert_eq!(error.code, "call.invalid");
        assert_eq!(error.message, "The text is not JSON at line 2, column 8: expected value");
        assert_eq!(error.details, Some(json!({ "line": 2, "column": 8 })));
        for text in ["", "{", "[1,]", "nul", "\"\n\"", "1e999", "[1] 2"] {
            assert!(parse(text).unwrap_err().starts_with("The text is not JSON at line "), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_refused() {
        let deep = parse(&"[".repeat(1_000_000)).unwrap_err();
        assert_eq!(deep, "The text is not JSON at line 1, column 128: it is nested too deeply");
        assert!(parse(&format!("{}{}", "[".repeat(100), "]".repeat(100))).is_ok());
    }

    #[test]
    fn values_are_serialized_with_and_without_indentation() {
        let value = json!({ "b": [1, "x"], "a": null });
        assert_eq!(call("stringify", json!({ "value": value })), Ok(json!(r#"{"b":[1,"x"],"a":null}"#)));
        let indented = call("stringify", json!({ "value": value, "indent": 2 }));
        assert_eq!(indented, Ok(json!("{\n  \"b\": [\n    1,\n    \"x\"\n  ],\n  \"a\": null\n}")));
        assert_eq!(call("stringify", json!({ "value": null, "indent": null })), Ok(json!("null")));
    }

    #[test]
    fn too_wide_an_indentation_is_refused() {
        let error = call("stringify", json!({ "value": 1, "indent": 11 })).unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.message.as_str()),
            ("call.invalid", "indent must be a whole number from 0 to 10, not 11")
        );
    }

    #[test]
    fn output_size_is_limited() {
        let mut value = json!(vec![0; 100_000]);
        for _ in 0..100 {
            value = json!([value]);
        }
        assert_eq!(
            call("stringify", json!({ "value": value, "indent": 10 })).unwrap_err().details,
            Some(json!({"reason": "tooLarge"}))
        );
        assert!(call("stringify", json!({ "value": value })).is_ok());
    }

    #[test]
    fn memory_is_charged_to_the_account() {
        let within = |function: &str, params: Value, bytes: u64| super::call(function, params, &mut Allowance(bytes));
        let list = json!({ "text": format!("[{}0]", "0,".repeat(100_000)) });
        let refused = within("parse", list.clone(), 5 << 20).unwrap_err();
        assert_eq!((refused.code.as_str(), refused.details), ("call.failed", Some(json!({"reason": "tooLarge"}))));
        assert!(within("parse", list, 50 << 20).is_ok());
        let value = json!({ "value": vec![0; 100_000] });
        assert!(within("stringify", value.clone(), 100_000).is_err());
        assert!(within("stringify", value, 1 << 20).is_ok());
    }

    #[test]
    fn unknown_functions_and_parameters_are_refused() {
        assert_eq!(call("eval", json!({})).unwrap_err().message, "There is no function json.eval");
        assert_eq!(
            call("parse", json!({"text": "1", "reviver": 1})).unwrap_err().message,
            "reviver is not known; expected text"
        );
        assert_eq!(call("parse", json!({})).unwrap_err().message, "text is missing");
        assert_eq!(call("parse", json!({"text": 1})).unwrap_err().message, "text must be a string, not 1");
        assert_eq!(call("parse", json!([])).unwrap_err().code, "call.invalid");
    }
}
