//! Validation of tool arguments, with messages in terms of JSON.

use agent_spaces_types::nearest::nearest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Type of an argument.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// List of strings; a single string counts as a list of one.
    Texts,
    Number,
    /// Non-negative integer.
    Count,
}

/// Argument of a tool.
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
}

/// Validates and deserializes the arguments of a tool.
pub(super) fn read<T: DeserializeOwned>(mut arguments: Map<String, Value>, known: &[Argument]) -> Result<T, String> {
    // `null` counts as absent.
    arguments.retain(|_, value| !value.is_null());
    if let Some(name) = arguments.keys().find(|name| known.iter().all(|argument| argument.name != *name)) {
        let names = || known.iter().map(|argument| argument.name);
        let fix = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                format!("expected one of {}", names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
            }
        };
        let name: String = name.chars().take(MAX_NAME).collect();
        return Err(format!("unknown argument `{name}`; {fix}"));
    }
    for Argument { name, kind, is_required } in known {
        match arguments.get_mut(*name) {
            None if *is_required => return Err(format!("`{name}` is missing; it must be {}", kind.description())),
            None => {}
            Some(value) => {
                kind.coerce(value);
                if !kind.matches(value) {
                    return Err(format!("`{name}` must be {}, not {}", kind.description(), json_kind(value)));
                }
            }
        }
    }
    serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())
}

/// Maximum length of an unknown argument name in a message.
const MAX_NAME: usize = 100;

impl Kind {
    fn description(self) -> &'static str {
        match self {
            Kind::Text => "a string",
            Kind::Texts => "a list of strings",
            Kind::Number => "a number",
            Kind::Count => "a non-negative integer",
        }
    }

    fn matches(self, value: &Value) -> bool {
        match self {
            Kind::Text => value.is_string(),
            Kind::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Kind::Number => value.is_number(),
            Kind::Count => value.as_u64().is_some(),
        }
    }

    /// Converts a value that has only one possible meaning.
    fn coerce(self, value: &mut Value) {
        match (self, &mut *value) {
            (Kind::Texts, Value::String(_)) => *value = Value::Array(vec![value.take()]),
            // JSON has one number type: `5.0` is five.
            (Kind::Count, Value::Number(number)) => {
                let whole = number.as_f64().filter(|it| it.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(it));
                if let (false, Some(whole)) = (number.is_u64(), whole) {
                    *value = Value::from(whole as u64);
                }
            }
            _ => {}
        }
    }
}

/// Describes a value of the wrong type: a number by itself, any other by its kind.
fn json_kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a string".to_owned(),
        Value::Array(_) => "that list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::code_mode::arguments::{Argument, Kind, read};
    use serde_json::{Value, json};

    const KNOWN: [Argument; 3] = [
        Argument { name: "names", kind: Kind::Texts, is_required: true },
        Argument { name: "part", kind: Kind::Count, is_required: false },
        Argument { name: "timeout", kind: Kind::Number, is_required: false },
    ];

    fn parse(arguments: Value) -> Result<Value, String> {
        read(arguments.as_object().cloned().unwrap_or_default(), &KNOWN)
    }

    #[test]
    fn type_errors_are_reported_in_terms_of_json() {
        assert_eq!(parse(json!({ "names": 5 })).unwrap_err(), "`names` must be a list of strings, not 5");
        assert_eq!(
            parse(json!({ "names": ["a", 1] })).unwrap_err(),
            "`names` must be a list of strings, not that list"
        );
        let text = parse(json!({ "names": ["a"], "timeout": "5" })).unwrap_err();
        assert_eq!(text, "`timeout` must be a number, not a string");
        assert!(
            parse(json!({ "names": ["a"], "part": -1 }))
                .unwrap_err()
                .starts_with("`part` must be a non-negative integer, not -1")
        );
        assert_eq!(parse(json!({})).unwrap_err(), "`names` is missing; it must be a list of strings");
        assert_eq!(parse(json!({ "name": ["a"] })).unwrap_err(), "unknown argument `name`; did you mean `names`?");
    }

    #[test]
    fn unambiguous_values_are_converted() {
        assert_eq!(parse(json!({ "names": "duckdb" })).unwrap(), json!({ "names": ["duckdb"] }));
        assert_eq!(parse(json!({ "names": ["a"], "part": 2.0 })).unwrap(), json!({ "names": ["a"], "part": 2 }));
        assert_eq!(parse(json!({ "names": ["a"], "timeout": null })).unwrap(), json!({ "names": ["a"] }));
    }
}
