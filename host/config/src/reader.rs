//! Strict reader of JSON values: errors have the path of the value, and unknown keys are refused with the nearest known
//! one.
//!
//! Written by hand because operators read its errors: serde's derived messages have neither the path nor the nearest
//! key.

use super::config_path::ConfigPath;
use super::error::{ConfigError, quoted};
use agent_spaces_types::nearest::nearest;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) type Result<T> = std::result::Result<T, ConfigError>;

/// Value with its path.
#[derive(Clone, Copy)]
pub(super) struct Node<'a> {
    pub(super) path: ConfigPath<'a>,
    pub(super) value: &'a Value,
}

impl<'a> Node<'a> {
    pub(super) fn error(&self, message: impl Into<String>) -> ConfigError {
        self.path.error(message)
    }

    /// Returns the error for a value of another type than `what`.
    pub(super) fn expected(&self, what: &str) -> ConfigError {
        self.error(format!("expected {what}, found {}", kind(self.value)))
    }

    /// Reads a string, possibly empty. Refuses NUL, at which the system ends paths, arguments and variables.
    pub(super) fn text(&self, what: &str) -> Result<&'a str> {
        let text = self.value.as_str().ok_or_else(|| self.expected(what))?;
        if text.contains('\0') {
            return Err(self.error(format!("{what} cannot contain a NUL character")));
        }
        Ok(text)
    }

    /// Reads a non-empty string.
    pub(super) fn filled_text(&self, what: &str) -> Result<&'a str> {
        let text = self.text(what)?;
        if text.is_empty() { Err(self.error(format!("expected {what}, found an empty string"))) } else { Ok(text) }
    }

    /// Reads `true` or `false`.
    pub(super) fn flag(&self) -> Result<bool> {
        self.value.as_bool().ok_or_else(|| self.expected("`true` or `false`"))
    }

    /// Reads one word of a fixed set.
    pub(super) fn choice<T: Copy>(&self, what: &str, choices: &[(&'static str, T)]) -> Result<T> {
        let words = || choices.iter().map(|(word, _)| *word);
        let all = words().map(quoted).collect::<Vec<_>>().join(", ");
        let Some(text) = self.value.as_str() else {
            return Err(self.expected(&format!("{what}: one of {all}")));
        };
        match choices.iter().find(|(word, _)| *word == text) {
            Some((_, choice)) => Ok(*choice),
            None => {
                let fix = match nearest(text, words()) {
                    Some(word) => format!("did you mean `{word}`?"),
                    None => format!("write one of {all}"),
                };
                Err(self.error(format!("unknown {what} {}", quoted(text))).with_fix(fix))
            }
        }
    }

    /// Reads a list item by item.
    pub(super) fn list<T>(&self, what: &str, mut read: impl FnMut(Node<'_>) -> Result<T>) -> Result<Vec<T>> {
        let items = self.value.as_array().ok_or_else(|| self.expected(what))?;
        let path = &self.path;
        items.iter().enumerate().map(|(index, value)| read(Node { path: path.index(index), value })).collect()
    }

    /// Reads an object with arbitrary keys.
    pub(super) fn map<T>(
        &self,
        what: &str,
        mut read: impl FnMut(&str, Node<'_>) -> Result<T>,
    ) -> Result<BTreeMap<String, T>> {
        let members = self.value.as_object().ok_or_else(|| self.expected(what))?;
        let path = &self.path;
        let pair = |(key, value): (&String, _)| Ok((key.clone(), read(key, Node { path: path.key(key), value })?));
        members.iter().map(pair).collect()
    }

    /// Reads an object; refuses keys other than `known`.
    pub(super) fn object(&self, what: &str, known: &[&'static str]) -> Result<Object<'a>> {
        let members = self.value.as_object().ok_or_else(|| self.expected(what))?;
        if let Some(stranger) = members.keys().find(|key| !known.contains(&key.as_str())) {
            let fix = match nearest(stranger, known.iter().copied()) {
                Some(key) => format!("did you mean `{key}`?"),
                None => {
                    format!("known keys: {}", known.iter().map(|key| quoted(key)).collect::<Vec<_>>().join(", "))
                }
            };
            return Err(self.path.key(stranger).error(format!("unknown key {}", quoted(stranger))).with_fix(fix));
        }
        Ok(Object { path: self.path, members })
    }
}

/// Object whose keys have been checked.
pub(super) struct Object<'a> {
    pub(super) path: ConfigPath<'a>,
    members: &'a Map<String, Value>,
}

impl Object<'_> {
    /// Returns the member, if present. `null` counts as present: it is a value of the wrong type.
    pub(super) fn get<'b>(&'b self, key: &'b str) -> Option<Node<'b>> {
        self.members.get(key).map(|value| Node { path: self.path.key(key), value })
    }

    /// Returns the member under one of its spellings, the first of which is canonical. Refuses two at once.
    pub(super) fn get_spelled<'b>(&'b self, spellings: &[&'b str]) -> Result<Option<Node<'b>>> {
        let mut found = spellings.iter().filter_map(|key| self.get(key).map(|node| (*key, node)));
        let first = found.next();
        if let (Some((key, _)), Some((other, node))) = (&first, found.next()) {
            let error = node.error(format!("`{key}` and `{other}` are the same setting"));
            return Err(error.with_fix(format!("keep `{key}`")));
        }
        Ok(first.map(|(_, node)| node))
    }

    /// Reads the member, if present.
    pub(super) fn read<T>(&self, key: &str, read: impl FnOnce(Node<'_>) -> Result<T>) -> Result<Option<T>> {
        self.get(key).map(read).transpose()
    }

    /// Reads a required member.
    pub(super) fn need<T>(&self, key: &str, read: impl FnOnce(Node<'_>) -> Result<T>) -> Result<T> {
        self.read(key, read)?.ok_or_else(|| self.path.error(format!("the key `{key}` is missing")))
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use crate::reader::{ConfigPath, Node};
    use serde_json::json;

    #[test]
    fn an_unknown_key_gets_the_nearest_known_one_or_all_of_them() {
        let value = json!({ "capabilites": {} });
        let node = Node { path: ConfigPath::root("f"), value: &value };
        let message = |known| node.object("an object", known).err().unwrap().to_string();
        assert_eq!(
            message(&["spaces", "capabilities"]),
            "f: $.capabilites: unknown key `capabilites`; did you mean `capabilities`?"
        );
        assert_eq!(message(&["url", "env"]), "f: $.capabilites: unknown key `capabilites`; known keys: `url`, `env`");
    }

    #[test]
    fn wrong_types_say_what_was_expected_and_found() {
        let value = json!({ "a": null, "b": "x\u{0}y", "c": "" });
        let node = Node { path: ConfigPath::root("f"), value: &value };
        let object = node.object("an object", &["a", "b", "c"]).unwrap();
        let message = |key: &str| object.need(key, |node| node.filled_text("a path").map(drop)).err().unwrap().message;
        assert_eq!(message("a"), "expected a path, found null");
        assert_eq!(message("b"), "a path cannot contain a NUL character");
        assert_eq!(message("c"), "expected a path, found an empty string");
        assert_eq!(message("d"), "the key `d` is missing");
        assert_eq!(node.list("a list", |_| Ok(())).err().unwrap().message, "expected a list, found an object");
    }
}
