//! Parameter parsing: one JSON object by parameter name. A parameter that is missing, unknown or of another type is
//! `call.invalid`, with its name.

use crate::error::StdError;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

/// Unread members of a parameter object, or of a record in it.
pub(crate) struct Params {
    members: Map<String, Value>,
    /// Prefix of member names in errors: empty, or `options.`.
    prefix: String,
    /// Known names: those read so far.
    known: Vec<&'static str>,
}

/// Parses a parameter object. Members that `read` does not consume are refused.
pub(crate) fn read<T>(params: Value, read: impl FnOnce(&mut Params) -> Result<T, StdError>) -> Result<T, StdError> {
    match params {
        Value::Object(members) => Params::finish(members, String::new(), read),
        Value::Null => Params::finish(Map::new(), String::new(), read),
        _ => Err(StdError::invalid("The parameters must be an object by parameter name")),
    }
}

/// Encodes bytes for JSON.
pub(crate) fn bytes_value(bytes: &[u8]) -> Value {
    Value::String(BASE64_STANDARD.encode(bytes))
}

impl Params {
    fn finish<T>(
        members: Map<String, Value>,
        prefix: String,
        read: impl FnOnce(&mut Params) -> Result<T, StdError>,
    ) -> Result<T, StdError> {
        let mut params = Params { members, prefix, known: Vec::new() };
        let value = read(&mut params)?;
        match params.members.keys().next() {
            None => Ok(value),
            Some(unknown) if params.known.is_empty() => {
                Err(StdError::invalid(format!("{}{unknown} is not known: nothing is expected here", params.prefix)))
            }
            Some(unknown) => Err(StdError::invalid(format!(
                "{}{unknown} is not known; expected {}",
                params.prefix,
                params.known.join(", ")
            ))),
        }
    }

    /// Any value; `null` counts as given.
    pub(crate) fn value(&mut self, name: &'static str) -> Result<Value, StdError> {
        self.known.push(name);
        self.members.remove(name).ok_or_else(|| self.missing(name))
    }

    /// Any value; `null` counts as absent.
    pub(crate) fn optional_value(&mut self, name: &'static str) -> Option<Value> {
        self.known.push(name);
        self.members.remove(name).filter(|value| !value.is_null())
    }

    /// Text.
    pub(crate) fn text(&mut self, name: &'static str) -> Result<String, StdError> {
        self.optional_text(name)?.ok_or_else(|| self.missing(name))
    }

    /// Optional text.
    pub(crate) fn optional_text(&mut self, name: &'static str) -> Result<Option<String>, StdError> {
        match self.optional_value(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong(name, "a string", &other)),
        }
    }

    /// Bytes, from base64.
    pub(crate) fn bytes(&mut self, name: &'static str) -> Result<Vec<u8>, StdError> {
        self.optional_bytes(name)?.ok_or_else(|| self.missing(name))
    }

    /// Optional bytes, from base64.
    pub(crate) fn optional_bytes(&mut self, name: &'static str) -> Result<Option<Vec<u8>>, StdError> {
        match self.optional_value(name) {
            None => Ok(None),
            Some(Value::String(text)) => match BASE64_STANDARD.decode(text) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(_) => Err(StdError::invalid(format!("{}{name} must be bytes, in base64", self.prefix))),
            },
            Some(other) => Err(self.wrong(name, "bytes, in base64", &other)),
        }
    }

    /// Optional boolean.
    pub(crate) fn optional_bool(&mut self, name: &'static str) -> Result<Option<bool>, StdError> {
        match self.optional_value(name) {
            None => Ok(None),
            Some(Value::Bool(is_set)) => Ok(Some(is_set)),
            Some(other) => Err(self.wrong(name, "true or false", &other)),
        }
    }

    /// A whole number from zero to `most`.
    pub(crate) fn count(&mut self, name: &'static str, most: u64) -> Result<u64, StdError> {
        self.optional_count(name, most)?.ok_or_else(|| self.missing(name))
    }

    /// Optional whole number from zero to `most`.
    pub(crate) fn optional_count(&mut self, name: &'static str, most: u64) -> Result<Option<u64>, StdError> {
        match self.optional_value(name) {
            None => Ok(None),
            Some(value) => match value.as_u64().filter(|number| *number <= most) {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(name, &format!("a whole number from 0 to {most}"), &value)),
            },
        }
    }

    /// Optional list of texts.
    pub(crate) fn optional_texts(&mut self, name: &'static str) -> Result<Option<Vec<String>>, StdError> {
        let items = match self.optional_value(name) {
            None => return Ok(None),
            Some(Value::Array(items)) => items,
            Some(other) => return Err(self.wrong(name, "a list of strings", &other)),
        };
        let texts = items.into_iter().enumerate().map(|(index, item)| match item {
            Value::String(text) => Ok(text),
            other => Err(self.wrong(&format!("{name}[{index}]"), "a string", &other)),
        });
        texts.collect::<Result<_, _>>().map(Some)
    }

    /// One of several words.
    pub(crate) fn choice<T: Copy>(&mut self, name: &'static str, choices: &[(&str, T)]) -> Result<T, StdError> {
        self.optional_choice(name, choices)?.ok_or_else(|| self.missing(name))
    }

    /// Optional choice among several words.
    pub(crate) fn optional_choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, StdError> {
        let Some(text) = self.optional_text(name)? else { return Ok(None) };
        match choices.iter().find(|(word, _)| *word == text) {
            Some((_, choice)) => Ok(Some(*choice)),
            None => {
                let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
                Err(StdError::invalid(format!("{}{name} must be one of {}", self.prefix, words.join(", "))))
            }
        }
    }

    /// Options record. An absent one is empty; members that `read` does not consume are refused.
    pub(crate) fn record<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Params) -> Result<T, StdError>,
    ) -> Result<T, StdError> {
        let members = match self.optional_value(name) {
            None => Map::new(),
            Some(Value::Object(members)) => members,
            Some(other) => return Err(self.wrong(name, "an object", &other)),
        };
        Params::finish(members, format!("{}{name}.", self.prefix), read)
    }

    fn missing(&self, name: &str) -> StdError {
        StdError::invalid(format!("{}{name} is missing", self.prefix))
    }

    fn wrong(&self, name: &str, expected: &str, found: &Value) -> StdError {
        let found = match found {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(number) => &number.to_string(),
            Value::String(_) => "a string",
            Value::Array(_) => "a list",
            Value::Object(_) => "an object",
        };
        StdError::invalid(format!("{}{name} must be {expected}, not {found}", self.prefix))
    }
}
