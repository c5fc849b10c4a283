//! Texts with `*` in them.

use super::plain;
use regex::{Regex, RegexBuilder};
use std::fmt;

/// Longest pattern.
const MAX_BYTES: usize = 256;

/// Which texts fit: `acme/*`, `*@acme.com`, `data/**`. A `*` stands for any characters but `/`, and `**` for those
/// too. Beside other text they stand for no character that separates one thing from the next: `*@acme.com` is one
/// address, and no list that ends with one.
#[derive(Clone)]
pub struct TextPattern {
    text: String,
    allowed: Regex,
    forbidden: Regex,
}

/// A text that is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextPatternError {
    /// No text can fit it.
    #[error("no text fits this pattern: {0}")]
    Odd(String),
    /// It is too long.
    #[error("a pattern has at most {MAX_BYTES} bytes")]
    Long,
}

impl TextPattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<TextPattern, TextPatternError> {
        if text.len() > MAX_BYTES {
            return Err(TextPatternError::Long);
        }
        plain::check(text).map_err(|oddity| TextPatternError::Odd(oddity.to_string()))?;
        let compile = |expression: String, is_case_insensitive: bool| {
            let mut builder = RegexBuilder::new(&expression);
            builder.case_insensitive(is_case_insensitive).dot_matches_new_line(true);
            builder.build().map_err(|_| TextPatternError::Long)
        };
        Ok(TextPattern {
            text: text.to_owned(),
            allowed: compile(format!(r"\A{}\z", expression(text, &stars(text))), false)?,
            // What is below something forbidden is forbidden, however its letters are cased and wherever it starts.
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

    /// Whether a plain text is one of those that the pattern stands for.
    pub(super) fn allows(&self, text: &str) -> bool {
        // A path from the root is not below whatever `*` may be.
        let is_rooted_like = !text.starts_with('/') || self.text.starts_with('/') || self.text.starts_with("**");
        is_rooted_like && self.allowed.is_match(text)
    }

    /// Whether a plain text is one of those that the pattern stands for, or stands below one, in any case of letters.
    pub(super) fn forbids(&self, text: &str) -> bool {
        self.forbidden.is_match(text)
    }
}

/// What `*` and `**` stand for.
struct Stars {
    one: &'static str,
    two: &'static str,
}

/// Any characters: what is forbidden is so whatever stands beside it.
const ANY: Stars = Stars { one: "[^/]*", two: ".*" };

/// What stars stand for in texts that are allowed.
fn stars(pattern: &str) -> Stars {
    match pattern {
        // Alone it is any text, and there is nothing that something could be put beside.
        "*" | "**" => ANY,
        _ => Stars { one: NAME_PART, two: NAME },
    }
}

/// `SEPARATORS` as classes of an expression, with and without the slash; a test holds them against each other.
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

#[cfg(test)]
mod tests {
    use super::super::text_kind::SEPARATORS;
    use super::{NAME, NAME_PART, TextPattern, TextPatternError};

    fn pattern(text: &str) -> TextPattern {
        TextPattern::parse(text).unwrap()
    }

    #[test]
    fn one_star_stays_between_slashes_and_two_cross_them() {
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
    fn a_star_beside_other_text_names_one_thing() {
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
            // What is written out is meant, and alone a star is any text.
            assert!(pattern(&format!("a{separator}*")).allows(&format!("a{separator}b")), "{separator}");
            assert!(pattern("*").allows(&format!("a{separator}b")), "{separator}");
            assert!(pattern("a*").forbids(&format!("a{separator}b")), "{separator}");
        }
    }

    #[test]
    fn what_is_forbidden_is_so_below_and_in_any_case() {
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
    fn a_pattern_that_no_text_can_fit_is_refused() {
        for text in ["", "acme/../*", "acme//*", "acme/", "a\\*", "%2e*", "https://x/*", "a\0"] {
            assert!(matches!(TextPattern::parse(text), Err(TextPatternError::Odd(_))), "{text}");
        }
        assert_eq!(TextPattern::parse(&"*".repeat(257)), Err(TextPatternError::Long));
        assert!(TextPattern::parse(&"*a".repeat(128)).is_ok());
    }
}
