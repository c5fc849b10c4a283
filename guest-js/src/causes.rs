//! What an error comes from: its `cause`, and the `errors` of an `AggregateError`.
//!
//! They follow the frames of the error in its stack, each under a line of its own. A script makes these chains: their
//! depth and number are bounded, and one that leads back to itself ends there.

use crate::engine::engine;
use crate::errors::{cut, is_capability_error, is_error, shown, string_of};
use crate::js::{Atom, Value};
use crate::stacks;

/// What begins the line of each; the host looks for it.
const TITLE: &str = "Caused by: ";

/// How far a chain is followed. Wrapping the same error more often than this says nothing new.
const MAX_DEPTH: usize = 8;
/// How many are told in all: a report is read by people and models.
const MAX_TOLD: usize = 16;
/// How many of one `AggregateError` are told: `Promise.any` may have thousands.
const MAX_ERRORS: u32 = 8;
/// The longest line of one, in bytes.
const MAX_LINE_BYTES: usize = 2 * 1024;

struct Told<'a> {
    text: &'a mut String,
    seen: Vec<Value>,
}

/// Adds what an error comes from to the text of its stack.
pub(crate) fn tell(error: &Value, stack: &mut String) {
    let mut told = Told { text: stack, seen: vec![error.clone()] };
    told.below(error, 1);
}

impl Told<'_> {
    /// What one error comes from.
    fn below(&mut self, error: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let (errors, cause) = (Atom::new("errors"), Atom::new("cause"));
        let (list, cause_value) = (error.get(errors), error.get(cause));
        errors.free();
        cause.free();
        if let Ok(list) = list
            && list.is_array()
            && let Ok(length) = list.length()
        {
            for index in 0..length.min(MAX_ERRORS) {
                if let Ok(each) = list.index(index) {
                    self.one(&each, &format!("[{} of {length}] ", index + 1), depth);
                }
            }
        }
        if let Ok(value) = cause_value
            && !value.is_undefined()
        {
            self.one(&value, "", depth);
        }
    }

    fn one(&mut self, value: &Value, number: &str, depth: usize) {
        if self.seen.len() > MAX_TOLD || self.seen.iter().any(|seen| seen.is_same(value)) {
            return;
        }
        self.seen.push(value.clone());
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let line = one_line(cut(headline(value), MAX_LINE_BYTES));
        self.text.extend([TITLE, number, &line]);
        if !is_error(value) {
            return;
        }
        if let Some(frames) = stacks::of(value).filter(|frames| !frames.is_empty()) {
            self.text.extend(["\n", &frames]);
        }
        self.below(value, depth + 1);
    }
}

/// `TypeError: what happened`; of a failed call its code too.
fn headline(value: &Value) -> String {
    if !is_error(value) {
        return shown(value).unwrap_or_else(|| "a value".into());
    }
    let atoms = &engine().atoms;
    let name = string_of(value, atoms.name).unwrap_or_else(|| "Error".into());
    let code = is_capability_error(value).then(|| string_of(value, atoms.code)).flatten();
    let code = code.map(|code| format!(" [{code}]")).unwrap_or_default();
    format!("{name}{code}: {}", string_of(value, atoms.message).unwrap_or_default())
}

/// Whoever reads the lines of a stack tells them apart by their beginnings.
fn one_line(text: String) -> String {
    text.replace(['\n', '\r', '\u{2028}', '\u{2029}'], " ")
}
