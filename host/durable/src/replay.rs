//! Replay of a journal: recorded steps to compare with the script, and recorded answers.
//!
//! A run's records are of two kinds. Its own steps (calls, timers, readings of clocks, events) come in the order of the
//! script, and are compared one by one. What came from outside (answers, decisions, timers that fired) is looked up.

use crate::error::DurableError;
use crate::header::{FORMAT, Header};
use crate::record::{Reading, Record};
use crate::recorded_call::RecordedCall;
use crate::recorded_event::{EventHead, RecordedEvent, is_last_event, is_own_event};
use crate::step::{Step, shown_call, shown_event, shown_timer};
use agent_spaces_approvals::{Lasts, Pending, Request};
use agent_spaces_calls::journal::{AskedApproval, Delivery, Diverged, EndReason, ForcedEnd, RecordedAnswer};
use agent_spaces_journal::Stored;
use agent_spaces_types::event::Event;
use serde_json::Value;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

/// Recorded part of a run.
#[derive(Debug)]
pub struct Replay {
    /// The header.
    pub header: Header,
    /// Steps of the script that it has not repeated yet.
    steps: VecDeque<Step>,
    answers: HashMap<u64, RecordedAnswer>,
    /// Answers and timers, in the order in which they reached the script.
    pub deliveries: Vec<Delivery>,
    fired: HashSet<u64>,
    due: HashMap<u64, i64>,
    /// Calls that were sent and have no answer.
    sent: HashMap<u64, Sending>,
    counted: HashSet<u64>,
    asked: HashMap<u64, AskedApproval>,
    /// True if another journal exported it: whoever wrote that could write anything.
    pub is_imported: bool,
    /// Ending by the host.
    pub end: Option<ForcedEnd>,
    /// The value or the error, if the run is over.
    pub result: Option<Value>,
    /// Time that the run had used.
    pub spent: Duration,
    /// Last reading of the wall clock.
    pub wall: u64,
    /// Last reading of the monotonic clock.
    pub monotonic: u64,
    /// Time of that reading, in milliseconds since the Unix epoch.
    pub monotonic_at_ms: Option<i64>,
    /// Sequence number of the next event.
    next_event: u64,
    /// True if fuel is comparable: the run was recorded with the same version of wasmtime.
    pub compares_fuel: bool,
    /// True if repeated events are kept, for an offline replay.
    pub keeps_events: bool,
    /// Events that the replayed run repeated, as text.
    pub events: Vec<String>,
}

/// Call that was sent and has no answer.
#[derive(Clone, Copy, Debug)]
struct Sending {
    /// True if it may be made again.
    is_repeatable: bool,
    /// Number of times that it was sent.
    attempts: u32,
}

impl Replay {
    /// Creates the recorded part of a new run: its header.
    pub fn new(header: Header) -> Replay {
        Replay {
            header,
            steps: VecDeque::new(),
            answers: HashMap::new(),
            deliveries: Vec::new(),
            fired: HashSet::new(),
            due: HashMap::new(),
            sent: HashMap::new(),
            counted: HashSet::new(),
            asked: HashMap::new(),
            is_imported: false,
            end: None,
            result: None,
            spent: Duration::ZERO,
            wall: 0,
            monotonic: 0,
            monotonic_at_ms: None,
            next_event: 0,
            compares_fuel: true,
            keeps_events: false,
            events: Vec::new(),
        }
    }

    /// Reads the entries of a journal.
    pub fn read(entries: Vec<Stored>) -> Result<Replay, DurableError> {
        let mut entries = entries.into_iter();
        let first = entries.next().ok_or(DurableError::Empty)?;
        let Record::Started(header) = Record::read(first.seq, &first.kind, first.body)? else {
            return Err(DurableError::Empty);
        };
        if header.format > FORMAT {
            return Err(DurableError::Newer { found: header.format, known: FORMAT });
        }
        let mut replay = Replay::new(*header);
        let mut delivered = usize::MAX;
        for entry in entries {
            let record = Record::read(entry.seq, &entry.kind, entry.body)?;
            if let Record::Ended(ended) = &record {
                delivered = usize::try_from(ended.delivered).unwrap_or(usize::MAX);
            }
            if let Record::Clock(readings) = &record
                && readings.iter().any(|reading| matches!(reading, Reading::Mono(_)))
            {
                replay.monotonic_at_ms = Some(entry.at_ms);
            }
            replay.add(record)?;
        }
        // The script never got what came later.
        for late in replay.deliveries.split_off(delivered.min(replay.deliveries.len())) {
            match late {
                Delivery::Call(call) => {
                    replay.answers.remove(&call);
                }
                Delivery::Timer(timer) => {
                    replay.fired.remove(&timer);
                }
            }
        }
        Ok(replay)
    }

