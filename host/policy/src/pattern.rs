//! Glob patterns over function names.

use agent_spaces_types::identity::FunctionId;
use capability_gen::names;
use serde::Serialize;
use std::fmt;

/// Longest pattern; function names are shorter.
const MAX_BYTES: usize = 256;

/// Pattern over function labels: `github.createIssue`, `github.*`, `*.delete*`, or `*` for all. `*` matches any
/// characters except a dot. `github` is the same as `github.*`, so a function that is a capability of its own,
/// `getWeather`, may be named as scripts call it; `getWeather.getWeather` matches only that function.
///
/// A function may also be named by its interface: `capabilities:fs/fs@1.0.0#delete`. The version is optional; the
/// function may contain `*`, and defaults to `*`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pattern(String);

/// Not a valid function pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Not a function name.
    #[error(
        "not a function name: write `capability.function` with letters, digits, `_`, `$`, and `*` for any \
         characters, `*` alone for every function, or the function in full: `namespace:package/interface#function`"
    )]
    NotName,
}

/// Specificity of a pattern: exact names first, in any spelling; then by the number of literal characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Specificity {
    is_exact: bool,
    literal_characters: usize,
}

/// The parts of a pattern that names an interface.
#[derive(Clone, Copy)]
struct InFull<'a> {
    /// `capabilities:fs/fs`
    interface: &'a str,
    version: Option<&'a str>,
    function: &'a str,
}

impl Pattern {
    /// Parses a pattern.
    pub fn parse(text: &str) -> Result<Pattern, PatternError> {
        if text == "*" {
            return Ok(Pattern(text.to_owned()));
        }
        if text.len() > MAX_BYTES {
            return Err(PatternError::NotName);
        }
        let is_name = if text.contains(':') { is_in_full(text) } else { is_label(text) };
        is_name.then(|| Pattern(text.to_owned())).ok_or(PatternError::NotName)
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if it matches this function.
    pub fn is_match(&self, id: &FunctionId, label: &str) -> bool {
        if self.0 == "*" {
            return true;
        }
        if let Some(InFull { interface, version, function }) = self.in_full() {
            let is_version = version.is_none_or(|version| id.interface().split('@').nth(1) == Some(version));
            return interface == id.interface_without_version() && is_version && is_part_match(function, id.function());
        }
        let (capability, function) = self.parts();
        let (label_capability, label_function) = label.split_once('.').unwrap_or((label, label));
        is_part_match(capability, label_capability) && is_part_match(function, label_function)
    }

    /// `*`
    pub(crate) fn every() -> Pattern {
        Pattern("*".to_owned())
    }

    /// True if it surely matches every function that `other` matches; false if that cannot be told from the texts.
    pub(crate) fn includes(&self, other: &Pattern) -> bool {
        if self.0 == "*" || self.0 == other.0 {
            return true;
        }
        if self.in_full().is_some() || other.in_full().is_some() || other.0 == "*" {
            return false;
        }
        let ((capability, function), (other_capability, other_function)) = (self.parts(), other.parts());
        // A star in the other's text is matched by one of ours, or not at all: no name has a star.
        is_part_match(capability, other_capability) && is_part_match(function, other_function)
    }

    /// True if it may match functions of the capability with this label and package, whatever its functions are.
    pub(crate) fn may_concern(&self, label: &str, package: &str) -> bool {
        if self.0 == "*" {
            return true;
        }
        match self.in_full() {
            Some(InFull { interface, .. }) => interface.split('/').next() == Some(package),
            None => is_part_match(self.parts().0, label),
        }
    }

    /// Returns the capability of a pattern over several of its functions: `github` for `github.*` and for `github`.
    pub(crate) fn several_of(&self) -> Option<&str> {
        let (capability, function) = self.parts();
        (self.in_full().is_none() && function.contains('*') && !capability.contains('*')).then_some(capability)
    }

    /// Converts an MCP server's spelling to the name in scripts: `calc-js.add` to `calcJs.add`.
    pub fn as_scripts_write(text: &str) -> Option<String> {
        let part = |part: &str| if part.contains('-') { names::camel(part) } else { part.to_owned() };
        let written = text.split('.').map(part).collect::<Vec<_>>().join(".");
        (written != text && Pattern::parse(&written).is_ok()).then_some(written)
    }

    /// True if it names one capability by its label, which then must be unambiguous.
    pub(crate) fn names_a_capability(&self) -> bool {
        self.in_full().is_none() && !self.parts().0.contains('*')
    }

    /// True if it can match only one function.
    pub(crate) fn is_exact(&self) -> bool {
        match self.in_full() {
            Some(InFull { function, .. }) => !function.contains('*'),
            None => self.0.contains('.') && !self.0.contains('*'),
        }
    }

    pub(crate) fn specificity(&self) -> Specificity {
        let is_exact = self.is_exact();
        // Two spellings of one function, or of one capability, have the same specificity.
        let (capability, function) = match self.in_full() {
            Some(InFull { interface, function, .. }) => (interface.rsplit('/').next().unwrap_or_default(), function),
            None => self.parts(),
        };
        let letters = capability.bytes().chain(function.bytes()).filter(|byte| !matches!(byte, b'*' | b'.' | b'-'));
        Specificity { is_exact, literal_characters: if is_exact { 0 } else { letters.count() } }
    }

    /// Splits a label into capability and function.
    fn parts(&self) -> (&str, &str) {
        self.0.split_once('.').unwrap_or((&self.0, "*"))
    }

    fn in_full(&self) -> Option<InFull<'_>> {
        self.0.contains(':').then(|| in_full(&self.0))
    }
}

fn in_full(text: &str) -> InFull<'_> {
    let (interface, function) = text.split_once('#').unwrap_or((text, "*"));
    let (interface, version) = match interface.split_once('@') {
        Some((interface, version)) => (interface, Some(version)),
        None => (interface, None),
    };
    InFull { interface, version, function }
}

fn is_in_full(text: &str) -> bool {
    let InFull { interface, version, function } = in_full(text);
    let is_word = |part: &str, more: &[u8]| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
    };
    let Some((namespace, rest)) = interface.split_once(':') else { return false };
    let Some((package, name)) = rest.split_once('/') else { return false };
    [namespace, package, name].into_iter().all(|part| is_word(part, b"-_."))
        && version.is_none_or(|version| is_word(version, b"-.+"))
        && is_word(function, b"-*")
        && !function.contains("**")
}

fn is_label(text: &str) -> bool {
    let is_part = |part: &str| {
        let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'*');
        !part.is_empty() && part.bytes().all(is_known) && !part.contains("**")
    };
    match text.split_once('.') {
        Some((capability, function)) if is_part(capability) => {
            // Prompts and resources of a server have a part of their own: `github.$resources.read`.
            let of_server = function.strip_prefix('$').and_then(|function| function.split_once('.'));
            match of_server {
                Some((own, function)) => is_part(own) && !own.contains('*') && is_part(function),
                None => is_part(function),
            }
        }
        None => is_part(text) && !text.contains('*'),
        Some(_) => false,
    }
}

/// Matches one part of a name against one part of a pattern.
fn is_part_match(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    // Greedy leftmost matching leaves most text for later pieces; the last piece must match at the end.
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    for piece in middle.split('*') {
        match text.split_once(piece) {
            Some((_, after)) => text = after,
            None => return false,
        }
    }
    text.ends_with(last)
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
