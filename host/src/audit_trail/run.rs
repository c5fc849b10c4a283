//! The events of one run on their way to the log, and whether its calls may be made.

use super::budget::{CountedFunction, Ledger};
use super::entry::{entry, type_of};
use super::{AuditMode, Trail};
use crate::events::{Event, EventKind, Observer};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a call waits for its line to be written, where the log is required. Longer than a busy disk takes, shorter than
/// a run may.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long a run waits for a writer that is behind, where the log is not required.
const ROOM_WAIT: Duration = Duration::from_secs(5);

/// One run, or one call that no script makes.
pub(crate) struct RunAudit {
    trail: Arc<Trail>,
    ledger: Arc<Ledger>,
    /// Whether it answers no call of another run. Then its beginning and its end are always written.
    is_outermost: bool,
    /// Calls that have not ended, by their numbers.
    calls: Mutex<HashMap<u64, Intent>>,
}

/// A call that has begun.
struct Intent {
    function: CountedFunction,
    line: Line,
}

#[derive(Clone, Copy)]
enum Line {
    /// With its number in the recorder, if there was room for it.
    Written(Option<u64>),
    Counted,
}

impl RunAudit {
    pub(super) fn new(
        trail: Arc<Trail>,
        run_id: Arc<str>,
        caller: Option<Arc<str>>,
        parent: Option<Arc<Ledger>>,
    ) -> RunAudit {
        let is_outermost = parent.is_none();
        let ledger = parent.unwrap_or_else(|| Arc::new(Ledger::new(trail.clone(), run_id, caller)));
        RunAudit { trail, ledger, is_outermost, calls: Mutex::default() }
    }

    /// What is told of a run's events: its audit, and whoever else wants to know.
    pub(crate) fn observing(audit: Option<&Arc<RunAudit>>, observer: Option<Arc<Observer>>) -> Option<Arc<Observer>> {
        let Some(audit) = audit.cloned() else { return observer };
        Some(Arc::new(move |event: &Event| {
            if let Some(observer) = &observer {
                observer(event);
            }
            audit.note(event);
        }))
    }

    /// What the runs that answer its calls share.
    pub(crate) fn ledger(&self) -> &Arc<Ledger> {
        &self.ledger
    }

    /// Writes an event, or counts it.
    fn note(&self, event: &Event) {
        match &event.kind {
            EventKind::Console { .. } | EventKind::CallProgress { .. } => {}
            EventKind::CallScheduled { call_id, function_id, capability, function, .. } => {
                let (capability, function) = (capability.clone(), function.clone());
                let function = CountedFunction { id: Some(function_id.clone()), capability, function };
                let line = match self.ledger.has_room_for(&function) {
                    true => Line::Written(self.ledger.write(&entry(event))),
                    false => {
                        self.ledger.count_call(&function);
                        Line::Counted
                    }
                };
                self.calls().insert(*call_id, Intent { function, line });
            }
            EventKind::CallResult { call_id, .. } => self.end_call(event, *call_id, "ok"),
            EventKind::CallError { call_id, code, .. } => self.end_call(event, *call_id, code),
            EventKind::RunFinished { .. } if self.is_outermost => {
                self.ledger.summarise();
                let mut entry = entry(event);
                let counted = self.ledger.counted();
                if counted > 0 {
                    entry["audit"] = json!({ "summarised": counted });
                }
                self.ledger.write(&entry);
            }
            EventKind::RunStarted { .. } | EventKind::LimitReached { .. } if self.is_outermost => {
                self.ledger.write(&entry(event));
            }
            _ if self.ledger.is_spent() => self.ledger.count_event(type_of(event)),
            _ => {
                self.ledger.write(&entry(event));
            }
        }
    }

    /// The outcome of a call whose intent is written is written too.
    fn end_call(&self, event: &Event, call_id: u64, outcome: &str) {
        let intent = self.calls().remove(&call_id);
        match intent {
            Some(Intent { function, line: Line::Counted }) => {
                self.ledger.count_outcome(&function, outcome);
            }
            _ => {
                self.ledger.write(&entry(event));
            }
        }
    }

    /// Waits until the log has room for what a run does, for some seconds.
    pub(crate) async fn room(&self) {
        let _ = tokio::time::timeout(ROOM_WAIT, self.trail.recorder.room()).await;
    }

    /// Waits until a call may be made.
    ///
    /// # Errors
    /// Why its line is not in the log, where the log is required.
    pub(crate) async fn admit(&self, call_id: u64) -> Result<(), String> {
        if self.trail.mode == AuditMode::BestEffort {
            self.room().await;
            return Ok(());
        }
        let recorder = &self.trail.recorder;
        let why = |default: &str| recorder.fault().unwrap_or_else(|| default.to_owned());
        let line = self.calls().get(&call_id).map(|intent| intent.line);
        match line {
            Some(Line::Written(Some(number))) => {
                let written = tokio::time::timeout(PATIENCE, recorder.written(number, PATIENCE)).await;
                written.unwrap_or_else(|_| Err(why("the disk takes too long")))
            }
            Some(Line::Written(None)) => Err(why("too many entries wait to be written")),
            // Its counts are written later. That works, as far as is known.
            Some(Line::Counted) => recorder.fault().map_or(Ok(()), Err),
            None => Err("the call was not recorded".to_owned()),
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<u64, Intent>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
