//! Events of runs, and actions of callers, written to the audit log.
//!
//! - `entry`: log entry of an event.
//! - `budget`: log budget of one run, and the counts that are written beyond it.
//! - `run`: recorder of one run's events, and admission of its calls.
//! - `append`: other entries, and waits for the log.
//!
//! A call's `callScheduled` is its intent, queued before any other step; `callResult` or `callError` is its outcome. Where
//! the log is required, a call reaches its provider only after its intent is in the log and signed.

mod append;
mod budget;
mod entry;
mod run;

pub use budget::AuditBudget;
use run::RunAudit;

use agent_spaces_audit_log::{AuditError, Recorder, Settings};
use agent_spaces_calls::record::{RunRecord, RunRecorder};
use agent_spaces_types::caller::Caller;
use std::fmt;
use std::sync::Arc;

/// Writer of run events to an audit log. Dropping it waits some seconds until everything is written.
///
/// The log holds neither console output of scripts nor results of calls.
pub struct AuditTrail(AuditHandle);

/// Handle to an [`AuditTrail`] for `SpaceBuilder::audit`. Clones share the trail.
#[derive(Clone)]
pub struct AuditHandle(Arc<Trail>);

struct Trail {
    recorder: Recorder,
    mode: AuditMode,
    budget: AuditBudget,
}

/// Handling of calls while the log cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditMode {
    /// Calls proceed. The log later reports what is missing.
    #[default]
    BestEffort,
    /// Calls are refused.
    Required,
}

impl AuditTrail {
    /// Opens a log. When writing begins to fail, and when it works again, the operator is warned: see
    /// [`OPERATOR_TARGET`](crate::OPERATOR_TARGET).
    ///
    /// # Errors
    /// With [`AuditMode::Required`], if the log cannot be opened. Otherwise opening is retried, after a warning.
    pub fn open(settings: Settings, mode: AuditMode, budget: AuditBudget) -> Result<AuditTrail, AuditError> {
        let recorder = match mode {
            AuditMode::BestEffort => Recorder::open_or_retry(settings),
            AuditMode::Required => Recorder::open(settings)?,
        };
        Ok(AuditTrail(AuditHandle(Arc::new(Trail { recorder, mode, budget }))))
    }

    /// Returns a handle for spaces.
    pub fn handle(&self) -> AuditHandle {
        self.0.clone()
    }
}

impl Drop for AuditTrail {
    fn drop(&mut self) {
        self.0.0.recorder.close();
    }
}

impl RunRecorder for AuditHandle {
    /// Starts the record of a run. A run that answers a call of another run shares its log budget.
    fn begin(&self, run_id: &Arc<str>, caller: &Caller, parent: Option<&Arc<dyn RunRecord>>) -> Arc<dyn RunRecord> {
        let above = parent.and_then(|parent| parent.as_any().downcast_ref::<RunAudit>());
        let (trail, caller) = (self.0.clone(), caller.name.as_deref().map(Arc::from));
        Arc::new(RunAudit::new(trail, run_id.clone(), caller, above.map(|above| above.budget().clone())))
    }
}

impl fmt::Debug for AuditHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("AuditHandle").field("mode", &self.0.mode).finish_non_exhaustive()
    }
}