    fn add(&mut self, record: Record) -> Result<(), DurableError> {
        match record {
            Record::Started(_) => return Err(DurableError::Empty),
            // The author of the document could write any decision: people decide here again.
            Record::Imported => {
                self.is_imported = true;
                self.asked.values_mut().for_each(|asked| asked.decision = None);
            }
            Record::Resumed(resumed) => self.spend(resumed.spent_ms),
            Record::Parked(parked) => self.spend(parked.spent_ms),
            Record::Call(call) => self.steps.push_back(Step::Call(call)),
            Record::Counted(call) => {
                self.counted.insert(call.number);
            }
            Record::Sent(sent) => {
                let sending = self.sent.entry(sent.call).or_insert(Sending { is_repeatable: true, attempts: 0 });
                sending.is_repeatable = sent.repeatable;
                sending.attempts = sending.attempts.saturating_add(1);
            }
            Record::Answer(answer) => {
                let call = answer.call;
                self.spend(answer.spent_ms);
                if !answer.sync {
                    self.deliveries.push(Delivery::Call(call));
                }
                self.sent.remove(&call);
                self.answers.insert(call, answer.recorded(self.counted.contains(&call)));
            }
            Record::Timer(timer) => {
                self.due.insert(timer.timer, timer.due_ms);
                self.steps.push_back(Step::Timer(timer));
            }
            Record::Fired(timer) => {
                self.fired.insert(timer.number);
                self.deliveries.push(Delivery::Timer(timer.number));
            }
            Record::Clock(readings) => {
                for reading in readings {
                    match reading {
                        Reading::Wall(now) => self.wall = self.wall.max(now),
                        Reading::Mono(now) => self.monotonic = self.monotonic.max(now),
                    }
                    self.steps.push_back(Step::Clock(reading));
                }
            }
            Record::Asked(request) => {
                let asked = AskedApproval { request: Arc::new(*request), decision: None };
                self.asked.insert(asked.request.call_id, asked);
            }
            Record::Decided(decided) => {
                let asked = self.asked.get_mut(&decided.call);
                if let Some(asked) = asked.filter(|asked| asked.request.id == decided.approval) {
                    asked.decision = Some(decided.decision);
                }
            }
            Record::Event(text) => self.add_event(text)?,
            Record::Ended(ended) => {
                self.end = Some(ended.into());
                self.steps.push_back(Step::End);
            }
            Record::Result(result) => self.result = Some(result),
        }
        Ok(())
    }

    fn add_event(&mut self, text: String) -> Result<(), DurableError> {
        let head: EventHead<'_> =
            serde_json::from_str(&text).map_err(|error| DurableError::Event(error.to_string()))?;
        self.next_event = head.seq.saturating_add(1);
        let is_own = is_own_event(head.kind);
        self.steps.push_back(if is_own { Step::Event(RecordedEvent::new(text)) } else { Step::OtherEvent(text) });
        Ok(())
    }

    fn spend(&mut self, spent_ms: u64) {
        self.spent = self.spent.max(Duration::from_millis(spent_ms));
    }

    /// Returns true if the script has repeated all its steps.
    pub fn is_over(&mut self) -> bool {
        self.pass_other_events();
        self.steps.is_empty()
    }

    fn pass_other_events(&mut self) {
        while let Some(Step::OtherEvent(_)) = self.steps.front() {
            if let Some(Step::OtherEvent(text)) = self.steps.pop_front()
                && self.keeps_events
            {
                self.events.push(text);
            }
        }
    }

    /// Repeats a reading of the wall clock. Returns `None` if the recorded part is over.
    pub fn wall_clock(&mut self) -> Result<Option<u64>, Diverged> {
        self.step("a reading of the wall clock", |step| match step {
            Step::Clock(Reading::Wall(now)) => Some(*now),
            _ => None,
        })
    }

    /// Repeats a reading of the monotonic clock.
    pub fn monotonic_clock(&mut self) -> Result<Option<u64>, Diverged> {
        self.step("a reading of the monotonic clock", |step| match step {
            Step::Clock(Reading::Mono(now)) => Some(*now),
            _ => None,
        })
    }

    /// Repeats the start of a call.
    pub fn call(&mut self, call: u64, fuel: u64) -> Result<bool, Diverged> {
        let compares_fuel = self.compares_fuel;
        let repeated = self.step(&shown_call(call, fuel), |step| match step {
            Step::Call(recorded) => (recorded.call == call && (recorded.fuel == fuel || !compares_fuel)).then_some(()),
            _ => None,
        })?;
        Ok(repeated.is_some())
    }

    /// Repeats the start of a timer.
    pub fn timer(&mut self, timer: u64, nanoseconds: u64, fuel: u64) -> Result<bool, Diverged> {
        let compares_fuel = self.compares_fuel;
        let repeated = self.step(&shown_timer(timer, nanoseconds, fuel), |step| match step {
            Step::Timer(recorded) => {
                let is_same = recorded.timer == timer && recorded.nanoseconds == nanoseconds;
                (is_same && (recorded.fuel == fuel || !compares_fuel)).then_some(())
            }
            _ => None,
        })?;
        Ok(repeated.is_some())
    }

