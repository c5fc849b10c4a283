//! Labels of metrics, and the bound on their number: every new one is a time series that Prometheus keeps.

use agent_spaces_types::code::Code;
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Most functions with a label of their own; calls of further ones are `other`. With some ten outcomes each that makes a
/// few thousand time series, which a Prometheus takes from one target without a thought.
pub const MAX_FUNCTIONS: usize = 400;

/// Longest name of a function in a label, in bytes. Names from definitions are shorter.
const MAX_NAME: usize = 128;

/// Most calls that are remembered until they end: more than run at once. A parked run's calls stay until it continues.
const MAX_OPEN_CALLS: usize = 100_000;

/// Label of everything beyond a bound.
pub(super) const OTHER: &str = "other";

/// Returns the label of an error code: one of the host's, or [`OTHER`]. A provider may choose any text.
pub(super) fn code(code: &str) -> &'static str {
    Code::parse(code).map_or(OTHER, Code::as_str)
}

fn other() -> Arc<str> {
    static LABEL: OnceLock<Arc<str>> = OnceLock::new();
    LABEL.get_or_init(|| OTHER.into()).clone()
}

/// Outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Outcome {
    pub(super) outcome: &'static str,
}

impl EncodeLabelSet for Outcome {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("outcome", self.outcome)].encode(encoder)
    }
}

/// Decision on an approval request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Decision {
    pub(super) decision: &'static str,
}

impl EncodeLabelSet for Decision {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("decision", self.decision)].encode(encoder)
    }
}

/// Function and outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct CallLabels {
    pub(super) function: Arc<str>,
    pub(super) outcome: &'static str,
}

impl EncodeLabelSet for CallLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), fmt::Error> {
        [("function", &*self.function), ("outcome", self.outcome)].encode(encoder)
    }
}

/// Functions that have a label of their own.
#[derive(Default)]
pub(super) struct Functions(Mutex<HashSet<Arc<str>>>);

impl Functions {
    /// Returns the label of a function: `trainSchedule.getSchedule`.
    pub(super) fn label(&self, capability: &str, function: &str) -> Arc<str> {
        let name = format!("{capability}.{function}");
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(label) = known.get(name.as_str()) {
            return label.clone();
        }
        if known.len() >= MAX_FUNCTIONS || name.len() > MAX_NAME || name.contains(char::is_control) {
            return other();
        }
        let label: Arc<str> = name.into();
        known.insert(label.clone());
        label
    }
}

/// Calls that have not ended, by run, with the labels of their functions.
#[derive(Default)]
pub(super) struct Calls(Mutex<OpenCalls>);

#[derive(Default)]
struct OpenCalls {
    runs: HashMap<Arc<str>, HashMap<u64, Arc<str>>>,
    count: usize,
}

impl Calls {
    /// Remembers the function of a call.
    pub(super) fn begin(&self, run_id: &Arc<str>, call_id: u64, function: Arc<str>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.count < MAX_OPEN_CALLS
            && open.runs.entry(run_id.clone()).or_default().insert(call_id, function).is_none()
        {
            open.count += 1;
        }
    }

    /// Returns the function of a call that ended; [`OTHER`] for one that another process began.
    pub(super) fn end(&self, run_id: &Arc<str>, call_id: u64) -> Arc<str> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(calls) = open.runs.get_mut(run_id) else { return other() };
        let function = calls.remove(&call_id);
        let is_last = calls.is_empty();
        if is_last {
            open.runs.remove(run_id);
        }
        open.count -= usize::from(function.is_some());
        function.unwrap_or_else(other)
    }

    /// Forgets the calls of a run that ended.
    pub(super) fn end_run(&self, run_id: &Arc<str>) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = open.runs.remove(run_id).map_or(0, |calls| calls.len());
        open.count -= calls;
    }
}
