//! Log budget of one run. Beyond it, calls are counted by function and outcome, and a summary is written every
//! [`SUMMARY_EVERY`] events and at the run's end. The first calls of each function are always written, so that many calls
//! of one function do not hide a few of another.

use super::Trail;
use agent_spaces_audit_log::Entry;
use agent_spaces_types::identity::FunctionId;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Counted events between two summaries: a killed process loses no more than these.
const SUMMARY_EVERY: u64 = 1_000;

/// Calls of each function that are written even beyond the budget.
const FIRST_CALLS: u64 = 10;

/// Maximum functions per summary, and outcomes per function: providers choose the codes. The rest is counted together as
/// `others`.
const MAX_FUNCTIONS: usize = 200;
const MAX_OUTCOMES: usize = 20;
const OTHERS: &str = "others";

/// Maximum length of an outcome's code, in characters.
const MAX_CODE: usize = 100;

/// Log budget of one run, with the runs that answer its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditBudget {
    /// Maximum bytes.
    pub bytes: u64,
    /// Maximum lines.
    pub lines: u64,
}

impl Default for AuditBudget {
    /// Enough for a run of two thousand calls with small arguments.
    fn default() -> AuditBudget {
        AuditBudget { bytes: 2 << 20, lines: 5_000 }
    }
}

/// Function in a summary. The identity distinguishes functions of the same name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CountedFunction {
    /// `None` for `others`.
    pub(super) id: Option<FunctionId>,
    pub(super) capability: Arc<str>,
    pub(super) function: Arc<str>,
}

/// Budget of a run and its use so far.
pub(super) struct RunBudget {
    trail: Arc<Trail>,
    run_id: Arc<str>,
    caller: Option<Arc<str>>,
    usage: Mutex<Usage>,
}

#[derive(Default)]
struct Usage {
    lines: u64,
    bytes: u64,
    /// Events counted instead of written: in total, and since the last summary.
    counted: u64,
    since_summary: u64,
    functions: BTreeMap<CountedFunction, Counts>,
    /// Calls written, up to [`FIRST_CALLS`].
    first: BTreeMap<CountedFunction, u64>,
    events: BTreeMap<&'static str, u64>,
}

#[derive(Default)]
struct Counts {
    calls: u64,
    outcomes: BTreeMap<String, u64>,
}

impl RunBudget {
    pub(super) fn new(trail: Arc<Trail>, run_id: Arc<str>, caller: Option<Arc<str>>) -> RunBudget {
        RunBudget { trail, run_id, caller, usage: Mutex::default() }
    }

    /// Returns true if the budget is spent, so that events are counted.
    pub(super) fn is_spent(&self) -> bool {
        let (usage, budget) = (self.usage(), self.trail.budget);
        usage.lines >= budget.lines || usage.bytes >= budget.bytes
    }

    /// Returns true if a call is to be written: it is within the budget, or one of the first of its function.
    pub(super) fn has_room_for(&self, function: &CountedFunction) -> bool {
        let is_spent = self.is_spent();
        let mut usage = self.usage();
        let has_slot = usage.first.len() < MAX_FUNCTIONS;
        let is_first = match usage.first.get_mut(function) {
            Some(calls) if *calls < FIRST_CALLS => {
                *calls += 1;
                true
            }
            None if has_slot => usage.first.insert(function.clone(), 1).is_none(),
            Some(_) | None => false,
        };
        is_first || !is_spent
    }

    /// Writes an entry and adds its size to the usage. Returns its number in the recorder, if there was room for it.
    pub(super) fn write(&self, entry: &Value) -> Option<u64> {
        let entry = Entry::from(entry);
        let mut usage = self.usage();
        usage.lines += 1;
        usage.bytes = usage.bytes.saturating_add(entry.bytes() as u64);
        drop(usage);
        self.trail.recorder.record(entry)
    }

