//! `RunError`: the error of a failed run, in the JSON format that other programs rely on.

use crate::code::Code;
use crate::position::Position;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Error of a failed run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{code}: {message}")]
pub struct RunError {
    /// Dotted error code: `script.error`, `limit.fuel`, `run.cancelled` …
    pub code: String,
    /// Error message.
    pub message: String,
    /// Constructor name of the thrown error: `TypeError`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Stack frames in the script's own files, with positions in the original source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// Source location of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Function whose call failed, as scripts name it: `weather.getForecast`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// The chain of `cause`, and the `errors` of an `AggregateError`; at most [`MAX_CAUSES`] once bounded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// Suggested fix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// `details` of an uncaught `CapabilityError`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// True if the same run may succeed later.
    #[serde(default, skip_serializing_if = "is_false")]
    pub retryable: bool,
}

/// Cause of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// `TypeError: message`; one of several errors has its number before it: `[2 of 3] TypeError: …`.
    pub message: String,
    /// Source location of the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

/// Source location: file, line and column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// File name as the caller gave it.
    pub file: String,
    /// Line, 1-based.
    pub line: u32,
    /// Column, 1-based, in characters.
    pub column: u32,
}

/// Maximum length of a code, in characters. The host's own codes have a third of it; a script may throw any.
const MAX_CODE: usize = 64;
/// Maximum length of an error name, in characters: usually a constructor's name, but a script may set any text.
const MAX_NAME: usize = 128;
/// Maximum length of a message, stack or hint, in characters: the engine truncates to 64 Ki and appends `…`.
const MAX_TEXT: usize = (64 << 10) + 1;
/// Maximum length of a cause's message, in characters: the engine truncates to 2 Ki and adds `…` and a number.
const MAX_CAUSE: usize = (2 << 10) + 32;
/// Maximum number of causes: more than a person reads. The engine has a bound of its own, which a hostile guest
/// ignores.
pub const MAX_CAUSES: usize = 16;
/// Maximum length of a location's file name, in characters: longer than any name that a caller gives to a script.
const MAX_FILE: usize = 1_000;

/// Truncates to `most` characters, the last of which is then `…`. Does not sanitize: [`Shown`](crate::shown::Shown)
/// does, where text is displayed.
fn bound(text: &mut String, most: usize) {
    // Fast path: most texts have fewer bytes than `most`.
    if text.len() > most && text.char_indices().nth(most).is_some() {
        let end = text.char_indices().nth(most - 1).map_or(0, |(end, _)| end);
        text.truncate(end);
        text.push('…');
    }
}

/// Truncates the code and the message of a provider's error, which may be of any length.
pub fn bound_error(code: &mut String, message: &mut String) {
    bound(code, MAX_CODE);
    bound(message, MAX_TEXT);
}

fn is_false(value: &bool) -> bool {
    !value
}

impl RunError {
    /// Creates an error with code and message only.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> RunError {
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

    /// Sets the suggested fix.
    pub fn hint(mut self, hint: impl Into<String>) -> RunError {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the function whose call failed, unless the message already contains its name.
    pub fn unnamed_function(&self) -> Option<&str> {
        self.function.as_deref().filter(|function| !self.message.contains(function))
    }

    /// Truncates every text that a guest controls, and the list of causes.
    pub fn bounded(mut self) -> RunError {
        bound_error(&mut self.code, &mut self.message);
        self.name.iter_mut().for_each(|name| bound(name, MAX_NAME));
        self.function.iter_mut().for_each(|function| bound(function, MAX_NAME));
        self.causes.truncate(MAX_CAUSES);
        self.causes.iter_mut().for_each(|cause| bound(&mut cause.message, MAX_CAUSE));
        let locations = self.location.iter_mut().chain(self.causes.iter_mut().flat_map(|cause| &mut cause.location));
        locations.for_each(|location| bound(&mut location.file, MAX_FILE));
        self.stack.iter_mut().chain(&mut self.hint).for_each(|text| bound(text, MAX_TEXT));
        self
    }

    /// Converts the error of a script that was refused before it ran.
    pub fn of_script(error: crate::script_error::ScriptError) -> RunError {
        let location = error.position.map(|position| Location::new(&error.file, position));
        RunError { location, hint: error.hint, ..RunError::new(error.code, error.message) }
    }

    /// Returns the exit status of a command that ends with this error.
    pub fn exit_status(&self) -> u8 {
        Code::parse(&self.code).map_or(1, Code::exit_status)
    }
}

impl Cause {
    /// Returns the code of a `CapabilityError`, whose message the engine writes as `CapabilityError [code]: …`.
    pub fn capability_code(&self) -> Option<&str> {
        let (code, _) = self.message.strip_prefix("CapabilityError [")?.split_once(']')?;
        Some(code)
    }
}

impl Location {
    /// Creates a location from a file name and a position in it.
    pub fn new(file: &str, position: Position) -> Location {
        Location { file: file.to_owned(), line: position.line, column: position.column }
    }
}

#[cfg(test)]
mod tests {
    use crate::run_error::*;

    #[test]
    fn causes_and_file_names_are_bounded() {
        let location = || Some(Location { file: "é".repeat(MAX_FILE + 1), line: 1, column: 1 });
        let causes = (0..5_000).map(|number| Cause { message: number.to_string(), location: location() }).collect();
        let error = RunError { location: location(), causes, ..RunError::new("script.error", "x") }.bounded();
        let messages: Vec<&str> = error.causes.iter().map(|cause| cause.message.as_str()).collect();
        assert_eq!((messages.len(), messages[0], messages[15]), (MAX_CAUSES, "0", "15"), "the first ones stay");
        let files = error.causes.iter().map(|cause| &cause.location).chain([&error.location]);
        for file in files.map(|location| &location.as_ref().unwrap().file) {
            assert!(file.chars().count() == MAX_FILE && file.ends_with('…'), "{file}");
        }
        assert_eq!(error.clone().bounded(), error);
    }

    #[test]
    fn a_cause_has_the_code_of_its_capability_error() {
        let cause = |message: &str| Cause { message: message.to_owned(), location: None };
        assert_eq!(cause("CapabilityError [call.denied]: no").capability_code(), Some("call.denied"));
        assert_eq!(cause("TypeError: [call.denied]").capability_code(), None);
    }

    #[test]
    fn long_texts_are_truncated_and_short_ones_kept() {
        let text = || "é".repeat(20 << 20);
        let error = RunError { name: Some(text()), stack: Some(text()), ..RunError::new(text(), text()).hint(text()) };
        let RunError { code, message, name, stack, hint, .. } = error.bounded();
        let lengths = [code, name.unwrap(), message, stack.unwrap(), hint.unwrap()].map(|text| text.chars().count());
        assert_eq!(lengths, [MAX_CODE, MAX_NAME, MAX_TEXT, MAX_TEXT, MAX_TEXT]);
        let short = RunError { name: Some("é".repeat(MAX_NAME)), ..RunError::new("script.error", "\x1b[2J") };
        assert_eq!(short.clone().bounded(), short);
    }
}
