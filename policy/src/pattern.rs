//! Names of functions with `*` in them.

use std::fmt;

/// Longest pattern; names of functions are shorter.
const MAX_BYTES: usize = 256;

/// Which functions a rule is about: `github.createIssue`, `github.*`, `*.delete*`, or `*` for all. A `*` stands for
/// any characters but a dot. `github` alone is the same as `github.*`. So a function that is a capability of its own,
/// `getWeather`, may be named as scripts call it; `getWeather.getWeather` names it alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// A text that stands for no function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It can stand for no name.
    #[error(
        "not the name of a function: write `capability.function` with letters, digits, `_`, `$`, and `*` for any \
         characters, or `*` alone for every function"
    )]
    NotName,
}

/// How much a pattern says: a whole name says most, else the more of its letters are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Specificity {
    is_exact: bool,
    literal_characters: usize,
}

impl Pattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Pattern, PatternError> {
        if text == "*" {
            return Ok(Pattern(text.to_owned()));
        }
        let is_part = |part: &str| {
            let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'*');
            !part.is_empty() && part.bytes().all(is_known) && !part.contains("**")
        };
        if text.len() > MAX_BYTES {
            return Err(PatternError::NotName);
        }
        match text.split_once('.') {
            Some((capability, function)) if is_part(capability) => {
                // What a server has besides tools has a part of its own: `github.$resources.read`.
                let of_server = function.strip_prefix('$').and_then(|function| function.split_once('.'));
                let is_name = match of_server {
                    Some((own, function)) => is_part(own) && !own.contains('*') && is_part(function),
                    None => is_part(function),
                };
                is_name.then(|| Pattern(text.to_owned())).ok_or(PatternError::NotName)
            }
            None if is_part(text) && !text.contains('*') => Ok(Pattern(text.to_owned())),
            _ => Err(PatternError::NotName),
        }
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it stands for this function.
    pub fn is_match(&self, label: &str) -> bool {
        if self.0 == "*" {
            return true;
        }
        let (capability, function) = self.0.split_once('.').unwrap_or((&self.0, "*"));
        let (label_capability, label_function) = label.split_once('.').unwrap_or((label, label));
        is_part_match(capability, label_capability) && is_part_match(function, label_function)
    }

    /// Whether it can stand for one function only.
    pub(crate) fn is_exact(&self) -> bool {
        self.0.contains('.') && !self.0.contains('*')
    }

    pub(crate) fn specificity(&self) -> Specificity {
        Specificity {
            is_exact: self.is_exact(),
            literal_characters: self.0.bytes().filter(|byte| !matches!(byte, b'*' | b'.')).count(),
        }
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
mod tests {
    use super::{Pattern, PatternError};

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    #[test]
    fn a_star_stands_for_any_characters_of_its_part() {
        for (text, label) in [
            ("*", "github.createIssue"),
            ("github.createIssue", "github.createIssue"),
            ("github.*", "github.createIssue"),
            ("*.createIssue", "github.createIssue"),
            ("*.*", "github.createIssue"),
            ("*.delete*", "github.deleteRepo"),
            ("*.delete*", "files.delete"),
            ("g*b.c*I*e", "github.createIssue"),
            ("*hub.*e*e*", "github.createIssue"),
            ("a.*b*b", "a.bb"),
            ("$.a_1", "$.a_1"),
            ("github.*", "github.$resources.read"),
            ("github.$resources.*", "github.$resources.read"),
            ("github", "github.createIssue"),
            ("github", "github.$resources.read"),
            ("getWeather", "getWeather"),
            ("getWeather.*", "getWeather"),
            ("getWeather.getWeather", "getWeather"),
            ("*.get*", "getWeather"),
        ] {
            assert!(pattern(text).is_match(label), "{text} {label}");
        }
        for (text, label) in [
            ("github.createIssue", "github.createIssues"),
            ("github.createIssue", "github.createissue"),
            ("github.*", "githubs.createIssue"),
            ("github.*", "git.createIssue"),
            ("github.createIssue", "github"),
            ("other.*", "getWeather"),
            ("get", "getWeather"),
            ("createIssue", "github.createIssue"),
            ("github.$resources.list", "github.$resources.read"),
            ("github.read", "github.$resources.read"),
            ("*.delete*", "github.undelete"),
            ("a.*b*b", "a.b"),
            ("a.b*b", "a.b"),
            ("g*b.x", "gib.y"),
        ] {
            assert!(!pattern(text).is_match(label), "{text} {label}");
        }
    }

    #[test]
    fn what_stands_for_no_function_is_refused() {
        for text in
            ["", ".", "a*", "**", "a.", ".a", "a.b.c", "a b.c", "mcp:a", "a-b.c", "a.**", "ä.b", "a.b\n", "a/b.c"]
        {
            assert_eq!(Pattern::parse(text), Err(PatternError::NotName), "{text}");
        }
        assert_eq!(Pattern::parse(&format!("a.{}", "b".repeat(256))), Err(PatternError::NotName));
    }

    #[test]
    fn a_whole_name_says_most_and_then_the_number_of_its_letters() {
        let order = ["*", "*.*", "*.d*", "github.*", "*.deleteRepo*", "github.deleteRep*", "a.b"];
        for pair in order.windows(2) {
            assert!(pattern(pair[0]).specificity() <= pattern(pair[1]).specificity(), "{pair:?}");
        }
        assert!(pattern("a.b").specificity() > pattern("github.deleteRep*").specificity());
        assert_eq!(pattern("a.b*").specificity(), pattern("*.ab").specificity());
        assert_eq!(pattern("github").specificity(), pattern("github.*").specificity());
    }
}
