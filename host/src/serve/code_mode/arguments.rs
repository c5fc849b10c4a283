//! What an agent passes to a tool, checked in its own words before it is read.

use capability_gen::names::nearest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What an argument must be.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// A list of texts; one alone is a list of one.
    Texts,
    Number,
    /// A whole number from zero on.
    Count,
}

/// One argument of a tool.
pub(super) struct Argument {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) is_required: bool,
}

/// The arguments of a tool, or what is wrong with them.
pub(super) fn read<T: DeserializeOwned>(mut arguments: Map<String, Value>, known: &[Argument]) -> Result<T, String> {
    // What is `null` was left out.
    arguments.retain(|_, value| !value.is_null());
    if let Some(name) = arguments.keys().find(|name| known.iter().all(|argument| argument.name != *name)) {
        let names = || known.iter().map(|argument| argument.name);
        let fix = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
        };
        let name: String = name.chars().take(MAX_NAME).collect();
        return Err(format!("there is no argument `{name}`; {fix}"));
    }
    for Argument { name, kind, is_required } in known {
        match arguments.get_mut(*name) {
            None if *is_required => return Err(format!("`{name}` is missing; it must be {}", kind.words())),
            None => {}
            Some(value) => {
                kind.settle(value);
                if !kind.is(value) {
                    return Err(format!("`{name}` must be {}, not {}", kind.words(), what(value)));
                }
            }
        }
    }
    serde_json::from_value(Value::Object(arguments)).map_err(|error| error.to_string())
}

/// Most characters that are repeated of a name that no argument has.
const MAX_NAME: usize = 100;

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Kind::Text => "a string",
            Kind::Texts => "a list of strings",
            Kind::Number => "a number",
            Kind::Count => "a whole number from zero on",
        }
    }

    fn is(self, value: &Value) -> bool {
        match self {
            Kind::Text => value.is_string(),
            Kind::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Kind::Number => value.is_number(),
            Kind::Count => value.as_u64().is_some(),
        }
    }

    /// Makes of a value what it can only mean.
    fn settle(self, value: &mut Value) {
        match (self, &mut *value) {
            (Kind::Texts, Value::String(_)) => *value = Value::Array(vec![value.take()]),
            // JSON knows one kind of number: `5.0` is five.
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

fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "that number",
        Value::String(_) => "a string",
        Value::Array(_) => "that list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::{Argument, Kind, read};
    use serde_json::{Value, json};

    const KNOWN: [Argument; 3] = [
        Argument { name: "names", kind: Kind::Texts, is_required: true },
        Argument { name: "part", kind: Kind::Count, is_required: false },
        Argument { name: "timeout", kind: Kind::Number, is_required: false },
    ];

    fn told(arguments: Value) -> Result<Value, String> {
        read(arguments.as_object().cloned().unwrap_or_default(), &KNOWN)
    }

    #[test]
    fn what_does_not_fit_is_told_in_words_of_json() {
        assert_eq!(told(json!({ "names": 5 })).unwrap_err(), "`names` must be a list of strings, not that number");
        assert_eq!(told(json!({ "names": ["a", 1] })).unwrap_err(), "`names` must be a list of strings, not that list");
        let text = told(json!({ "names": ["a"], "timeout": "5" })).unwrap_err();
        assert_eq!(text, "`timeout` must be a number, not a string");
        assert!(told(json!({ "names": ["a"], "part": -1 })).unwrap_err().starts_with("`part` must be a whole number"));
        assert_eq!(told(json!({})).unwrap_err(), "`names` is missing; it must be a list of strings");
        assert_eq!(told(json!({ "name": ["a"] })).unwrap_err(), "there is no argument `name`; did you mean `names`?");
    }

    #[test]
    fn what_can_only_mean_one_thing_is_taken() {
        assert_eq!(told(json!({ "names": "duckdb" })).unwrap(), json!({ "names": ["duckdb"] }));
        assert_eq!(told(json!({ "names": ["a"], "part": 2.0 })).unwrap(), json!({ "names": ["a"], "part": 2 }));
        assert_eq!(told(json!({ "names": ["a"], "timeout": null })).unwrap(), json!({ "names": ["a"] }));
    }
}
