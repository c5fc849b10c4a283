//! What does not fit in a program.

use crate::script::{Position, code_frame};
use serde::Serialize;
use std::fmt::Write as _;

/// Most that are told of one program. Those after the first few follow from them more often than not.
const MAX_DIAGNOSTICS: usize = 20;

/// Most warnings: they stand beside a result, which is what was asked for.
const MAX_WARNINGS: usize = 10;

/// Most characters of one message: types are spelled out in them.
const MAX_MESSAGE: usize = 1_000;

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The line, from one.
    pub line: u32,
    /// The column, from one, in code points.
    pub column: u32,
    /// The compiler's number for it, `TS2551`, or [`MEMBER_UNKNOWN`](Diagnostic::MEMBER_UNKNOWN).
    pub code: String,
    /// What is wrong, with the nearest name where there is one.
    pub message: String,
}

impl Diagnostic {
    /// Code of a member that nothing has, found without a compiler.
    pub const MEMBER_UNKNOWN: &str = "member.unknown";

    /// Code of a call whose promise is taken for its result.
    pub const AWAIT_MISSING: &str = "await.missing";

    pub(crate) fn new(position: Position, code: impl Into<String>, message: &str) -> Diagnostic {
        let mut text: String = message.chars().take(MAX_MESSAGE).collect();
        if text.len() < message.len() {
            text.push('…');
        }
        Diagnostic { line: position.line, column: position.column, code: code.into(), message: text }
    }

    /// The name that a compiler does not find.
    pub(crate) fn unknown_name(&self) -> Option<&str> {
        unknown_name(&self.message)
    }
}

/// `Cannot find name 'x'.`
pub(super) fn unknown_name(message: &str) -> Option<&str> {
    message.strip_prefix("Cannot find name '")?.split_once('\'').map(|(name, _)| name)
}

/// What was found in a program, as much of it as is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Diagnostics {
    /// In the order of the program, more or less.
    pub list: Vec<Diagnostic>,
    /// How many there are besides.
    pub more: usize,
}

impl Diagnostics {
    /// The first few of these, and how many there are besides.
    fn of(all: impl IntoIterator<Item = Diagnostic>, most: usize) -> Diagnostics {
        let mut all = all.into_iter();
        let list = all.by_ref().take(most).collect();
        Diagnostics { list, more: all.count() }
    }

    /// These as warnings.
    pub(crate) fn warnings(all: impl IntoIterator<Item = Diagnostic>) -> Diagnostics {
        Diagnostics::of(all, MAX_WARNINGS)
    }

    /// These and others after them.
    #[must_use]
    pub(crate) fn and(mut self, others: Diagnostics) -> Diagnostics {
        self.list.extend(others.list);
        self.more += others.more + self.list.len().saturating_sub(MAX_DIAGNOSTICS);
        self.list.truncate(MAX_DIAGNOSTICS);
        self
    }

    /// These and those of others that are not among them.
    #[must_use]
    pub(crate) fn and_new(self, mut others: Diagnostics) -> Diagnostics {
        others.list.retain(|other| !self.list.contains(other));
        self.and(others)
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All as text for an agent: place, code and message, with the lines around each.
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
    use super::*;

    fn diagnostic(line: u32, message: &str) -> Diagnostic {
        Diagnostic::new(Position { line, column: 7 }, "TS2551", message)
    }

    #[test]
    fn an_agent_reads_what_where_and_how_many_more() {
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
    fn a_message_is_cut() {
        assert_eq!(diagnostic(1, &"ä".repeat(5_000)).message.chars().count(), MAX_MESSAGE + 1);
    }
}
