//! JSON parser that refuses duplicate keys: other parsers drop the first silently, and with it perhaps a function or a
//! restriction.

use super::error::{SourceError, quoted};
use super::node::with_key;
use super::{MAX_SELECTED_BYTES, TOO_LARGE};
use crate::definition::Place;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::fmt;

pub(super) fn read(file: &str, text: &str, most: usize) -> Result<Value, SourceError> {
    let refuse = |path: String, message: String, fix: &str| {
        let place = Place { file: file.to_owned(), path };
        Err(SourceError { place, message, fix: fix.to_owned() })
    };
    if text.len() > most {
        let message = format!("the document has {} bytes, more than {most}", text.len());
        return refuse("$".to_owned(), message, too_large_fix(most));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut path = Vec::new();
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = Unique(&mut path).deserialize(&mut deserializer);
    let error = match read.and_then(|value| deserializer.end().map(|()| value)) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let line = format!("line {}, column {}", error.line(), error.column());
    if error.is_data() {
        let repeated = path.iter().fold("$".to_owned(), |path, step| match step {
            Step::Key(key) => with_key(&path, key),
            Step::Index(index) => format!("{path}[{index}]"),
        });
        let key = path.last().map_or(String::new(), |step| step.to_string());
        let message = format!("duplicate key {} in this object, the second at {line}", quoted(&key));
        return refuse(repeated, message, "Rename or remove one of the two.");
    }
    let message = error.to_string();
    // serde_json appends the place, which our errors put in front.
    let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
    let (message, fix) = match reason.contains("recursion limit") {
        true => ("it is nested more than 127 deep".to_owned(), "Flatten it."),
        false if text.trim().is_empty() => ("the document is empty".to_owned(), "Write the definition as JSON."),
        false => (format!("this is not JSON: {reason}"), "Correct the JSON at this place."),
    };
    refuse(line, message, fix)
}

/// Fix for a document of more than `most` bytes.
pub(super) fn too_large_fix(most: usize) -> &'static str {
    match most < MAX_SELECTED_BYTES {
        true => TOO_LARGE,
        false => "Split it, or leave out what no script needs.",
    }
}

enum Step {
    Key(String),
    Index(usize),
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Key(key) => formatter.write_str(key),
            Step::Index(index) => write!(formatter, "{index}"),
        }
    }
}

/// Deserializer seed that tracks its path, so that the path of an error is known.
struct Unique<'p>(&'p mut Vec<Step>);

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        loop {
            self.0.push(Step::Index(items.len()));
            let Some(item) = access.next_element_seed(Unique(self.0))? else { break };
            self.0.pop();
            items.push(item);
        }
        self.0.pop();
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            self.0.push(Step::Key(key.clone()));
            if members.contains_key(&key) {
                return Err(A::Error::custom("repeated key"));
            }
            let value = access.next_value_seed(Unique(self.0))?;
            self.0.pop();
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }
}
