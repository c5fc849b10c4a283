//! How much of the log one run may take. Beyond that its calls are counted, by function and outcome, and the counts are
//! written: every so many calls, and at the run's end. The first calls of each function are always written, so that many
//! calls of one function do not hide a few of another.

use super::Trail;
use agent_spaces_audit_log::Entry;
use capability_gen::identity::FunctionId;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// After how many counted events the counts are written: a process that is killed loses no more than these.
const SUMMARY_EVERY: u64 = 1_000;

/// How many calls of each function are written in any case.
const FIRST_CALLS: u64 = 10;

/// Most functions of one summary, and most outcomes of one function: codes are a provider's own words. What is more is
/// counted together.
const MAX_FUNCTIONS: usize = 200;
const MAX_OUTCOMES: usize = 20;
const OTHERS: &str = "others";

/// The longest code of an outcome.
const MAX_CODE: usize = 100;

/// What one run, with the runs that answer its calls, may take of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditBudget {
    /// Bytes of lines.
    pub bytes: u64,
    /// Lines.
    pub lines: u64,
}

impl Default for AuditBudget {
    /// A run of two thousand calls with small arguments is told in full.
    fn default() -> AuditBudget {
        AuditBudget { bytes: 2 << 20, lines: 5_000 }
    }
}

/// A function as it is counted. Two may have the same names: it is its identity that tells it from others.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CountedFunction {
    /// None for those that are counted together.
    pub(super) id: Option<FunctionId>,
    pub(super) capability: Arc<str>,
    pub(super) function: Arc<str>,
}

/// What a run has taken of the log.
pub(crate) struct Ledger {
    trail: Arc<Trail>,
    run_id: Arc<str>,
    caller: Option<Arc<str>>,
    account: Mutex<Account>,
}

#[derive(Default)]
struct Account {
    lines: u64,
    bytes: u64,
    /// Events that were counted instead of written, ever, and since the last summary.
    counted: u64,
    since_summary: u64,
    functions: BTreeMap<CountedFunction, Counts>,
    /// Calls that were written, up to the number that always are.
    first: BTreeMap<CountedFunction, u64>,
    events: BTreeMap<&'static str, u64>,
}

#[derive(Default)]
struct Counts {
    calls: u64,
    outcomes: BTreeMap<String, u64>,
}

impl Ledger {
    pub(super) fn new(trail: Arc<Trail>, run_id: Arc<str>, caller: Option<Arc<str>>) -> Ledger {
        Ledger { trail, run_id, caller, account: Mutex::default() }
    }

    /// Whether events are counted from now on.
    pub(super) fn is_spent(&self) -> bool {
        let (account, budget) = (self.account(), self.trail.budget);
        account.lines >= budget.lines || account.bytes >= budget.bytes
    }

    /// Whether a call is written: within the budget, or because it is one of the first of its function.
    pub(super) fn has_room_for(&self, function: &CountedFunction) -> bool {
        let is_spent = self.is_spent();
        let mut account = self.account();
        let has_place = account.first.len() < MAX_FUNCTIONS;
        let is_first = match account.first.get_mut(function) {
            Some(calls) if *calls < FIRST_CALLS => {
                *calls += 1;
                true
            }
            None if has_place => account.first.insert(function.clone(), 1).is_none(),
            Some(_) | None => false,
        };
        is_first || !is_spent
    }

    /// Writes an entry and takes note of what it takes.
    pub(super) fn write(&self, entry: &Value) -> Option<u64> {
        let entry = Entry::from(entry);
        let mut account = self.account();
        account.lines += 1;
        account.bytes = account.bytes.saturating_add(entry.bytes() as u64);
        drop(account);
        self.trail.recorder.record(entry)
    }

    /// Counts a call.
    pub(super) fn count_call(&self, function: &CountedFunction) {
        let mut account = self.account();
        account.counts_of(function).calls += 1;
        self.count(account);
    }

    /// Counts how a call that was counted has ended.
    pub(super) fn count_outcome(&self, function: &CountedFunction, code: &str) {
        let mut account = self.account();
        let outcomes = &mut account.counts_of(function).outcomes;
        let code: String = code.chars().take(MAX_CODE).collect();
        let code = if outcomes.len() < MAX_OUTCOMES || outcomes.contains_key(&code) { code } else { OTHERS.to_owned() };
        *outcomes.entry(code).or_default() += 1;
        self.count(account);
    }

    /// Counts an event that is no call.
    pub(super) fn count_event(&self, kind: &'static str) {
        let mut account = self.account();
        *account.events.entry(kind).or_default() += 1;
        self.count(account);
    }

    /// How many events were counted instead of written.
    pub(super) fn counted(&self) -> u64 {
        self.account().counted
    }

    /// Writes the counts, if there are any that were not written.
    pub(super) fn summarise(&self) {
        let mut account = self.account();
        if account.since_summary == 0 {
            return;
        }
        let functions =
            std::mem::take(&mut account.functions).into_iter().map(|(counted, Counts { calls, outcomes })| {
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
                ("events", json!(account.since_summary)),
                ("functions", Value::Array(functions.collect())),
                ("others", json!(std::mem::take(&mut account.events))),
            ],
        );
        account.since_summary = 0;
        drop(account);
        // Not a part of the budget: it is what is written beyond that.
        self.trail.recorder.record(&entry);
    }

    fn count(&self, mut account: MutexGuard<'_, Account>) {
        account.counted += 1;
        account.since_summary += 1;
        let (is_first, is_due) = (account.counted == 1, account.since_summary >= SUMMARY_EVERY);
        let (lines, bytes) = (account.lines, account.bytes);
        drop(account);
        if is_first {
            // If the process is killed before its first summary, this says that there was more.
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

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Account {
    fn counts_of(&mut self, function: &CountedFunction) -> &mut Counts {
        let is_one_more = self.functions.len() >= MAX_FUNCTIONS && !self.functions.contains_key(function);
        let others = || CountedFunction { id: None, capability: OTHERS.into(), function: OTHERS.into() };
        let key = if is_one_more { others() } else { function.clone() };
        self.functions.entry(key).or_default()
    }
}

impl Drop for Ledger {
    /// A run that was dropped has no end of its own.
    fn drop(&mut self) {
        self.summarise();
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Ledger").field("run_id", &self.run_id).finish_non_exhaustive()
    }
}
