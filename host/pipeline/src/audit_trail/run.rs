//! Recorder of one run's events, and admission of its calls.

use super::budget::{CountedFunction, RunBudget};
use super::entry::entry;
use super::{AuditMode, Trail};
use agent_spaces_calls::record::{RunRecord, Waiting};
use agent_spaces_types::event::{Event, EventKind};
use serde_json::json;
use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Audit state of one run, or of one call that the host makes itself.
pub(super) struct RunAudit {
    trail: Arc<Trail>,
    budget: Arc<RunBudget>,
    /// True unless the run answers a call of another run. Start and end of an outermost run are always written.
    is_outermost: bool,
    /// Calls in progress, by number.
    calls: Mutex<HashMap<u64, Intent>>,
}

/// A call in progress.
struct Intent {
    function: CountedFunction,
    line: Line,
}

/// Form in which the log holds a call.
#[derive(Clone, Copy)]
enum Line {
    /// Number in the recorder; `None` if its queue was full.
    Written(Option<u64>),
    /// Only counted, beyond the budget.
    Counted,
}

impl RunAudit {
    pub(super) fn new(
        trail: Arc<Trail>,
        run_id: Arc<str>,
        caller: Option<Arc<str>>,
        parent: Option<Arc<RunBudget>>,
    ) -> RunAudit {
        let is_outermost = parent.is_none();
        let budget = parent.unwrap_or_else(|| Arc::new(RunBudget::new(trail.clone(), run_id, caller)));
        RunAudit { trail, budget, is_outermost, calls: Mutex::default() }
    }

    /// Returns the log budget, which runs that answer this run's calls share.
    pub(super) fn budget(&self) -> &Arc<RunBudget> {
        &self.budget
    }

    /// Writes an event, or counts it.
    fn write(&self, event: &Event) {
        match &event.kind {
            EventKind::Console { .. } | EventKind::CallProgress { .. } => {}
            EventKind::CallScheduled { call_id, function_id, capability, function, .. } => {
                let (capability, function) = (capability.clone(), function.clone());
                let function = CountedFunction { id: Some(function_id.clone()), capability, function };
                let line = match self.budget.has_room_for(&function) {
                    true => Line::Written(self.budget.write(&entry(event))),
                    false => {
                        self.budget.count_call(&function);
                        Line::Counted
                    }
                };
                self.calls().insert(*call_id, Intent { function, line });
            }
            EventKind::CallResult { call_id, .. } => self.end_call(event, *call_id, "ok"),
            EventKind::CallError { call_id, code, .. } => self.end_call(event, *call_id, code),
            EventKind::RunFinished { .. } if self.is_outermost => {
                self.budget.summarise();
                let mut entry = entry(event);
                let counted = self.budget.counted();
                if counted > 0 {
                    entry["audit"] = json!({ "summarised": counted });
                }
                self.budget.write(&entry);
            }
            EventKind::RunStarted { .. } | EventKind::LimitReached { .. } if self.is_outermost => {
                self.budget.write(&entry(event));
            }
            _ if self.budget.is_spent() => self.budget.count_event(event.kind.name()),
            _ => {
                self.budget.write(&entry(event));
            }
        }
    }

    /// Writes the outcome of a call, or counts it if the call was counted.
    fn end_call(&self, event: &Event, call_id: u64, outcome: &str) {
        let intent = self.calls().remove(&call_id);
        match intent {
            Some(Intent { function, line: Line::Counted }) => {
                self.budget.count_outcome(&function, outcome);
            }
            _ => {
                self.budget.write(&entry(event));
            }
        }
    }

    /// Waits until the log admits a call.
    ///
    /// # Errors
    /// The reason why the call's line is not in the log, where the log is required.
    async fn admit_call(&self, call_id: u64) -> Result<(), String> {
        if self.trail.mode == AuditMode::BestEffort {
            self.trail.wait_for_room().await;
            return Ok(());
        }
        let line = self.calls().get(&call_id).map(|intent| intent.line);
        match line {
            Some(Line::Written(number)) => self.trail.wait_until_written(number).await,
            // Its summary is written later; the writer must be healthy now.
            Some(Line::Counted) => self.trail.recorder.fault().map_or(Ok(()), Err),
            None => Err("the call was not recorded".to_owned()),
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, Intent>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunRecord for RunAudit {
    fn note(&self, event: &Event) {
        self.write(event);
    }

    fn room(&self) -> Waiting<'_, ()> {
        Box::pin(self.trail.wait_for_room())
    }

    fn admit(&self, call_id: u64) -> Waiting<'_, Result<(), String>> {
        Box::pin(self.admit_call(call_id))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl fmt::Debug for RunAudit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunAudit").field("budget", &self.budget).finish_non_exhaustive()
    }
}
