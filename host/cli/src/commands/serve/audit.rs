//! Audit log of the session for the REST API.

use agent_spaces::AuditHandle;
use agent_spaces::rest::audit::{
    ApiAction, AuditFault, AuditLimits, AuditLine, AuditLines, AuditLog, AuditPosition, Auditing,
};
use agent_spaces_audit_log::{AuditReader, ReadEntry, ReadLimits, ReadPage, ReadPosition};
use std::fmt::Display;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Reads at once: each parses up to a megabyte, and callers may ask as often as they like.
const MAX_READS: usize = 2;

/// Audit log of the session.
pub(super) struct ServedAuditLog {
    handle: AuditHandle,
    reader: AuditReader,
    reads: Semaphore,
}

impl ServedAuditLog {
    /// Serves the log of a handle.
    pub(super) fn shared(handle: AuditHandle) -> Arc<dyn AuditLog> {
        let reader = handle.reader();
        Arc::new(ServedAuditLog { handle, reader, reads: Semaphore::new(MAX_READS) })
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
}

fn lines(page: ReadPage) -> AuditLines {
    let line = |read: ReadEntry| {
        let ReadEntry { seq, time, entry, after } = read;
        AuditLine { seq, time, entry, after: position(after) }
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
    use agent_spaces::rest::audit::AuditLimits;
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
        };
        let trail = AuditTrail::open(settings, AuditMode::Required, AuditBudget::default()).unwrap();
        for number in 1..=3 {
            trail.handle().append(&json!({ "type": "test", "number": number })).await.unwrap();
        }
        let log = ServedAuditLog::shared(trail.handle());
        let first = log.read(None, AuditLimits { bytes: 1 << 20, entries: 2 }).await.unwrap();
        assert_eq!((first.lines.len(), first.is_end), (2, false));
        let rest = log.read(Some(first.next), AuditLimits { bytes: 1 << 20, entries: 2 }).await.unwrap();
        assert_eq!((rest.lines[0].seq, &rest.lines[0].entry["number"], rest.is_end), (3, &json!(3), true));
    }
}
