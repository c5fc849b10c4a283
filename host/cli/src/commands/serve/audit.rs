//! Audit log of the session for the REST API.

use agent_spaces::AuditHandle;
use agent_spaces::rest::audit::{
    ApiAction, AuditFault, AuditLimits, AuditLine, AuditLines, AuditLog, AuditPosition, AuditVerdict,
    AuditVerification, Auditing,
};
use agent_spaces_audit_log::{
    AuditReader, ReadEntry, ReadLimits, ReadPage, ReadPosition, Report, Verdict, Verification, Verified,
};
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Reads at once: each parses up to a megabyte, and callers may ask as often as they like.
const MAX_READS: usize = 2;

/// Audit log of the session.
pub(super) struct ServedAuditLog {
    handle: AuditHandle,
    reader: AuditReader,
    reads: Semaphore,
    /// The log and the folder of its heads.
    files: Option<(PathBuf, PathBuf)>,
    /// One verification at once: each reads all of the log.
    verifications: Arc<Semaphore>,
}

impl ServedAuditLog {
    /// Serves the log of a handle. `files` are the log and the folder of its heads.
    pub(super) fn shared(handle: AuditHandle, files: Option<(PathBuf, PathBuf)>) -> Arc<dyn AuditLog> {
        let reader = handle.reader();
        let (reads, verifications) = (Semaphore::new(MAX_READS), Arc::new(Semaphore::new(1)));
        Arc::new(ServedAuditLog { handle, reader, reads, files, verifications })
    }
}

impl AuditLog for ServedAuditLog {
    fn record(&self, action: ApiAction) -> Auditing<'_, ()> {
        Box::pin(async move {
            let entry = serde_json::to_value(&action).map_err(fault)?;
            self.handle.append(&entry).await.map_err(AuditFault)
        })
    }

    fn read(&self, from: Option<AuditPosition>, limits: AuditLimits) -> Auditing<'_, AuditLines> {
        Box::pin(async move {
            let _turn = self.reads.acquire().await.map_err(fault)?;
            let from = from.map(|AuditPosition { file, offset }| ReadPosition { file, offset }).unwrap_or_default();
            let limits = ReadLimits { bytes: limits.bytes, entries: limits.entries };
            let reader = self.reader.clone();
            let read = tokio::task::spawn_blocking(move || reader.read(from, limits)).await.map_err(fault)?;
            read.map(lines).map_err(fault)
        })
    }

    fn read_newest(&self, before: Option<AuditPosition>, limits: AuditLimits) -> Auditing<'_, AuditLines> {
        Box::pin(async move {
            let _turn = self.reads.acquire().await.map_err(fault)?;
            let before = before.map(|AuditPosition { file, offset }| ReadPosition { file, offset });
            let limits = ReadLimits { bytes: limits.bytes, entries: limits.entries };
            let reader = self.reader.clone();
            let read = tokio::task::spawn_blocking(move || reader.read_newest(before, limits)).await.map_err(fault)?;
            read.map(lines).map_err(fault)
        })
    }

    fn verify(&self) -> Auditing<'_, Option<AuditVerification>> {
        Box::pin(async move {
            let Some((log, heads)) = self.files.clone() else {
                return Err(AuditFault("there is no home folder that has the log".to_owned()));
            };
            let Ok(turn) = self.verifications.clone().try_acquire_owned() else { return Ok(None) };
            let verifying = tokio::task::spawn_blocking(move || {
                // Held until it is done, even if nobody waits for it any more.
                let _turn = turn;
                Verification { log: &log, heads: &heads, is_copy: false, shipped: None }.report()
            });
            verifying.await.map_err(fault)?.map(|report| Some(verification(report))).map_err(fault)
        })
    }
}

fn verification(report: Report) -> AuditVerification {
    let Report { verdict, verified, line, message } = report;
    let count = |count: fn(&Verified) -> u64| verified.as_ref().map(count);
    AuditVerification {
        ok: verdict == Verdict::Unchanged,
        verdict: match verdict {
            Verdict::Unchanged => AuditVerdict::Unchanged,
            Verdict::Gaps => AuditVerdict::Gaps,
            Verdict::Missing => AuditVerdict::Missing,
            Verdict::Changed => AuditVerdict::Changed,
        },
        entries: count(|found| found.entries),
        files: count(|found| found.files),
        recovered: count(|found| found.recovered),
        lost: count(|found| found.lost),
        gaps: count(|found| found.gaps),
        unwritten: count(|found| found.unwritten),
        waiting: count(|found| found.waiting),
        removed: count(|found| found.removed),
        line,
        message,
    }
}

fn lines(page: ReadPage) -> AuditLines {
    let line = |read: ReadEntry| {
        let ReadEntry { seq, time, entry, before, after } = read;
        AuditLine { seq, time, entry, before: position(before), after: position(after) }
    };
    let ReadPage { entries, next, is_end, scanned } = page;
    AuditLines { lines: entries.into_iter().map(line).collect(), next: position(next), is_end, scanned }
}

fn position(at: ReadPosition) -> AuditPosition {
    AuditPosition { file: at.file, offset: at.offset }
}

fn fault(error: impl Display) -> AuditFault {
    AuditFault(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::ServedAuditLog;
    use agent_spaces::rest::audit::{AuditLimits, AuditVerdict};
    use agent_spaces::{AuditBudget, AuditMode, AuditTrail};
    use agent_spaces_audit_log::Settings;
    use serde_json::json;
    use std::time::Duration;

    #[tokio::test]
    async fn entries_of_the_session_are_read_page_by_page() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings {
            log: folder.path().join("log/log.jsonl"),
            heads: folder.path().join("heads"),
            sync_every: Duration::from_secs(1),
            rotation: None,
            shipping: None,
            host: None,
        };
        let files = Some((settings.log.clone(), settings.heads.clone()));
        let trail = AuditTrail::open(settings, AuditMode::Required, AuditBudget::default()).unwrap();
        for number in 1..=3 {
            trail.handle().append(&json!({ "type": "test", "number": number })).await.unwrap();
        }
        let log = ServedAuditLog::shared(trail.handle(), files);
        let first = log.read(None, AuditLimits { bytes: 1 << 20, entries: 2 }).await.unwrap();
        assert_eq!((first.lines.len(), first.is_end), (2, false));
        let rest = log.read(Some(first.next), AuditLimits { bytes: 1 << 20, entries: 2 }).await.unwrap();
        assert_eq!((rest.lines[0].seq, &rest.lines[0].entry["number"], rest.is_end), (3, &json!(3), true));
        let newest = log.read_newest(None, AuditLimits { bytes: 1 << 20, entries: 1 }).await.unwrap();
        assert_eq!((newest.lines[0].seq, newest.is_end), (3, false));
        let verified = log.verify().await.unwrap().unwrap();
        assert_eq!((verified.ok, verified.verdict, verified.entries), (true, AuditVerdict::Unchanged, Some(3)));
    }
}