    /// Repeats an event, and returns the sequence number of the next one.
    pub fn event(&mut self, event: &Event) -> Result<Option<u64>, Diverged> {
        let seen = serde_json::to_value(event).unwrap_or_default();
        if is_last_event(event.kind.name()) {
            self.pass_end();
        }
        let ends_by_memory = self.ends_by_memory();
        let repeated = self.step(&shown_event(&seen), |step| {
            let Step::Event(recorded) = step else { return None };
            // An answer that exhausted the memory depends on what else was in memory.
            let same_call = recorded.of_same_call(&seen).filter(|_| ends_by_memory);
            same_call.or_else(|| recorded.repeat(&seen))
        })?;
        Ok(repeated.map(|(text, next)| {
            if self.keeps_events {
                self.events.push(text);
            }
            next
        }))
    }

    /// Passes the point at which the host ended the run.
    fn pass_end(&mut self) {
        self.pass_other_events();
        if self.is_at_end() {
            self.steps.pop_front();
        }
    }

    /// Returns true if the script has come to the point at which the host ended the run.
    pub fn is_at_end(&self) -> bool {
        matches!(self.steps.front(), Some(Step::End))
    }

    /// Returns true if the next step is the last before the host ended the run for lack of memory.
    fn ends_by_memory(&self) -> bool {
        let is_memory = |end: ForcedEnd| matches!(end.reason, EndReason::HostMemory | EndReason::ProcessMemory);
        self.end.is_some_and(is_memory) && matches!(self.steps.get(1), Some(Step::End))
    }

    /// Takes the next step if it is the expected one. Returns `None` if the recorded part is over.
    fn step<T>(&mut self, seen: &str, compare: impl FnOnce(&Step) -> Option<T>) -> Result<Option<T>, Diverged> {
        self.pass_other_events();
        let Some(next) = self.steps.front() else { return Ok(None) };
        match compare(next) {
            Some(found) => {
                self.steps.pop_front();
                Ok(Some(found))
            }
            None => Err(Diverged { expected: next.shown(), seen: seen.to_owned() }),
        }
    }

    /// Returns the calls that the script has not repeated yet.
    pub fn calls(&self) -> impl Iterator<Item = RecordedCall> {
        let event = |step: &Step| match step {
            Step::Event(event) => RecordedCall::of_event(&event.value()),
            _ => None,
        };
        self.steps.iter().filter_map(event)
    }

    /// Returns the readings of the clocks. Call it before the script repeats them.
    pub(crate) fn readings(&self) -> impl Iterator<Item = Reading> {
        self.steps.iter().filter_map(|step| match step {
            Step::Clock(reading) => Some(*reading),
            _ => None,
        })
    }

    /// Returns the next step, for the error of a script that waits instead.
    pub fn expected(&self) -> Option<String> {
        self.steps.front().map(Step::shown)
    }

    /// Takes the answer of a call.
    pub fn take_answer(&mut self, call: u64) -> Option<RecordedAnswer> {
        self.answers.remove(&call)
    }

    /// Returns true if a timer fired.
    pub fn has_fired(&self, timer: u64) -> bool {
        self.fired.contains(&timer)
    }

    /// Returns the time at which a timer fires, in milliseconds since the Unix epoch.
    pub fn due(&self, timer: u64) -> Option<i64> {
        self.due.get(&timer).copied()
    }

    /// Returns true if a call was counted.
    pub fn is_counted(&self, call: u64) -> bool {
        self.counted.contains(&call)
    }

    /// Returns how often a call was sent, if it has no answer and may not be made again.
    pub fn in_doubt_since(&self, call: u64) -> Option<u32> {
        self.sent.get(&call).filter(|sending| !sending.is_repeatable).map(|sending| sending.attempts)
    }

    /// Returns the calls that were sent, have no answer, and may not be made again.
    pub fn in_doubt(&self) -> Vec<u64> {
        let mut calls: Vec<u64> =
            self.sent.keys().copied().filter(|call| self.in_doubt_since(*call).is_some()).collect();
        calls.sort_unstable();
        calls
    }

    /// Returns the approval request of a call.
    pub fn asked(&self, call: u64) -> Option<AskedApproval> {
        self.asked.get(&call).cloned()
    }

    /// Returns the approval requests that are undecided.
    pub fn undecided(&self) -> impl Iterator<Item = &Arc<Request>> {
        self.asked.values().filter(|asked| asked.decision.is_none()).map(|asked| &asked.request)
    }

    /// Returns the sequence number of the next event.
    pub fn next_event(&self) -> u64 {
        self.next_event
    }

    /// Remembers the approvals that cover later calls.
    pub fn remember_approvals(&self, pending: &Pending) {
        for asked in self.asked.values() {
            if let Some(Some(decision)) = &asked.decision
                && decision.lasts != Lasts::Once
            {
                pending.remember(&asked.request, decision);
            }
        }
    }
}
