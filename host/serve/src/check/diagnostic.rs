//! Diagnostics of a program.

use agent_spaces_script::code_frame;
use agent_spaces_types::position::Position;
use serde::Serialize;
use std::fmt::Write as _;

/// Maximum number of diagnostics per program. Later ones are mostly consequences of the first.
const MAX_DIAGNOSTICS: usize = 20;

/// Maximum number of warnings, which accompany a result.
const MAX_WARNINGS: usize = 10;

/// Maximum length of a message: compilers spell out types.
const MAX_MESSAGE: usize = 1_000;

/// Diagnostic with its position.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Line, from one.
    pub line: u32,
    /// Column, from one, in code points.
    pub column: u32,
    /// Compiler code such as `TS2551`, [`MEMBER_UNKNOWN`](Diagnostic::MEMBER_UNKNOWN) or
    /// [`AWAIT_MISSING`](Diagnostic::AWAIT_MISSING).
    pub code: String,
    /// Message, with the nearest name if there is one.
    pub message: String,
}

impl Diagnostic {
    /// Code of an unknown member, found without a compiler.
    pub const MEMBER_UNKNOWN: &str = "member.unknown";

    /// Code of a call that lacks its `await`.
    pub const AWAIT_MISSING: &str = "await.missing";

    /// Creates a diagnostic; truncates a long message.
    pub fn new(position: Position, code: impl Into<String>, message: &str) -> Diagnostic {
        let mut text: String = message.chars().take(MAX_MESSAGE).collect();
        if text.len() < message.len() {
            text.push('…');
        }
        Diagnostic { line: position.line, column: position.column, code: code.into(), message: text }
    }

    /// Returns the name that the compiler did not find, if that is the fault.
    pub fn unknown_name(&self) -> Option<&str> {
        unknown_name(&self.message)
    }
}

/// Parses `Cannot find name 'x'.`
pub(super) fn unknown_name(message: &str) -> Option<&str> {
    message.strip_prefix("Cannot find name '")?.split_once('\'').map(|(name, _)| name)
}

/// Diagnostics of a program, truncated to a maximum number.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diagnostics {
    /// Diagnostics, roughly in program order.
    pub list: Vec<Diagnostic>,
    /// Number of diagnostics left out.
    pub more: usize,
}

impl Diagnostics {
    /// Keeps the first `most` and counts the rest.
    fn of(all: impl IntoIterator<Item = Diagnostic>, most: usize) -> Diagnostics {
        let mut all = all.into_iter();
        let list = all.by_ref().take(most).collect();
        Diagnostics { list, more: all.count() }
    }

    /// Collects warnings.
    pub fn warnings(all: impl IntoIterator<Item = Diagnostic>) -> Diagnostics {
        Diagnostics::of(all, MAX_WARNINGS)
    }

    /// Appends others.
    #[must_use]
    pub fn and(mut self, others: Diagnostics) -> Diagnostics {
        self.list.extend(others.list);
        self.more += others.more + self.list.len().saturating_sub(MAX_DIAGNOSTICS);
        self.list.truncate(MAX_DIAGNOSTICS);
        self
    }

    /// Appends others without duplicates.
    #[must_use]
    pub fn and_new(self, mut others: Diagnostics) -> Diagnostics {
        others.list.retain(|other| !self.list.contains(other));
        self.and(others)
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Formats all for an agent: position, code and message, each with a code frame.
    pub fn text(&self, file: &str, code: &str) -> String {
        let mut text = String::new();
        for Diagnostic { line, column, code: number, message } in &self.list {
            let _ = writeln!(text, "{file}:{line}:{column} {number}: {message}");
            text.push_str(&code_frame(code, Position { line: *line, column: *column }, None));
        }
        if self.more > 0 {
            let _ = writeln!(text, "… and {} more", self.more);
        }
        text
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(all: I) -> Diagnostics {
        Diagnostics::of(all, MAX_DIAGNOSTICS)
    }
}

#[cfg(test)]
mod tests {
    use crate::check::diagnostic::*;

    fn diagnostic(line: u32, message: &str) -> Diagnostic {
        Diagnostic::new(Position { line, column: 7 }, "TS2551", message)
    }

    #[test]
    fn the_text_has_positions_code_frames_and_the_number_left_out() {
        let found: Diagnostics = (0..23).map(|_| diagnostic(1, "no `chanels`")).collect();
        assert_eq!((found.list.len(), found.more), (20, 3));
        let text = found.text("program.ts", "slack.chanels();");
        let first = "program.ts:1:7 TS2551: no `chanels`\n> 1 | slack.chanels();\n    |       ^\n";
        assert!(text.starts_with(first) && text.ends_with("… and 3 more\n"), "{text}");
        assert_eq!(Diagnostics::default().text("program.ts", ""), "");
        let both = found.clone().and(found);
        assert_eq!((both.list.len(), both.more), (20, 26));
        let warnings = Diagnostics::warnings((0..23).map(|_| diagnostic(1, "odd")));
        assert_eq!((warnings.list.len(), warnings.more), (10, 13));
    }

    #[test]
    fn a_long_message_is_truncated() {
        assert_eq!(diagnostic(1, &"ä".repeat(5_000)).message.chars().count(), MAX_MESSAGE + 1);
    }
}
