//! Glob patterns such as `data/**/*.csv`.
//!
//! A pattern compiles to a regular expression, so matching is linear in the path. The crate `globset` does the same but
//! matches bytes: its `?` does not match `é`.

use super::path::check_spelling;
use crate::error::StdError;
use regex::{Regex, RegexBuilder};
use std::iter::Peekable;
use std::str::Chars;

/// Longest pattern; nobody writes longer ones by hand.
const MAX_BYTES: usize = 512;

/// Deepest nesting of braces. Each becomes a regex group.
const MAX_NESTING: usize = 8;

/// Size limit of the compiled expression; a pattern of full length takes less.
const MAX_COMPILED_BYTES: usize = 4 << 20;

/// Compiled pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    expression: Regex,
    /// Fixed folder prefix: only below it can paths match.
    pub(super) start: Vec<String>,
    /// Most path components of a match; `None` if unlimited.
    pub(super) max_parts: Option<usize>,
}

impl Pattern {
    /// Parses a pattern: `*` and `?` within a name, `**` for any folders, `[a-z]`, `[!a]` and `{a,b}`.
    pub(super) fn parse(text: &str) -> Result<Pattern, StdError> {
        if text.is_empty() {
            return Err(StdError::invalid("The pattern is empty"));
        }
        if text.len() > MAX_BYTES {
            return Err(StdError::invalid(format!("The pattern is longer than {MAX_BYTES} bytes")));
        }
        check_spelling("pattern", text)?;
        let pattern = text.trim_start_matches("./");
        let refused = |why: &str| StdError::invalid(format!("The pattern \"{text}\" {why}"));
        let expression = translate(pattern).map_err(refused)?;
        let expression = RegexBuilder::new(&expression)
            .size_limit(MAX_COMPILED_BYTES)
            .build()
            .map_err(|_| refused("has a reversed range, or is too large"))?;
        let max_parts = if pattern.contains("**") { None } else { Some(pattern.split('/').count()) };
        Ok(Pattern { expression, start: start(pattern), max_parts })
    }

    pub(super) fn matches(&self, path: &str) -> bool {
        self.expression.is_match(path)
    }
}

/// Returns the folders before the first wildcard.
fn start(pattern: &str) -> Vec<String> {
    let mut names: Vec<_> = pattern.split('/').collect();
    names.pop();
    names.into_iter().take_while(|name| !name.contains(['*', '?', '[', '{'])).map(str::to_owned).collect()
}

fn translate(pattern: &str) -> Result<String, &'static str> {
    let mut expression = String::from("^");
    let mut rest = pattern.chars().peekable();
    let mut nesting = 0;
    // At the start of a component, where `**` means folders.
    let mut is_start = true;
    while let Some(character) = rest.next() {
        let was_start = std::mem::replace(&mut is_start, false);
        match character {
            '*' => {
                let mut stars = 1;
                while rest.next_if_eq(&'*').is_some() {
                    stars += 1;
                }
                match rest.peek() {
                    Some('/') if stars > 1 && was_start => {
                        rest.next();
                        is_start = true;
                        expression.push_str("(?:[^/]+/)*");
                    }
                    None | Some(',' | '}') if stars > 1 && was_start => expression.push_str("(?s:.*)"),
                    _ => expression.push_str("[^/]*"),
                }
            }
            '?' => expression.push_str("[^/]"),
            '[' => class(&mut rest, &mut expression)?,
            '{' => {
                nesting += 1;
                if nesting > MAX_NESTING {
                    return Err("has too many nested braces");
                }
                is_start = was_start;
                expression.push_str("(?:");
            }
            ',' if nesting > 0 => {
                is_start = true;
                expression.push('|');
            }
            '}' if nesting > 0 => {
                nesting -= 1;
                expression.push(')');
            }
            '/' => {
                is_start = true;
                expression.push('/');
            }
            plain => push_plain(&mut expression, plain),
        }
    }
    if nesting > 0 {
        return Err("has an unclosed \"{\"");
    }
    expression.push('$');
    Ok(expression)
}

