//! One thing that was looked at, and how all of them are shown.

use super::super::terminal::{self, clean_line};
use capability_gen::counted::counted;
use capability_gen::shown;
use capability_gen::shown::Shown;
use serde_json::{Value, json};

/// One thing that was looked at.
pub(super) struct Check {
    subject: String,
    mark: Mark,
    message: String,
    fix: Option<String>,
    /// The same for programs, where they want to know more than its state.
    details: Option<Value>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Fine,
    /// Nothing to judge.
    Note,
    Warning,
    /// With the exit status that says so.
    Broken(u8),
}

/// Longest message: a server's last words may be of any length, and the end of them says most.
const MAX_MESSAGE: usize = 600;

impl Check {
    fn new(subject: impl Into<String>, mark: Mark, message: impl Into<String>) -> Check {
        Check { subject: subject.into(), mark, message: message.into(), fix: None, details: None }
    }

    pub(super) fn fine(subject: impl Into<String>, message: impl Into<String>) -> Check {
        Check::new(subject, Mark::Fine, message)
    }

    pub(super) fn note(subject: impl Into<String>, message: impl Into<String>) -> Check {
        Check::new(subject, Mark::Note, message)
    }

    pub(super) fn warning(subject: impl Into<String>, message: impl Into<String>) -> Check {
        Check::new(subject, Mark::Warning, message)
    }

    pub(super) fn broken(subject: impl Into<String>, message: impl Into<String>, status: u8) -> Check {
        Check::new(subject, Mark::Broken(status.max(1)), message)
    }

    /// What to do about it.
    pub(super) fn fix(mut self, fix: impl Into<String>) -> Check {
        self.fix = Some(fix.into());
        self
    }

    /// What programs read of it.
    pub(super) fn details(mut self, details: Value) -> Check {
        self.details = Some(details);
        self
    }
}

/// All that was looked at, in order.
#[derive(Default)]
pub(super) struct Report(Vec<Check>);

impl Report {
    pub(super) fn add(&mut self, check: Check) {
        self.0.push(check);
    }

    pub(super) fn extend(&mut self, checks: impl IntoIterator<Item = Check>) {
        self.0.extend(checks);
    }

    /// The worst of them.
    pub(super) fn exit_status(&self) -> u8 {
        let status = |check: &Check| if let Mark::Broken(status) = check.mark { status } else { 0 };
        self.0.iter().map(status).max().unwrap_or_default()
    }

    pub(super) fn text(&self) -> Shown {
        let is_drawn = terminal::is_printed() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let mut text = Shown::default();
        for check in &self.0 {
            let mark = match (check.mark, is_drawn) {
                (Mark::Fine, true) => "\x1b[32m✓\x1b[0m",
                (Mark::Note, true) => "\x1b[2m-\x1b[0m",
                (Mark::Warning, true) => "\x1b[33m!\x1b[0m",
                (Mark::Broken(_), true) => "\x1b[31m✗\x1b[0m",
                (Mark::Fine, false) => "ok  ",
                (Mark::Note, false) => "-   ",
                (Mark::Warning, false) => "warn",
                (Mark::Broken(_), false) => "FAIL",
            };
            text.push(shown!("{} {}: {}\n", mark, clean_line(&check.subject), cut(&check.message)));
            if let Some(fix) = &check.fix {
                text.push(shown!("{}-> {}\n", if is_drawn { "  " } else { "     " }, cut(fix)));
            }
        }
        let count = |is_counted: fn(Mark) -> bool| self.0.iter().filter(|check| is_counted(check.mark)).count();
        let (broken, warnings) = (count(|mark| matches!(mark, Mark::Broken(_))), count(|mark| mark == Mark::Warning));
        text.push(match (broken, warnings) {
            (0, 0) => "\nAll is well.\n".into(),
            (0, warnings) => shown!("\nIt works, with {}.\n", counted(warnings, "warning")),
            (broken, 0) => shown!("\n{} to repair.\n", counted(broken, "thing")),
            (broken, warnings) => {
                shown!("\n{} to repair, and {}.\n", counted(broken, "thing"), counted(warnings, "warning"))
            }
        });
        text
    }

    pub(super) fn data(&self) -> Value {
        let data = |check: &Check| {
            let state = match check.mark {
                Mark::Fine => "fine",
                Mark::Note => "note",
                Mark::Warning => "warning",
                Mark::Broken(_) => "broken",
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
    terminal::cut_within(text, MAX_MESSAGE)
}

#[cfg(test)]
mod tests {
    use super::{Check, Report};

    #[test]
    fn the_worst_decides_and_warnings_do_not() {
        let mut report = Report::default();
        report.extend([Check::fine("a", "x"), Check::note("b", "x"), Check::warning("c", "x").fix("do it")]);
        assert_eq!((report.exit_status(), report.data()["ok"].as_bool()), (0, Some(true)));
        assert_eq!(report.text(), "ok   a: x\n-    b: x\nwarn c: x\n     -> do it\n\nIt works, with 1 warning.\n");
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