    /// Counts a call.
    pub(super) fn count_call(&self, function: &CountedFunction) {
        let mut usage = self.usage();
        usage.counts_of(function).calls += 1;
        self.count(usage);
    }

    /// Counts the outcome of a counted call.
    pub(super) fn count_outcome(&self, function: &CountedFunction, code: &str) {
        let mut usage = self.usage();
        let outcomes = &mut usage.counts_of(function).outcomes;
        let code: String = code.chars().take(MAX_CODE).collect();
        let code = if outcomes.len() < MAX_OUTCOMES || outcomes.contains_key(&code) { code } else { OTHERS.to_owned() };
        *outcomes.entry(code).or_default() += 1;
        self.count(usage);
    }

    /// Counts an event other than a call.
    pub(super) fn count_event(&self, kind: &'static str) {
        let mut usage = self.usage();
        *usage.events.entry(kind).or_default() += 1;
        self.count(usage);
    }

    /// Returns the number of events counted instead of written.
    pub(super) fn counted(&self) -> u64 {
        self.usage().counted
    }

    /// Writes a summary, if events were counted since the last one.
    pub(super) fn summarise(&self) {
        let mut usage = self.usage();
        if usage.since_summary == 0 {
            return;
        }
        let functions =
            std::mem::take(&mut usage.functions).into_iter().map(|(counted, Counts { calls, outcomes })| {
                let CountedFunction { id, capability, function } = counted;
                let mut counts =
                    json!({ "capability": capability, "function": function, "calls": calls, "outcomes": outcomes });
                if let Some(id) = id {
                    counts["functionId"] = json!(id);
                }
                counts
            });
        let entry = self.entry(
            "callsSummarised",
            [
                ("events", json!(usage.since_summary)),
                ("functions", Value::Array(functions.collect())),
                ("others", json!(std::mem::take(&mut usage.events))),
            ],
        );
        usage.since_summary = 0;
        drop(usage);
        // Summaries do not count against the budget.
        self.trail.recorder.record(&entry);
    }

    fn count(&self, mut usage: MutexGuard<'_, Usage>) {
        usage.counted += 1;
        usage.since_summary += 1;
        let (is_first, is_due) = (usage.counted == 1, usage.since_summary >= SUMMARY_EVERY);
        let (lines, bytes) = (usage.lines, usage.bytes);
        drop(usage);
        if is_first {
            // Tells readers that there was more, should the process be killed before its first summary.
            let entry = self.entry("auditBudgetSpent", [("lines", json!(lines)), ("bytes", json!(bytes))]);
            self.trail.recorder.record(&entry);
        }
        if is_due {
            self.summarise();
        }
    }

    fn entry<const N: usize>(&self, kind: &str, members: [(&str, Value); N]) -> Value {
        let timestamp = humantime::format_rfc3339_millis(SystemTime::now()).to_string();
        let mut entry = Map::from_iter([
            ("type".to_owned(), json!(kind)),
            ("timestamp".to_owned(), json!(timestamp)),
            ("runId".to_owned(), json!(self.run_id)),
        ]);
        entry.extend(self.caller.as_ref().map(|caller| ("caller".to_owned(), json!(caller))));
        entry.extend(members.map(|(name, value)| (name.to_owned(), value)));
        Value::Object(entry)
    }

    fn usage(&self) -> MutexGuard<'_, Usage> {
        self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Usage {
    fn counts_of(&mut self, function: &CountedFunction) -> &mut Counts {
        let is_one_more = self.functions.len() >= MAX_FUNCTIONS && !self.functions.contains_key(function);
        let others = || CountedFunction { id: None, capability: OTHERS.into(), function: OTHERS.into() };
        let key = if is_one_more { others() } else { function.clone() };
        self.functions.entry(key).or_default()
    }
}

impl Drop for RunBudget {
    /// Summarises for a run that was dropped before its end.
    fn drop(&mut self) {
        self.summarise();
    }
}

impl fmt::Debug for RunBudget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunBudget").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}
