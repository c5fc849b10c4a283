//! Glob patterns over texts.

use super::canonical_text;
use regex::{Regex, RegexBuilder};
use serde::{Serialize, Serializer};
use std::fmt;

/// Longest pattern.
const MAX_BYTES: usize = 256;

/// Glob pattern: `acme/*`, `*@acme.com`, `data/**`. `*` matches any characters except `/`, and `**` matches `/` too.
/// Beside other text they match no separator: `*@acme.com` matches one address, not a list that ends with one.
#[derive(Clone)]
pub struct TextPattern {
    text: String,
    allowed: Regex,
    forbidden: Regex,
}

/// Not a valid pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextPatternError {
    /// No canonical text can match it.
    #[error("pattern that no text can match: {0}")]
    Odd(String),
    /// It is too long.
    #[error("pattern longer than {MAX_BYTES} bytes")]
    Long,
}

impl TextPattern {
    /// Parses a pattern.
    pub fn parse(text: &str) -> Result<TextPattern, TextPatternError> {
        if text.len() > MAX_BYTES {
            return Err(TextPatternError::Long);
        }
        canonical_text::check(text).map_err(|fault| TextPatternError::Odd(fault.to_string()))?;
        let compile = |expression: String, is_case_insensitive: bool| {
            let mut builder = RegexBuilder::new(&expression);
            builder.case_insensitive(is_case_insensitive).dot_matches_new_line(true);
            builder.build().map_err(|_| TextPatternError::Long)
        };
        Ok(TextPattern {
            text: text.to_owned(),
            allowed: compile(format!(r"\A{}\z", expression(text, &stars(text))), false)?,
            // Everything below a forbidden path is forbidden, in any letter case, with or without a leading slash.
            forbidden: compile(
                format!(r"\A/?{}(?:/.*)?\z", expression(text.strip_prefix('/').unwrap_or(text), &ANY)),
                true,
            )?,
        })
    }

    /// The pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True if a canonical text matches the pattern.
    pub(super) fn allows(&self, text: &str) -> bool {
        // A relative pattern does not match an absolute path.
        let is_rooted_like = !text.starts_with('/') || self.text.starts_with('/') || self.text.starts_with("**");
        is_rooted_like && self.allowed.is_match(text)
    }

    /// True if a canonical text matches the pattern, or is below a match, ignoring case.
    pub(super) fn forbids(&self, text: &str) -> bool {
        self.forbidden.is_match(text)
    }
}

/// Regex fragments for `*` and `**`.
struct Stars {
    one: &'static str,
    two: &'static str,
}

/// Any characters: forbidden patterns match separators too.
const ANY: Stars = Stars { one: "[^/]*", two: ".*" };

/// Fragments for patterns that allow.
fn stars(pattern: &str) -> Stars {
    match pattern {
        // Alone it matches any text: there is no literal part to append to.
        "*" | "**" => ANY,
        _ => Stars { one: NAME_PART, two: NAME },
    }
}

/// `SEPARATORS` as regex classes, with and without the slash; a test keeps them in sync.
const NAME_PART: &str = r#"[^/,;?#&=<>"'|@:]*"#;
const NAME: &str = r#"[^,;?#&=<>"'|@:]*"#;

fn expression(pattern: &str, stars: &Stars) -> String {
    let mut expression = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('*') {
        expression.push_str(&regex::escape(before));
        (expression, rest) = match after.strip_prefix('*') {
            Some(after) => (expression + stars.two, after),
            None => (expression + stars.one, after),
        };
    }
    expression + &regex::escape(rest)
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &TextPattern) -> bool {
        self.text == other.text
    }
}

impl Eq for TextPattern {}

impl fmt::Debug for TextPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(formatter)
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl Serialize for TextPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::text_kind::SEPARATORS;
    use super::{NAME, NAME_PART, TextPattern, TextPatternError};

    fn pattern(text: &str) -> TextPattern {
        TextPattern::parse(text).unwrap()
    }

    #[test]
    fn one_star_does_not_cross_slashes_and_two_do() {
        for (text, value) in [
            ("acme/*", "acme/x"),
            ("acme/*", "acme/x.y-z"),
            ("*@acme.com", "me@acme.com"),
            ("*", "x"),
            ("**", "a/b/c"),
            ("**", "/etc"),
            ("data/**", "data/a/b"),
            ("data/**/x", "data/a/b/x"),
            ("a.c", "a.c"),
            ("/data/*", "/data/x"),
            ("a+(b)[c]|^$", "a+(b)[c]|^$"),
        ] {
            assert!(pattern(text).allows(value), "{text} {value}");
        }
        for (text, value) in [
            ("acme/*", "acme/x/y"),
            ("acme/*", "acme"),
            ("acme/*", "ACME/x"),
            ("acme/*", "xacme/x"),
            ("acme/*", "acmee/x"),
            ("*", "a/b"),
            ("*/x", "/x"),
            ("acme/*", "/acme/x"),
            ("*@acme.com", "me@acme.com.evil.com"),
            ("*@acme.com", "me@acmexcom"),
            ("a.c", "abc"),
            ("data/**", "data"),
        ] {
            assert!(!pattern(text).allows(value), "{text} {value}");
        }
    }

    #[test]
    fn a_star_beside_other_text_matches_no_separator() {
        assert_eq!((NAME, NAME_PART), (&*format!("[^{SEPARATORS}]*"), &*format!("[^/{SEPARATORS}]*")));
        for (text, value) in [
            ("*@acme.com", "evil@evil.com,x@acme.com"),
            ("*@acme.com", "evil@evil.com x@acme.com"),
            ("*@acme.com", "<evil@evil.com>;x@acme.com"),
            ("acme/*", "acme/x?repo=evil"),
            ("acme/*", "acme/x&repo=evil"),
            ("acme/*", "acme/x#evil"),
            ("acme/**", "acme/x?repo=evil/y"),
            ("acme/**", "acme/x,evil/y"),
        ] {
            assert!(!pattern(text).allows(value), "{text} {value}");
        }
        for separator in SEPARATORS.chars() {
            assert!(!pattern("a*").allows(&format!("a{separator}b")), "{separator}");
            // Literal separators match, and a lone star matches any text.
            assert!(pattern(&format!("a{separator}*")).allows(&format!("a{separator}b")), "{separator}");
            assert!(pattern("*").allows(&format!("a{separator}b")), "{separator}");
            assert!(pattern("a*").forbids(&format!("a{separator}b")), "{separator}");
        }
    }

    #[test]
    fn forbidden_patterns_cover_paths_below_and_any_case() {
        for value in ["secret/x", "secret/x/y", "SECRET/x", "/secret/x", "Secret/X/y/z"] {
            assert!(pattern("secret/*").forbids(value), "{value}");
            assert!(pattern("/secret/*").forbids(value), "{value}");
        }
        for value in ["secret", "secrets/x", "a/secret/x", "public/secret"] {
            assert!(!pattern("secret/*").forbids(value), "{value}");
        }
        assert!(pattern("secret").forbids("secret/x") && pattern("**/secret").forbids("a/b/secret/c"));
    }

    #[test]
    fn a_pattern_that_no_text_can_match_is_refused() {
        for text in ["", "acme/../*", "acme//*", "acme/", "a\\*", "%2e*", "https://x/*", "a\0"] {
            assert!(matches!(TextPattern::parse(text), Err(TextPatternError::Odd(_))), "{text}");
        }
        assert_eq!(TextPattern::parse(&"*".repeat(257)), Err(TextPatternError::Long));
        assert!(TextPattern::parse(&"*a".repeat(128)).is_ok());
    }
}
