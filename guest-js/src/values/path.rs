//! Where in a value something is wrong.

use crate::js::{OwnedAtom, Value};
use std::fmt::Write;

/// A way into a value, made on the stack while it is read and written out only when it is needed.
#[derive(Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    /// One of several arguments.
    Argument(usize),
    Name(&'a Path<'a>, &'a str),
    Key(&'a Path<'a>, &'a OwnedAtom),
    Index(&'a Path<'a>, usize),
}

/// One thing that is wrong with a value.
pub(crate) struct Issue {
    pub(crate) path: String,
    pub(crate) message: String,
}

/// An error lists no more issues than this: who reads it mends the first ones first.
const MAX_ISSUES: usize = 32;

/// The issues of a value's parts, so that one error tells them all.
#[derive(Default)]
pub(crate) struct Issues(Vec<Issue>);

impl Issues {
    /// The part, or nothing where it was refused for what it is.
    pub(crate) fn collect<T>(&mut self, part: Result<T, Refusal>) -> Result<Option<T>, Refusal> {
        match part {
            Ok(part) => Ok(Some(part)),
            Err(Refusal::Invalid(issues)) => {
                self.0.extend(issues);
                if self.0.len() >= MAX_ISSUES {
                    self.0.truncate(MAX_ISSUES);
                    return Err(Refusal::Invalid(std::mem::take(&mut self.0)));
                }
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// Refuses the whole where a part was.
    pub(crate) fn finish(self) -> Result<(), Refusal> {
        if self.0.is_empty() { Ok(()) } else { Err(Refusal::Invalid(self.0)) }
    }
}

/// Why a value cannot cross, and where; or what its getters threw.
pub(crate) enum Refusal {
    /// At least one issue.
    Invalid(Vec<Issue>),
    /// The JSON text would be longer than allowed.
    TooLong,
    Thrown(Value),
}

impl From<Value> for Refusal {
    fn from(thrown: Value) -> Self {
        Refusal::Thrown(thrown)
    }
}

/// Longer keys are cut in a path.
const MAX_KEY_LENGTH: usize = 80;

impl Path<'_> {
    pub(crate) fn refuse(&self, message: impl Into<String>) -> Refusal {
        Refusal::Invalid(vec![Issue { path: self.render(), message: message.into() }])
    }

    /// `trips[3].stops`, or nothing for the value itself.
    pub(crate) fn render(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) {
        match self {
            Path::Root => {}
            Path::Argument(index) => {
                let _ = write!(out, "argument {}", index + 1);
            }
            Path::Name(parent, name) => write_name(parent, name, out),
            Path::Key(parent, key) => write_name(parent, &key.0.name(), out),
            Path::Index(parent, index) => {
                parent.write(out);
                let _ = write!(out, "[{index}]");
            }
        }
    }
}

fn write_name(parent: &Path<'_>, name: &str, out: &mut String) {
    parent.write(out);
    let name = clean(name);
    let is_identifier = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$');
    if is_identifier {
        if !out.is_empty() {
            out.push('.');
        }
        out.push_str(&name);
    } else {
        let _ = write!(out, "[\"{}\"]", name.replace('\\', "\\\\").replace('"', "\\\""));
    }
}

/// A key as messages may show it: not too long, and without what moves a cursor or cannot be seen. The host's
/// checks write paths in the same way.
fn clean(key: &str) -> String {
    let is_hidden = |character: &char| {
        character.is_control()
            || matches!(character,
                '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
    };
    let mut characters = key.chars().filter(|character| !is_hidden(character));
    let mut cleaned: String = characters.by_ref().take(MAX_KEY_LENGTH).collect();
    if characters.next().is_some() {
        cleaned.push('…');
    }
    cleaned
}
