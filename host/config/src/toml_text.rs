//! TOML parser, to a JSON value.
//!
//! The `toml` crate limits nesting and the length of a dotted key to 80 each, but not their product, and a `toml::Table`
//! of that depth overflows a thread's stack. So its first pass, `DeTable`, is converted instead, up to the depth limit.

use super::bounds::MAX_DEPTH;
use super::config_path::ConfigPath;
use super::error::{ConfigError, Position};
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses `text` as one TOML document. The parser refuses duplicate keys.
pub(super) fn read(file: &str, text: &str) -> Result<Value, ConfigError> {
    let table = DeTable::parse(text).map_err(|error| {
        let position = error.span().map(|span| Position::of(text, span.start));
        ConfigError::of_text(file, position, error.message())
    })?;
    Converter { text }.object(&ConfigPath::root(file), table.get_ref(), 1)
}

struct Converter<'a> {
    text: &'a str,
}

impl Converter<'_> {
    fn object(&self, path: &ConfigPath<'_>, table: &DeTable<'_>, depth: usize) -> Result<Value, ConfigError> {
        let mut members = Map::new();
        for (key, member) in table.iter() {
            let key = key.get_ref().as_ref();
            members.insert(key.to_owned(), self.value(&path.key(key), member, depth + 1)?);
        }
        Ok(members.into())
    }

    fn value(&self, path: &ConfigPath<'_>, given: &Spanned<DeValue<'_>>, depth: usize) -> Result<Value, ConfigError> {
        let refuse = |message: String| ConfigError {
            position: Some(Position::of(self.text, given.span().start)),
            ..path.error(message)
        };
        if depth > MAX_DEPTH {
            return Err(refuse(format!("nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(match given.get_ref() {
            DeValue::String(text) => text.as_ref().into(),
            DeValue::Integer(integer) => match i64::from_str_radix(integer.as_str(), integer.radix()) {
                Ok(number) => number.into(),
                Err(_) => return Err(refuse("the number is too large".to_owned())),
            },
            DeValue::Float(float) => match float.as_str().parse().ok().and_then(Number::from_f64) {
                Some(number) => number.into(),
                None => return Err(refuse("expected a finite number".to_owned())),
            },
            DeValue::Boolean(flag) => (*flag).into(),
            DeValue::Datetime(_) => {
                return Err(refuse("dates are not supported".to_owned()).with_fix("put the value between quotes"));
            }
            DeValue::Array(items) => {
                let item = |(index, item)| self.value(&path.index(index), item, depth + 1);
                items.iter().enumerate().map(item).collect::<Result<Vec<_>, _>>()?.into()
            }
            DeValue::Table(table) => self.object(path, table, depth)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::toml_text::read;
    use serde_json::json;

    #[test]
    fn toml_gives_the_value_that_json_gives() {
        let text = "a = [1, -2, 2.5, 0x10, 1_000, true, 'ü']\n[b.c]\nd = { e = \"f\" }\n[[g]]\nh = 1\n[[g]]\nh = 2\n";
        let same = json!({
            "a": [1, -2, 2.5, 16, 1000, true, "ü"], "b": { "c": { "d": { "e": "f" } } }, "g": [{ "h": 1 }, { "h": 2 }]
        });
        assert_eq!(read("f", text).unwrap(), same);
    }

    #[test]
    fn errors_have_line_and_column() {
        let position = |text| read("f", text).unwrap_err().position.map(|position| (position.line, position.column));
        assert_eq!(position("a = 1\nb = = 2\n"), Some((2, 5)));
        assert_eq!(position("a = 1\n'é' = 1\na = 2\n"), Some((3, 1)), "a key written twice");
        assert_eq!(position("[a]\nb = 1\n[a]\n"), Some((3, 2)), "a table written twice");
        assert_eq!(
            read("f", "[a]\nb = [1979-05-27]\n").unwrap_err().to_string(),
            "f:2:6: $.a.b[0]: dates are not supported; put the value between quotes"
        );
    }

    #[test]
    fn numbers_that_json_cannot_hold_are_refused() {
        for number in ["nan", "-inf", "1e999", "9223372036854775808"] {
            assert!(read("f", &format!("a = {number}")).is_err(), "{number}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_stack_overflow() {
        let dotted = ["a"; 79].join(".");
        let deep = format!("[{dotted}]\n{}b = 1{}", format!("{dotted} = {{ ").repeat(79), " }".repeat(79));
        assert!(read("f", &deep).unwrap_err().message.contains("deeper"));
        assert!(read("f", &format!("a = {}", "[".repeat(200_000))).is_err());
        assert!(read("f", &vec!["a"; 200_000].join(".")).is_err());
    }
}
