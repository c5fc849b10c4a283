//! Differences of two JSON values, as short text.

use serde_json::Value;
use std::fmt;

/// Limit on differences that are shown; the others are only counted.
const MAX_SHOWN: usize = 6;
/// Length limits of a value and of a path, in bytes.
const MAX_VALUE: usize = 80;
const MAX_PATH: usize = 160;

/// One difference of two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its location, as a JSON pointer.
    pub pointer: String,
    /// Value before, truncated; `None` if it is new.
    pub before: Option<String>,
    /// Value now, truncated; `None` if it was removed.
    pub now: Option<String>,
}

/// First few differences of two values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// The first few differences.
    pub shown: Vec<Difference>,
    /// Number of further differences.
    pub left_off: usize,
}

impl Differences {
    pub(super) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    pub(super) fn push(&mut self, pointer: &str, before: Option<&Value>, now: Option<&Value>) {
        if self.shown.len() == MAX_SHOWN {
            self.left_off += 1;
            return;
        }
        let text = |value: &Value| cut(value.to_string(), MAX_VALUE);
        let pointer = cut(pointer.to_owned(), MAX_PATH);
        self.shown.push(Difference { pointer, before: before.map(text), now: now.map(text) });
    }
}

/// Appends a step to a JSON pointer.
pub(super) fn step(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push('…');
    }
    text
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = &self.pointer;
        match (&self.before, &self.now) {
            (Some(before), Some(now)) => write!(formatter, "{pointer}: {before} → {now}"),
            (None, Some(now)) => write!(formatter, "{pointer}: new: {now}"),
            (Some(before), None) => write!(formatter, "{pointer}: gone: {before}"),
            (None, None) => formatter.write_str(pointer),
        }
    }
}

impl fmt::Display for Differences {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, difference) in self.shown.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            write!(formatter, "{separator}{difference}")?;
        }
        if self.left_off > 0 {
            write!(formatter, ", and {} more", self.left_off)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differences_are_limited_and_truncated() {
        let mut differences = Differences::default();
        for number in 0..MAX_SHOWN + 3 {
            let pointer = step("/properties", &format!("a/b~{number}"));
            differences.push(&pointer, None, Some(&json!("é".repeat(1_000))));
        }
        let text = differences.to_string();
        assert!(text.starts_with("/properties/a~1b~00: new: \"é"), "{text}");
        assert!(text.ends_with("…, and 3 more") && text.len() < 1_000, "{text}");
    }

    #[test]
    fn a_difference_shows_both_values() {
        let mut differences = Differences::default();
        differences.push("/a", Some(&json!(1)), Some(&json!("1")));
        differences.push("/b", Some(&json!(null)), None);
        assert_eq!(differences.to_string(), "/a: 1 → \"1\", /b: gone: null");
    }
}
