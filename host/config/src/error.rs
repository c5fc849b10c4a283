//! Configuration errors: file, path, position, fault and fix.

use std::fmt;

/// Error in a configuration.
///
/// Messages quote names from the file, never a value that may hold a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}{}{}", self.separator(), self.without_file())]
pub struct ConfigError {
    /// File name, as passed to the reader.
    pub file: String,
    /// Path inside the file, such as `$.spaces.my-space.limits.fuel`.
    pub path: String,
    /// Line and column, if known.
    pub position: Option<Position>,
    /// The fault.
    pub message: String,
    /// The fix, if known.
    pub fix: Option<String>,
}

/// Position in a text, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Character within the line.
    pub column: usize,
}

impl Position {
    /// Returns the position of the byte at `offset`.
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
    /// Creates an error of the text as a whole, without a path.
    pub(super) fn of_text(file: &str, position: Option<Position>, message: impl Into<String>) -> ConfigError {
        ConfigError { file: file.to_owned(), path: "$".to_owned(), position, message: message.into(), fix: None }
    }

    /// Sets the fix.
    pub(super) fn with_fix(mut self, fix: impl Into<String>) -> ConfigError {
        self.fix = Some(fix.into());
        self
    }

    /// Returns the text without the file name, for a caller that shows the file itself.
    pub fn without_file(&self) -> String {
        let position = self.position.map(|position| position.to_string());
        // Beside a line, the path of the whole document adds nothing.
        let path = (position.is_none() || self.path != "$").then(|| self.path.clone());
        let fix = self.fix.as_ref().map(|fix| format!("; {fix}")).unwrap_or_default();
        let message = format!("{}{fix}", self.message);
        position.into_iter().chain(path).chain([message]).collect::<Vec<_>>().join(": ")
    }

    /// Returns the path as a JSON pointer: `/spaces/my-space/limits/fuel`. Keys are as the path shows them: truncated if
    /// they are very long.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        let mut rest = self.path.strip_prefix('$').unwrap_or(&self.path);
        while let Some(step) = rest.strip_prefix(['.', '[']) {
            // A key in quotes may hold any character, an escaped quote included, but ends at `"]`.
            let (step, after) = match step.strip_prefix('"') {
                Some(quoted) => quoted.split_once("\"]").unwrap_or((quoted, "")),
                None if rest.starts_with('[') => step.split_once(']').unwrap_or((step, "")),
                None => step.split_at(step.find(['.', '[']).unwrap_or(step.len())),
            };
            pointer.push('/');
            pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
            rest = after;
        }
        pointer
    }

    /// Returns the text between the file name and the rest: `file:3:9: …`, or `file: …` without a position.
    fn separator(&self) -> &'static str {
        if self.position.is_some() { ":" } else { ": " }
    }
}

/// Maximum length of quoted text, in characters; enough to recognise it.
const QUOTED_CHARACTERS: usize = 80;

/// Returns a name from the file in back quotes, truncated and with control characters escaped.
pub(super) fn quoted(text: &str) -> String {
    format!("`{}`", shown(text))
}

/// Returns the same as [`quoted`] without the quotes.
pub(super) fn shown(text: &str) -> String {
    let mut shown: String = text.chars().take(QUOTED_CHARACTERS).flat_map(char::escape_debug).collect();
    if text.chars().nth(QUOTED_CHARACTERS).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use crate::error::{ConfigError, Position, quoted};

    #[test]
    fn positions_count_characters_from_one() {
        let text = "a\nüé!\n";
        assert_eq!(Position::of(text, 0), Position { line: 1, column: 1 });
        assert_eq!(Position::of(text, text.find('!').unwrap()), Position { line: 2, column: 3 });
        assert_eq!(Position::of(text, 3), Position { line: 2, column: 1 });
        assert_eq!(Position::of(text, 999), Position { line: 3, column: 1 });
    }

    #[test]
    fn the_text_has_file_path_message_and_fix() {
        let error = ConfigError {
            file: "c.json".into(),
            path: "$.limits".into(),
            position: None,
            message: "no".into(),
            fix: Some("write yes".into()),
        };
        assert_eq!(error.to_string(), "c.json: $.limits: no; write yes");
        assert_eq!(error.without_file(), "$.limits: no; write yes");
        let error = ConfigError { position: Some(Position { line: 3, column: 9 }), ..error };
        assert_eq!(error.without_file(), "3:9: $.limits: no; write yes");
        let error = ConfigError::of_text("c.json", error.position, "no");
        assert_eq!((error.to_string(), error.without_file()), ("c.json:3:9: no".into(), "3:9: no".into()));
    }

    #[test]
    fn a_path_is_converted_to_a_json_pointer() {
        let pointer = |path: &str| {
            let error = ConfigError::of_text("f", None, "no");
            ConfigError { path: path.to_owned(), ..error }.pointer()
        };
        assert_eq!(pointer("$"), "");
        assert_eq!(pointer("$.limits.fuel"), "/limits/fuel");
        assert_eq!(pointer("$.functions[\"a:b/c#d.*\"].arguments[12]"), "/functions/a:b~1c#d.*/arguments/12");
        assert_eq!(pointer("$.http.domains[0]"), "/http/domains/0");
    }

    #[test]
    fn quoted_text_is_truncated_and_escaped() {
        assert_eq!(quoted("a\u{1b}[2Jb"), "`a\\u{1b}[2Jb`");
        assert!(quoted(&"x".repeat(1 << 20)).chars().count() < 100);
    }
}
