//! Events of runs, written to the audit log in the background.

use crate::events::{Event, EventKind, Observer};
use agent_spaces_approvals::{canonical, digest};
use agent_spaces_audit_log::{AuditError, AuditLog};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// Parameters up to this size are in the log; of larger ones only their size and hash are.
const MAX_PARAMS: usize = 4 * 1024;

/// How many entries are written at one time.
const MAX_BATCH: usize = 256;

/// Writes what runs do to an audit log. Dropping it waits until everything is written.
///
/// What scripts print is not in the log, and neither is what calls answer.
pub struct AuditTrail {
    sender: Arc<Mutex<Option<Sender<Value>>>>,
    writer: Option<JoinHandle<()>>,
}

impl AuditTrail {
    /// Appends to a log whose signed head is kept in a folder apart from it. `warn` is told once if writing fails
    /// later.
    pub fn open(log: &Path, heads: &Path, warn: impl Fn(&str) + Send + 'static) -> Result<AuditTrail, AuditError> {
        let log = AuditLog::open(log, heads)?;
        let (sender, entries) = channel();
        let writer = std::thread::Builder::new().name("audit log".into()).spawn(move || write(&log, &entries, warn));
        Ok(AuditTrail { sender: Arc::new(Mutex::new(Some(sender))), writer: writer.ok() })
    }

    /// What tells it of events.
    pub fn observer(&self) -> Arc<Observer> {
        let sender = self.sender.clone();
        Arc::new(move |event: &Event| {
            if let Some(entry) = entry(event)
                && let Some(sender) = &*sender.lock().unwrap_or_else(PoisonError::into_inner)
            {
                // The writer ends before its time only when it cannot write, and has said so.
                let _ = sender.send(entry);
            }
        })
    }
}

impl Drop for AuditTrail {
    fn drop(&mut self) {
        self.sender.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

fn write(log: &AuditLog, entries: &Receiver<Value>, warn: impl Fn(&str)) {
    while let Ok(first) = entries.recv() {
        let batch: Vec<Value> = std::iter::once(first).chain(entries.try_iter().take(MAX_BATCH - 1)).collect();
        if let Err(error) = log.append(&batch) {
            return warn(&format!("the audit log is no longer written: {error}"));
        }
    }
}

/// What the log holds of an event.
fn entry(event: &Event) -> Option<Value> {
    if matches!(event.kind, EventKind::Console { .. } | EventKind::CallProgress { .. }) {
        return None;
    }
    let mut entry = serde_json::to_value(event).ok()?;
    if let EventKind::CallScheduled { capability, function, params, .. }
    | EventKind::ApprovalRequired { capability, function, params, .. } = &event.kind
    {
        let size = canonical(params).len();
        entry["digest"] = digest(capability, function, params).into();
        if size > MAX_PARAMS {
            entry["params"] = json!({ "$omitted": size });
        }
    }
    Some(entry)
}
