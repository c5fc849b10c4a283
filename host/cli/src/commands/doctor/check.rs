//! Checks and their report.

use super::super::terminal::{self, clean_line};
use capability_gen::counted::counted;
use capability_gen::shown;
use capability_gen::shown::Shown;
use serde_json::{Value, json};

/// Result of one check.
pub(super) struct Check {
    subject: String,
    state: State,
    message: String,
    fix: Option<String>,
    /// Further data for --json.
    details: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Fine,
    /// Neither good nor bad.
    Note,
    Warning,
    /// Failed, with the exit status.
    Broken(u8),
}

/// Maximum length of a message. The middle is cut: the end of a server's output says most.
const MAX_MESSAGE: usize = 600;

impl Check {
    fn new(subject: impl Into<String>, state: State, message: impl Into<String>) -> Check {
        Check { subject: subject.into(), state, message: message.into(), fix: None, details: None }
    }

    /// Creates a check that passed.
    pub(super) fn fine(subject: impl Into<String>, message: impl Into<String>) -> Check {
        Check::new(subject, State::Fine, message)
    }

    /// Creates a note.
    pub(super) fn note(subject: impl Into<String>, message: impl Into<String>) -> Check {
        Check::new(subject, State::Note, message)
    }

    /// Creates a warning.
    pub(super) fn warning(subject: impl Into<String>, message: impl Into<String>) -> Check {
        Check::new(subject, State::Warning, message)
    }

    /// Creates a check that failed, with the exit status.
    pub(super) fn broken(subject: impl Into<String>, message: impl Into<String>, status: u8) -> Check {
        Check::new(subject, State::Broken(status.max(1)), message)
    }

    /// Sets the fix.
    pub(super) fn fix(mut self, fix: impl Into<String>) -> Check {
        self.fix = Some(fix.into());
        self
    }

    /// Sets the further data.
    pub(super) fn details(mut self, details: Value) -> Check {
        self.details = Some(details);
        self
    }
}

/// All checks, in order.
#[derive(Default)]
pub(super) struct Report(Vec<Check>);

impl Report {
    /// Adds a check.
    pub(super) fn add(&mut self, check: Check) {
        self.0.push(check);
    }

    /// Adds checks.
    pub(super) fn extend(&mut self, checks: impl IntoIterator<Item = Check>) {
        self.0.extend(checks);
    }

    /// Returns the highest exit status.
    pub(super) fn exit_status(&self) -> u8 {
        let status = |check: &Check| if let State::Broken(status) = check.state { status } else { 0 };
        self.0.iter().map(status).max().unwrap_or_default()
    }

    /// Returns the report as text.
    pub(super) fn text(&self) -> Shown {
        let is_drawn =
            terminal::is_stdout_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let mut text = Shown::default();
        for check in &self.0 {
            let mark = match (check.state, is_drawn) {
                (State::Fine, true) => "\x1b[32m✓\x1b[0m",
                (State::Note, true) => "\x1b[2m-\x1b[0m",
                (State::Warning, true) => "\x1b[33m!\x1b[0m",
                (State::Broken(_), true) => "\x1b[31m✗\x1b[0m",
                (State::Fine, false) => "ok  ",
                (State::Note, false) => "-   ",
                (State::Warning, false) => "warn",
                (State::Broken(_), false) => "FAIL",
            };
            text.push(shown!("{} {}: {}\n", mark, clean_line(&check.subject), cut(&check.message)));
            if let Some(fix) = &check.fix {
                text.push(shown!("{}-> {}\n", if is_drawn { "  " } else { "     " }, cut(fix)));
            }
        }
        let count = |is_counted: fn(State) -> bool| self.0.iter().filter(|check| is_counted(check.state)).count();
        let (broken, warnings) =
            (count(|state| matches!(state, State::Broken(_))), count(|state| state == State::Warning));
        text.push(match (broken, warnings) {
            (0, 0) => "\nAll checks passed.\n".into(),
            (0, warnings) => shown!("\nNo errors, {}.\n", counted(warnings, "warning")),
            (broken, 0) => shown!("\n{}.\n", counted(broken, "error")),
            (broken, warnings) => {
                shown!("\n{}, {}.\n", counted(broken, "error"), counted(warnings, "warning"))
            }
        });
        text
    }

    /// Returns the report as JSON.
    pub(super) fn data(&self) -> Value {
        let data = |check: &Check| {
            let state = match check.state {
                State::Fine => "fine",
                State::Note => "note",
                State::Warning => "warning",
                State::Broken(_) => "broken",
            };
            let (message, fix) = (cut(&check.message), &check.fix);
            let mut data = json!({ "subject": check.subject, "state": state, "message": message, "fix": fix });
            if let Some(details) = &check.details {
                data["details"] = details.clone();
            }
            data
        };
        json!({ "ok": self.exit_status() == 0, "checks": self.0.iter().map(data).collect::<Vec<_>>() })
    }
}

fn cut(text: &str) -> Shown {
    terminal::shorten_middle(text, MAX_MESSAGE)
}

#[cfg(test)]
mod tests {
    use crate::commands::doctor::check::{Check, Report};

    #[test]
    fn the_highest_exit_status_wins_and_warnings_have_none() {
        let mut report = Report::default();
        report.extend([Check::fine("a", "x"), Check::note("b", "x"), Check::warning("c", "x").fix("do it")]);
        assert_eq!((report.exit_status(), report.data()["ok"].as_bool()), (0, Some(true)));
        assert_eq!(report.text(), "ok   a: x\n-    b: x\nwarn c: x\n     -> do it\n\nNo errors, 1 warning.\n");
        report.extend([Check::broken("d", "x", 2), Check::broken("e", "x\n\u{1b}[2J", 5)]);
        assert_eq!((report.exit_status(), report.data()["ok"].as_bool()), (5, Some(false)));
        assert!(report.text().contains("FAIL e: x <U+001B>[2J\n"), "{}", report.text());
    }

    #[test]
    fn a_long_message_keeps_its_beginning_and_its_end() {
        let text = super::cut(&format!("begin {} end", "x".repeat(100_000)));
        assert!(text.starts_with("begin") && text.ends_with("end") && text.chars().count() < 700);
    }
}