/// Translates a character class: `[abc]`, `[a-z]`, `[!abc]`. A leading `]` is literal.
fn class(rest: &mut Peekable<Chars<'_>>, expression: &mut String) -> Result<(), &'static str> {
    let is_negated = rest.next_if(|character| matches!(character, '!' | '^')).is_some();
    expression.push_str(if is_negated { "[[^" } else { "[[" });
    let mut is_first = true;
    loop {
        let from = rest.next().ok_or("has an unclosed \"[\"")?;
        if from == ']' && !is_first {
            break;
        }
        is_first = false;
        push_plain(expression, from);
        // A trailing `-` is literal.
        let mut ahead = rest.clone();
        if ahead.next() == Some('-')
            && let Some(to) = ahead.next().filter(|to| *to != ']')
        {
            *rest = ahead;
            expression.push('-');
            push_plain(expression, to);
        }
    }
    // A class never matches `/`.
    expression.push_str("]&&[^/]]");
    Ok(())
}

fn push_plain(expression: &mut String, character: char) {
    expression.push_str(&regex::escape(character.encode_utf8(&mut [0; 4])));
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn fits(pattern: &str, path: &str) -> bool {
        Pattern::parse(pattern).unwrap().matches(path)
    }

    #[test]
    fn patterns_match_what_people_expect() {
        for (pattern, path) in [
            ("*.csv", "a.csv"),
            ("*.csv", ".csv"),
            ("data/*", "data/a"),
            ("**", "a/b/c"),
            ("**/*.csv", "a.csv"),
            ("**/*.csv", "a/b/c.csv"),
            ("data/**/*.csv", "data/a.csv"),
            ("data/**/*.csv", "data/x/y/a.csv"),
            ("data/**", "data/a/b"),
            ("a?c", "aéc"),
            ("[a-c]x", "bx"),
            ("[!a-c]x", "éx"),
            ("[^a]x", "bx"),
            ("[]]", "]"),
            ("[a-]", "-"),
            ("[é]", "é"),
            ("{a,b}.txt", "b.txt"),
            ("{a,b/c}.txt", "b/c.txt"),
            ("{a,{b,c}}x", "cx"),
            ("{,un}known", "known"),
            ("{**/a,b}", "x/y/a"),
            ("./a", "a"),
            ("a.b+(c)|$^", "a.b+(c)|$^"),
            ("a,b}", "a,b}"),
            ("a**b", "axxb"),
            ("日*", "日本"),
            ("a b", "a b"),
            ("[[]a", "[a"),
            ("[&&]", "&"),
            ("[~]", "~"),
        ] {
            assert!(fits(pattern, path), "{pattern} should match {path}");
        }
    }

    #[test]
    fn patterns_match_nothing_else() {
        for (pattern, path) in [
            ("*.csv", "a/b.csv"),
            ("*.csv", "a.csvx"),
            ("a.csv", "axcsv"),
            ("data/*", "data/a/b"),
            ("a?c", "a/c"),
            ("a?c", "ac"),
            ("[!a]", "/"),
            ("a[/]b", "a/b"),
            ("**/a", "xa"),
            ("data/**", "database/a"),
            ("A", "a"),
            ("{a,b}", "ab"),
            ("{a,b}", "{a,b}"),
            ("a**b", "a/b"),
            ("[a-c]", "-"),
        ] {
            assert!(!fits(pattern, path), "{pattern} should not match {path}");
        }
    }

    #[test]
    fn invalid_patterns_are_refused() {
        let long = "a".repeat(513);
        let nested = "{".repeat(9);
        for pattern in ["", "[a", "[", "[]", "{a", "[z-a]", "/a", "../a", "a/..", "a\\*", "a\0", "C:/a", &long, &nested]
        {
            assert_eq!(
                Pattern::parse(pattern).map(|_| ()).map_err(|error| &error.code.as_str()[..5]),
                Err("call."),
                "{pattern}"
            );
        }
    }

    #[test]
    fn a_pattern_of_full_length_is_accepted() {
        for piece in ["?", "*?", "[!a]", "**/", "{a,b}", "*a", "é"] {
            Pattern::parse(&piece.repeat(512 / piece.len())).unwrap();
        }
    }

    #[test]
    fn only_folders_that_can_match_are_searched() {
        let pattern = Pattern::parse("data/raw/*/x.csv").unwrap();
        assert_eq!((pattern.start, pattern.max_parts), (vec!["data".to_owned(), "raw".to_owned()], Some(4)));
        let pattern = Pattern::parse("**/x.csv").unwrap();
        assert_eq!((pattern.start, pattern.max_parts), (vec![], None));
    }
}
