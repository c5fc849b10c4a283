//! Settings that all runs of a space share.

use crate::approval::{MAX_PENDING, Pending};
use crate::events::Observer;
use crate::operator_notices::Notices;
use crate::record::{RunRecord, RunRecorder};
use agent_spaces_secrets::Redactor;
use agent_spaces_types::event::Event;
use agent_spaces_types::limits::Limits;
use std::sync::Arc;

/// Settings that all runs of a space share; clones share their state.
#[derive(Clone)]
pub struct RunRules {
    /// Limits of runs that set none of their own.
    pub limits: Limits,
    /// Callback for every event of every run.
    pub observer: Option<Arc<Observer>>,
    /// Recorder of every event of every run.
    pub recorder: Option<Arc<dyn RunRecorder>>,
    /// Redactor of everything that is shown of the runs.
    pub redactor: Redactor,
    /// Notices to the operator.
    pub notices: Notices,
    /// Maximum pending approval requests of one run.
    pub max_pending: usize,
}

impl Default for RunRules {
    fn default() -> RunRules {
        RunRules {
            limits: Limits::default(),
            observer: None,
            recorder: None,
            redactor: Redactor::default(),
            notices: Notices::default(),
            max_pending: MAX_PENDING,
        }
    }
}

impl RunRules {
    /// Creates the set of pending approval requests of a new run.
    pub fn pending(&self) -> Pending {
        Pending::new(self.max_pending)
    }

    /// Returns the observer of one run: its record, and the space's observer.
    pub fn observing(&self, record: Option<&Arc<dyn RunRecord>>) -> Option<Arc<Observer>> {
        let observer = self.observer.clone();
        let Some(record) = record.cloned() else { return observer };
        Some(Arc::new(move |event: &Event| {
            if let Some(observer) = &observer {
                observer(event);
            }
            record.note(event);
        }))
    }
}
