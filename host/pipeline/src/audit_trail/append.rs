//! Waits for the recorder's queue and for the log, and entries that are not events of runs.

use super::{AuditHandle, AuditMode, Trail};
use agent_spaces_audit_log::AuditReader;
use serde_json::Value;
use std::time::Duration;

/// Maximum wait for a line to be written, where the log is required. Longer than a busy disk takes, shorter than a run
/// may take.
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum wait for room in the recorder's queue, where the log is not required.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(5);

impl Trail {
    /// Waits until the recorder's queue has room, up to [`QUEUE_TIMEOUT`].
    pub(super) async fn wait_for_room(&self) {
        let _ = tokio::time::timeout(QUEUE_TIMEOUT, self.recorder.room()).await;
    }

    /// Waits until a line is in the log and signed. `number` is its number in the recorder; `None` if its queue was full.
    ///
    /// # Errors
    /// The reason why the line is not in the log.
    pub(super) async fn wait_until_written(&self, number: Option<u64>) -> Result<(), String> {
        let why = |default: &str| self.recorder.fault().unwrap_or_else(|| default.to_owned());
        let Some(number) = number else { return Err(why("too many entries wait to be written")) };
        let written = tokio::time::timeout(WRITE_TIMEOUT, self.recorder.written(number, WRITE_TIMEOUT)).await;
        written.unwrap_or_else(|_| Err(why("writing to disk takes too long")))
    }
}

impl AuditHandle {
    /// Writes an entry that is not an event of a run, before what it describes takes effect. It has no budget: its author
    /// bounds size and number.
    ///
    /// Where the log is not required, this always succeeds: the recorder warns while it cannot write, and counts what is
    /// missing.
    ///
    /// # Errors
    /// The reason why the entry is not in the log, where the log is required. It may be written later all the same.
    pub async fn append(&self, entry: &Value) -> Result<(), String> {
        let trail = &self.0;
        if trail.mode == AuditMode::BestEffort {
            trail.wait_for_room().await;
            trail.recorder.record(entry);
            return Ok(());
        }
        // The caller is refused, so its entry is not queued: it would be written once the disk has space again,
        // although nothing took effect.
        if let Some(fault) = trail.recorder.fault() {
            trail.recorder.retry();
            return Err(fault);
        }
        trail.wait_until_written(trail.recorder.record(entry)).await
    }

    /// Returns a reader of the log.
    pub fn reader(&self) -> AuditReader {
        AuditReader::new(self.0.recorder.log_file())
    }
}

#[cfg(test)]
mod tests {
    use crate::audit_trail::{AuditBudget, AuditMode, AuditTrail};
    use agent_spaces_audit_log::{ReadLimits, ReadPosition, Settings};
    use serde_json::json;
    use std::path::Path;
    use std::time::Duration;

    fn open(folder: &Path, mode: AuditMode) -> AuditTrail {
        let settings = Settings {
            log: folder.join("log/log.jsonl"),
            heads: folder.join("heads"),
            sync_every: Duration::from_secs(1),
            rotation: None,
            shipping: None,
            host: None,
        };
        AuditTrail::open(settings, mode, AuditBudget::default()).unwrap()
    }

    #[tokio::test]
    async fn an_appended_entry_can_be_read_at_once_where_the_log_is_required() {
        let folder = tempfile::tempdir().unwrap();
        let trail = open(folder.path(), AuditMode::Required);
        let entry = json!({ "type": "apiAction", "action": "space.created" });
        trail.handle().append(&entry).await.unwrap();
        let limits = ReadLimits { bytes: 1 << 20, entries: 10 };
        let page = trail.handle().reader().read(ReadPosition::default(), limits).unwrap();
        assert_eq!(page.entries.iter().map(|read| &read.entry).collect::<Vec<_>>(), [&entry]);
    }

    #[tokio::test]
    async fn a_log_that_cannot_be_written_refuses_entries_only_where_it_is_required() {
        for mode in [AuditMode::Required, AuditMode::BestEffort] {
            let folder = tempfile::tempdir().unwrap();
            let (log, away) = (folder.path().join("log"), folder.path().join("away"));
            let trail = open(folder.path(), mode);
            let handle = trail.handle();
            handle.append(&json!({ "type": "first" })).await.unwrap();
            handle.0.wait_until_written(Some(1)).await.unwrap();
            std::fs::rename(&log, &away).unwrap();
            handle.0.recorder.record(&json!({ "type": "second" }));
            for _ in 0..1000 {
                if handle.0.recorder.fault().is_some() {
                    break;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            assert!(handle.0.recorder.fault().is_some(), "it cannot be written");
            let appended = handle.append(&json!({ "type": "apiAction" })).await;
            assert_eq!(appended.is_err(), mode == AuditMode::Required, "{mode:?} {appended:?}");
            // The writer may have made the folder again; it is empty then.
            std::fs::rename(&away, &log).unwrap();
            drop(trail);
            let written = std::fs::read_to_string(log.join("log.jsonl")).unwrap();
            assert_eq!(written.contains("apiAction"), mode == AuditMode::BestEffort, "what was refused is not written");
            assert!(written.contains("second"), "{written}");
        }
    }
}
