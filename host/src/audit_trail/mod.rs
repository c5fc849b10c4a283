//! Events of runs, written to the audit log.
//!
//! - `entry`: what the log holds of an event.
//! - `budget`: how much of the log one run may take, and what is counted beyond that.
//! - `run`: the events of one run on their way to the log, and whether a call may be made.
//!
//! A call's `callScheduled` is its intent, queued before anything else happens to the call; `callResult` or `callError`
//! is its outcome. Where the log is required, a call reaches its provider only when its intent is in the log and signed.

mod budget;
mod entry;
mod run;

pub use budget::AuditBudget;
pub(crate) use budget::Ledger;
pub(crate) use run::RunAudit;

use crate::run::Caller;
use agent_spaces_audit_log::{AuditError, Recorder, Settings};
use std::fmt;
use std::sync::Arc;

/// Writes what runs do to an audit log. Dropping it waits some seconds until everything is written.
///
/// What scripts print is not in the log, and neither is what calls answer.
pub struct AuditTrail(AuditHandle);

/// What a space's events go to: see [`Space::with_audit`](crate::Space::with_audit). Clones are one.
#[derive(Clone)]
pub struct AuditHandle(Arc<Trail>);

struct Trail {
    recorder: Recorder,
    mode: AuditMode,
    budget: AuditBudget,
}

/// What happens to calls while the log cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditMode {
    /// They are made. What is missing from the log is told there later.
    #[default]
    BestEffort,
    /// They are refused.
    Required,
}

impl AuditTrail {
    /// Opens a log. `warn` is told when it cannot be written, and when it can again.
    ///
    /// # Errors
    /// Why it cannot be written, where it is required. Otherwise it is tried again, and `warn` is told.
    pub fn open(
        settings: Settings,
        mode: AuditMode,
        budget: AuditBudget,
        warn: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<AuditTrail, AuditError> {
        let recorder = match mode {
            AuditMode::BestEffort => Recorder::open_or_retry(settings, warn),
            AuditMode::Required => Recorder::open(settings, warn)?,
        };
        Ok(AuditTrail(AuditHandle(Arc::new(Trail { recorder, mode, budget }))))
    }

    /// What spaces are given.
    pub fn handle(&self) -> AuditHandle {
        self.0.clone()
    }
}

impl Drop for AuditTrail {
    fn drop(&mut self) {
        self.0.0.recorder.close();
    }
}

impl AuditHandle {
    /// For a run. One that answers a call of another run shares what that may take of the log.
    pub(crate) fn run(&self, run_id: &Arc<str>, caller: &Caller, parent: Option<Arc<Ledger>>) -> RunAudit {
        RunAudit::new(self.0.clone(), run_id.clone(), caller.name.as_deref().map(Arc::from), parent)
    }
}

impl fmt::Debug for AuditHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuditHandle").field("mode", &self.0.mode).finish_non_exhaustive()
    }
}
