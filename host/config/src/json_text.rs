//! JSON parser that refuses duplicate keys.
//!
//! `serde_json` silently keeps the last of two equal keys, which in a configuration would drop a limit or a filter.

use super::config_path::ConfigPath;
use super::error::{ConfigError, Position, quoted};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::fmt;

/// Parses `text` as one JSON value. The parser limits nesting.
pub(super) fn read(file: &str, text: &str) -> Result<Value, ConfigError> {
    let duplicate = RefCell::new(None);
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let seed = Strict { path: ConfigPath::root(file), duplicate: &duplicate };
    let value = seed.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    value.map_err(|error| {
        let position = Some(position(text, &error));
        match duplicate.take() {
            Some(duplicate) => ConfigError { position, ..duplicate },
            None => ConfigError::of_text(file, position, message(&error)),
        }
    })
}

/// Returns the position of an error in characters; the parser counts bytes.
fn position(text: &str, error: &serde_json::Error) -> Position {
    let (line, column) = (error.line().max(1), error.column());
    let characters = match text.split('\n').nth(line - 1) {
        Some(content) => content.char_indices().take_while(|(offset, _)| *offset < column).count(),
        None => column,
    };
    Position { line, column: characters.max(1) }
}

/// Returns the parser's message without its position at the end.
fn message(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let suffix = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&suffix).unwrap_or(&text).to_owned()
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    path: ConfigPath<'a>,
    /// Carries the error past serde, whose errors are text alone.
    duplicate: &'a RefCell<Option<ConfigError>>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) =
            sequence.next_element_seed(Strict { path: self.path.index(items.len()), duplicate: self.duplicate })?
        {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let path = self.path.key(&key);
            if members.contains_key(&key) {
                let error = path.error(format!("duplicate key {}", quoted(&key))).with_fix("keep one");
                self.duplicate.replace(Some(error));
                return Err(A::Error::custom("duplicate key"));
            }
            let value = map.next_value_seed(Strict { path, duplicate: self.duplicate })?;
            members.insert(key, value);
        }
        Ok(members.into())
    }
}

#[cfg(test)]
mod tests {
    use crate::json_text::read;
    use serde_json::{Value, json};

    #[test]
    fn plain_json_reads_as_serde_json_reads_it() {
        let text = r#"{"a": [1, -2, 2.5, 1e9, true, null, "ü\n"], "b": {"a": {}}, "c": []}"#;
        assert_eq!(read("f", text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn a_duplicate_key_is_refused_with_its_position() {
        let text = "{\"spaces\": {\n  \"é\": [{\"x\": 1,\n    \"x\": 2}]}}";
        assert_eq!(
            read("f", text).unwrap_err().to_string(),
            "f:3:7: $.spaces[\"é\"][0].x: duplicate key `x`; keep one"
        );
        assert!(read("f", r#"{"a": 1, "\u0061": 2}"#).is_err(), "the same key in another spelling");
        assert_eq!(read("f", r#"{"a": {"x": 1}, "b": {"x": 1}}"#).unwrap(), json!({"a": {"x": 1}, "b": {"x": 1}}));
    }

    #[test]
    fn syntax_errors_have_line_and_column() {
        let error = read("f", "{\n  \"é\": tru\n}").unwrap_err();
        assert_eq!((error.position.unwrap().line, error.path.as_str()), (3, "$"));
        assert_eq!(read("f", "{\"a\": 1,}").unwrap_err().to_string(), "f:1:9: trailing comma");
        for text in ["", "{", "{} {}", "{\"a\" 1}", "\u{feff}x", "[1e999]", "{'a': 1}", "\"\\ud800\""] {
            assert!(read("f", text).unwrap_err().position.is_some(), "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_stack_overflow() {
        for open in ["[", "{\"a\":"] {
            assert!(read("f", &open.repeat(200_000)).unwrap_err().message.contains("recursion"), "{open}");
        }
    }
}
