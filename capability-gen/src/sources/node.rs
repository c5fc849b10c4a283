//! JSON value with its path in the document, for errors and notes.

use super::error::{SourceError, quoted};
use super::{MAX_FUNCTIONS, MAX_NAME_BYTES};
use crate::definition::{Note, Place};
use crate::names::nearest;
use serde_json::{Map, Value};

/// Maximum characters of a key in a path: paths are built at every step, so their length must not depend on the
/// document.
const MAX_KEY_CHARACTERS: usize = 80;

/// A value of a document.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    pub(super) file: &'a str,
    pub(super) path: String,
    pub(super) value: &'a Value,
}

impl<'a> Node<'a> {
    pub(super) fn root(file: &'a str, value: &'a Value) -> Self {
        Self { file, path: "$".to_owned(), value }
    }

    /// The member of this name; `null` counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        match self.value.get(key) {
            None | Some(Value::Null) => None,
            Some(value) => Some(self.member(key, value)),
        }
    }

    /// Node of a member that the caller has already looked up.
    pub(super) fn member(&self, key: &str, value: &'a Value) -> Self {
        Self { file: self.file, path: with_key(&self.path, key), value }
    }

    /// Members in order; empty if this is not an object.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        let members = self.value.as_object().into_iter().flatten();
        members.map(|(key, value)| (key.as_str(), self.member(key, value)))
    }

    /// Elements in order; empty if this is not an array.
    pub(super) fn items(&self) -> impl Iterator<Item = Node<'a>> {
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items.map(|(index, value)| Node { file: self.file, path: format!("{}[{index}]", self.path), value })
    }

    /// Checks that this is an array of at most [`MAX_FUNCTIONS`] tools or functions.
    pub(super) fn check_list(&self, what: &str) -> Result<(), SourceError> {
        match self.value.as_array() {
            None => Err(self.mistyped(what, "an array")),
            Some(items) if items.len() > MAX_FUNCTIONS => Err(self.too_many(items.len())),
            Some(_) => Ok(()),
        }
    }

    /// Error for too many functions.
    pub(super) fn too_many(&self, count: usize) -> SourceError {
        let message = format!("{count} functions, more than {MAX_FUNCTIONS}");
        self.error(message, "Split the document, or leave out what no script needs.")
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.value.get(key).is_some_and(|value| !value.is_null())
    }

    pub(super) fn place(&self) -> Place {
        Place { file: self.file.to_owned(), path: self.path.clone() }
    }

    pub(super) fn note(&self, message: impl Into<String>) -> Note {
        Note { place: self.place(), message: message.into() }
    }

    pub(super) fn error(&self, message: impl Into<String>, fix: impl Into<String>) -> SourceError {
        SourceError { place: self.place(), message: message.into(), fix: fix.into() }
    }

    /// Returns the object; `what` names the value in the error.
    pub(super) fn object(&self, what: &str) -> Result<&'a Map<String, Value>, SourceError> {
        self.value.as_object().ok_or_else(|| self.mistyped(what, "an object"))
    }

    /// Returns the text; `what` names the value in the error.
    pub(super) fn text(&self, what: &str) -> Result<&'a str, SourceError> {
        self.value.as_str().ok_or_else(|| self.mistyped(what, "text"))
    }

    /// The text of a member; `None` if it is absent.
    pub(super) fn get_text(&self, key: &str) -> Result<Option<&'a str>, SourceError> {
        self.get(key).map(|node| node.text(&quoted(key))).transpose()
    }

    /// The boolean of a member; `None` if it is absent.
    pub(super) fn get_bool(&self, key: &str) -> Result<Option<bool>, SourceError> {
        let read = |node: Node<'_>| node.value.as_bool().ok_or_else(|| node.mistyped(&quoted(key), "true or false"));
        self.get(key).map(read).transpose()
    }

    /// The required member `name`.
    pub(super) fn get_name(&self, what: &str) -> Result<&'a str, SourceError> {
        let Some(node) = self.get("name") else {
            let fix = format!("Give the {what} a \"name\"");
            return Err(self.error(format!("this {what} has no name"), fix + "."));
        };
        let name = node.text("\"name\"")?;
        node.check_name(name, what)?;
        Ok(name)
    }

    /// Refuses empty and overlong names.
    pub(super) fn check_name(&self, name: &str, what: &str) -> Result<(), SourceError> {
        if name.trim().is_empty() {
            return Err(self.error(format!("the {what}'s name is empty"), "Give it a name."));
        }
        if name.len() > MAX_NAME_BYTES {
            let message = format!("the {what}'s name has {} bytes, more than {MAX_NAME_BYTES}", name.len());
            return Err(self.error(message, "Give it a shorter name."));
        }
        Ok(())
    }

    /// Refuses unknown keys, except those that begin with `x-`.
    pub(super) fn check_keys(&self, known: &[&str], what: &str) -> Result<(), SourceError> {
        for (key, value) in self.value.as_object().into_iter().flatten() {
            if known.contains(&key.as_str()) || key.starts_with("x-") {
                continue;
            }
            let fix = match nearest(key, known.iter().copied()) {
                Some(near) => format!("Did you mean {near:?}?"),
                None => format!("Known keys: {}. Custom keys begin with \"x-\".", known.join(", ")),
            };
            let message = format!("{} is not a key of a {what}", quoted(key));
            return Err(self.member(key, value).error(message, fix));
        }
        Ok(())
    }

    pub(super) fn mistyped(&self, what: &str, wanted: &str) -> SourceError {
        let found = match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::String(_) => "text",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        self.error(format!("{what} is {found}"), format!("Make it {wanted}."))
    }
}

/// The path of a member: `$.functions`, `$["a b"]`.
pub(super) fn with_key(path: &str, key: &str) -> String {
    let mut path = path.to_owned();
    push_key(&mut path, key);
    path
}

/// Extends a path to that of a member.
pub(super) fn push_key(path: &mut String, key: &str) {
    let short = match key.char_indices().nth(MAX_KEY_CHARACTERS) {
        Some((end, _)) => &format!("{}…", &key[..end]),
        None => key,
    };
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "_$".contains(character);
    if short.starts_with(|first: char| is_plain(first) && !first.is_ascii_digit()) && short.chars().all(is_plain) {
        path.push('.');
        path.push_str(short);
    } else {
        path.push_str(&format!("[{short:?}]"));
    }
}
