//! What is wrong with a configuration: where, what, and what to write instead.

use std::fmt;

/// A configuration that cannot be used.
///
/// Messages quote names a person wrote, never a value that may hold a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}{}: {message}{}", self.position_text(), self.path_text(), self.fix_text())]
pub struct ConfigError {
    /// The file, as its reader named it.
    pub file: String,
    /// The place inside the file, such as `$.spaces.my-space.limits.fuel`.
    pub path: String,
    /// Line and column, where the text itself is at fault.
    pub position: Option<Position>,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that is known.
    pub fix: Option<String>,
}

/// A place in a text, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character within the line.
    pub column: usize,
}

impl Position {
    /// Where the byte at `offset` stands.
    pub(super) fn of(text: &str, offset: usize) -> Position {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &text[..end];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.line, self.column)
    }
}

impl ConfigError {
    /// An error of the text, before it has any structure.
    pub(super) fn of_text(file: &str, position: Option<Position>, message: impl Into<String>) -> ConfigError {
        ConfigError { file: file.to_owned(), path: "$".to_owned(), position, message: message.into(), fix: None }
    }

    /// Says what to write instead.
    pub(super) fn with_fix(mut self, fix: impl Into<String>) -> ConfigError {
        self.fix = Some(fix.into());
        self
    }

    fn position_text(&self) -> String {
        self.position.map(|position| format!(":{position}")).unwrap_or_default()
    }

    fn path_text(&self) -> String {
        // The whole document says nothing that the line does not say better.
        if self.position.is_some() && self.path == "$" { String::new() } else { format!(": {}", self.path) }
    }

    fn fix_text(&self) -> String {
        self.fix.as_ref().map(|fix| format!("; {fix}")).unwrap_or_default()
    }
}

/// Longest piece of the file that a message repeats; enough to recognise it by.
const QUOTED_CHARACTERS: usize = 80;

/// A name from the file between back quotes: shortened, and without anything a terminal obeys.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", shown(text))
}

/// As [`quoted`], bare.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED_CHARACTERS).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTED_CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{ConfigError, Position, quoted};

    #[test]
    fn positions_count_characters_from_one() {
        let text = "a\nüé!\n";
        assert_eq!(Position::of(text, 0), Position { line: 1, column: 1 });
        assert_eq!(Position::of(text, text.find('!').unwrap()), Position { line: 2, column: 3 });
        assert_eq!(Position::of(text, 3), Position { line: 2, column: 1 });
        assert_eq!(Position::of(text, 999), Position { line: 3, column: 1 });
    }

    #[test]
    fn the_text_has_file_place_message_and_fix() {
        let error = ConfigError {
            file: "c.json".into(),
            path: "$.limits".into(),
            position: None,
            message: "no".into(),
            fix: Some("write yes".into()),
        };
        assert_eq!(error.to_string(), "c.json: $.limits: no; write yes");
        let position = Some(Position { line: 3, column: 9 });
        assert_eq!(ConfigError::of_text("c.json", position, "no").to_string(), "c.json:3:9: no");
    }

    #[test]
    fn what_is_quoted_is_short_and_harmless() {
        assert_eq!(quoted("a\u{1b}[2Jb"), "`a\\u{1b}[2Jb`");
        assert!(quoted(&"x".repeat(1 << 20)).chars().count() < 100);
    }
}
