//! Names of functions with `*` in them.

use crate::unused::UnknownCapability;
use capability_gen::identity::FunctionId;
use capability_gen::names;
use std::fmt;

/// Longest pattern; names of functions are shorter.
const MAX_BYTES: usize = 256;

/// Which functions a rule is about, by the label that scripts use: `github.createIssue`, `github.*`, `*.delete*`, or
/// `*` for all. A `*` stands for any characters but a dot. `github` alone is the same as `github.*`. So a function that
/// is a capability of its own, `getWeather`, may be named as scripts call it; `getWeather.getWeather` names it alone.
///
/// A function may also be named in full, by its interface: `capabilities:fs/fs@1.0.0#delete`. The version may be left
/// out; the function may have a `*`, and left out it is `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// A text that stands for no function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It can stand for no name.
    #[error(
        "not the name of a function: write `capability.function` with letters, digits, `_`, `$`, and `*` for any \
         characters, `*` alone for every function, or the function in full: `namespace:package/interface#function`"
    )]
    NotName,
}

/// How much a pattern says: a whole name says most, however it is spelled; else the more of its letters are given.
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
    /// Reads a pattern.
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

    /// Whether it stands for this function.
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

    /// Whether it may stand for functions of a capability whose functions nobody knows: by its label, or by the package
    /// that it is in.
    pub(crate) fn may_concern(&self, capability: &UnknownCapability) -> bool {
        if self.0 == "*" {
            return true;
        }
        match self.in_full() {
            Some(InFull { interface, .. }) => interface.split('/').next() == Some(&capability.package),
            None => is_part_match(self.parts().0, &capability.label),
        }
    }

    /// The capability of a label that stands for several of its functions: `github` of `github.*` and of `github`.
    pub(crate) fn several_of(&self) -> Option<&str> {
        let (capability, function) = self.parts();
        (self.in_full().is_none() && function.contains('*') && !capability.contains('*')).then_some(capability)
    }

    /// What scripts would call it, where it is written as an MCP server is: `calcJs.add` for `calc-js.add`.
    pub fn as_scripts_write(text: &str) -> Option<String> {
        let part = |part: &str| if part.contains('-') { names::camel(part) } else { part.to_owned() };
        let written = text.split('.').map(part).collect::<Vec<_>>().join(".");
        (written != text && Pattern::parse(&written).is_ok()).then_some(written)
    }

    /// Whether it names one capability by its label, which then must be one capability alone.
    pub(crate) fn names_a_capability(&self) -> bool {
        self.in_full().is_none() && !self.parts().0.contains('*')
    }

    /// Whether it can stand for one function only.
    pub(crate) fn is_exact(&self) -> bool {
        match self.in_full() {
            Some(InFull { function, .. }) => !function.contains('*'),
            None => self.0.contains('.') && !self.0.contains('*'),
        }
    }

    pub(crate) fn specificity(&self) -> Specificity {
        let is_exact = self.is_exact();
        // Of two spellings of one function neither is above the other, and so of one capability.
        let (capability, function) = match self.in_full() {
            Some(InFull { interface, function, .. }) => (interface.rsplit('/').next().unwrap_or_default(), function),
            None => self.parts(),
        };
        let letters = capability.bytes().chain(function.bytes()).filter(|byte| !matches!(byte, b'*' | b'.' | b'-'));
        Specificity { is_exact, literal_characters: if is_exact { 0 } else { letters.count() } }
    }

    /// Capability and function of a label.
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
            // What a server has besides tools has a part of its own: `github.$resources.read`.
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

/// Whether one part of a name is what one part of a pattern stands for.
fn is_part_match(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    // The first place where a piece fits leaves most for those after it; the last one must stand at the end.
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
