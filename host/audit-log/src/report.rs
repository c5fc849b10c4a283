//! Verdict of a verification, for people and programs.

use crate::error::{AuditError, Tampered};
use crate::verify::{Verification, Verified};

/// Verdict of a verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No line was changed, and none is missing.
    Unchanged,
    /// No line was changed, but entries could not be written.
    Gaps,
    /// No line was changed, but some are missing: lost in a crash, or truncated.
    Missing,
    /// It differs from what was signed.
    Changed,
}

/// Result of a verification with its verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The verdict.
    pub verdict: Verdict,
    /// Its numbers; `None` if the log was changed.
    pub verified: Option<Verified>,
    /// First line that differs from what was signed.
    pub line: Option<u64>,
    /// Description of the fault; `None` if there is none.
    pub message: Option<String>,
}

impl Verdict {
    /// Its name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::Unchanged => "unchanged",
            Verdict::Gaps => "gaps",
            Verdict::Missing => "missing",
            Verdict::Changed => "changed",
        }
    }
}

impl Report {
    /// Report on an untampered log. Entries may be missing, because of a crash or tampering; entries that could not be
    /// written are counted by the log itself.
    fn whole(verified: Verified) -> Report {
        let lost = verified.lost;
        let unlogged = verified.gaps.saturating_add(verified.unwritten);
        let missing = format!("at least {lost} more are missing: lost in a crash, or truncated");
        let gap = format!("no line was changed, but {unlogged} more could not be written: the log has gaps");
        let (verdict, message) = match (lost, unlogged) {
            (0, 0) => (Verdict::Unchanged, None),
            (0, _) => (Verdict::Gaps, Some(gap)),
            (_, 0) => (Verdict::Missing, Some(missing)),
            _ => (Verdict::Missing, Some(format!("{missing}; {unlogged} more could not be written"))),
        };
        Report { verdict, verified: Some(verified), line: None, message }
    }

    fn changed(Tampered { line, message }: Tampered) -> Report {
        Report { verdict: Verdict::Changed, verified: None, line, message: Some(message) }
    }
}

impl Verification<'_> {
    /// As [`Verification::check`], with a verdict: a log that was changed is no error here.
    ///
    /// # Errors
    /// The reason why it cannot be verified.
    pub fn report(&self) -> Result<Report, AuditError> {
        match self.check() {
            Ok(verified) => Ok(Report::whole(verified)),
            Err(AuditError::Tampered(tampered)) => Ok(Report::changed(tampered)),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_entries_count_more_than_unwritten_ones() {
        let verdict = |lost, gaps, unwritten| {
            let report = Report::whole(Verified { lost, gaps, unwritten, ..Verified::default() });
            assert_eq!(report.message.is_some(), report.verdict != Verdict::Unchanged, "{report:?}");
            report.verdict
        };
        assert_eq!(verdict(0, 0, 0), Verdict::Unchanged);
        assert_eq!((verdict(0, 1, 0), verdict(0, 0, 1)), (Verdict::Gaps, Verdict::Gaps));
        assert_eq!((verdict(1, 0, 0), verdict(1, 2, 3)), (Verdict::Missing, Verdict::Missing));
        let changed = Report::changed(Tampered { line: Some(4), message: "was changed".to_owned() });
        assert_eq!((changed.verdict.as_str(), changed.line, changed.verified), ("changed", Some(4), None));
    }
}
