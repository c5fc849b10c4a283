//! Why a run has no value, in the shape that other programs rely on.

use crate::script::Position;
use serde::Serialize;
use serde_json::Value;

/// Why a run has no value.
#[derive(Clone, Debug, PartialEq, Serialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct RunError {
    /// A dotted code: `script.error`, `limit.fuel`, `run.cancelled` …
    pub code: String,
    /// What happened.
    pub message: String,
    /// The thrown error's constructor: `TypeError`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Frames in the script's own files, as their author wrote them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Where it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// The function whose call failed, as scripts name it: `weather.getForecast`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// What it comes from: the chain of `cause`, and the `errors` of an `AggregateError`. The engine bounds how many.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Further facts of an uncaught `CapabilityError`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// Whether the same run may succeed later.
    #[serde(skip_serializing_if = "is_false")]
    pub retryable: bool,
}

/// What an error comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// `TypeError: what happened`; one of several errors has its number before it: `[2 of 3] TypeError: …`.
    pub message: String,
    /// Where it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

/// A place in a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Location {
    /// The file as it was named.
    pub file: String,
    /// From one.
    pub line: u32,
    /// From one, in characters.
    pub column: u32,
}

/// The longest code, in characters. Those of the host have a third of it; a script may throw any.
const MAX_CODE: usize = 64;
/// The longest name of an error, in characters: a name is a constructor's, and a script may write anything there.
const MAX_NAME: usize = 128;
/// The longest message, stack or hint, in characters: what the engine cuts them to, with the sign of that.
const MAX_TEXT: usize = (64 << 10) + 1;

/// The longest line of a cause, in characters: what the engine cuts it to, with the sign of that and a number.
const MAX_CAUSE: usize = (2 << 10) + 32;

/// At most so many characters; the last is `…` where something was left out. Nothing else is changed: what is shown to
/// people is cleaned where that is done.
fn bound(text: &mut String, most: usize) {
    // Most texts have fewer bytes than that.
    if text.len() > most && text.char_indices().nth(most).is_some() {
        let end = text.char_indices().nth(most - 1).map_or(0, |(end, _)| end);
        text.truncate(end);
        text.push('…');
    }
}

/// The code and the message of an error of a provider, which may be of any length.
pub(crate) fn bound_error(code: &mut String, message: &mut String) {
    bound(code, MAX_CODE);
    bound(message, MAX_TEXT);
}

fn is_false(value: &bool) -> bool {
    !value
}

impl RunError {
    pub(crate) fn new(code: impl Into<String>, message: impl Into<String>) -> RunError {
        RunError {
            code: code.into(),
            message: message.into(),
            name: None,
            stack: None,
            location: None,
            function: None,
            causes: Vec::new(),
            hint: None,
            details: None,
            retryable: false,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> RunError {
        self.hint = Some(hint.into());
        self
    }

    /// The function whose call failed, where the message does not say it.
    pub fn unnamed_function(&self) -> Option<&str> {
        self.function.as_deref().filter(|function| !self.message.contains(function))
    }

    /// With every text that a script chose cut to its bound: wherever it goes from here, as JSON too.
    pub(crate) fn bounded(mut self) -> RunError {
        bound_error(&mut self.code, &mut self.message);
        self.name.iter_mut().for_each(|name| bound(name, MAX_NAME));
        self.function.iter_mut().for_each(|function| bound(function, MAX_NAME));
        self.causes.iter_mut().for_each(|cause| bound(&mut cause.message, MAX_CAUSE));
        self.stack.iter_mut().chain(&mut self.hint).for_each(|text| bound(text, MAX_TEXT));
        self
    }

    /// Why a script cannot run.
    #[cfg(feature = "compiler")]
    pub fn of_script(error: crate::script::ScriptError) -> RunError {
        let location = error.position.map(|position| Location::new(&error.file, position));
        RunError { location, hint: error.hint, ..RunError::new(error.code, error.message) }
    }

    /// The exit status of a command that ends with this error.
    pub fn exit_status(&self) -> u8 {
        match self.code.as_str() {
            code if code.starts_with("limit.") => 3,
            "import.denied" | "call.denied" | "call.approval_denied" | "call.approval_expired" => 4,
            code if code.starts_with("config.") => 2,
            code if code.starts_with("host.") => 5,
            "call.failed" | "call.timeout" | "call.unavailable" | "call.protocol" | "call.audit_unavailable" => 5,
            _ => 1,
        }
    }
}

impl Location {
    pub(crate) fn new(file: &str, position: Position) -> Location {
        Location { file: file.to_owned(), line: position.line, column: position.column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_chose_is_bounded_and_what_is_short_stays() {
        let text = || "é".repeat(20 << 20);
        let error = RunError { name: Some(text()), stack: Some(text()), ..RunError::new(text(), text()).hint(text()) };
        let RunError { code, message, name, stack, hint, .. } = error.bounded();
        let lengths = [code, name.unwrap(), message, stack.unwrap(), hint.unwrap()].map(|text| text.chars().count());
        assert_eq!(lengths, [MAX_CODE, MAX_NAME, MAX_TEXT, MAX_TEXT, MAX_TEXT]);
        let short = RunError { name: Some("é".repeat(MAX_NAME)), ..RunError::new("script.error", "\x1b[2J") };
        assert_eq!(short.clone().bounded(), short);
    }
}
