//! `RunJournal`: the journal of a durable run, as sandbox and pipeline see it.
//!
//! A run is a function of its program, its limits, its seed, and the answers that reach it. The journal holds the
//! answers. While a run is replayed, the journal returns what it recorded and compares what the script does; from then
//! on it records. The store behind it is in `agent-spaces-journal`, the implementation in `agent-spaces-durable`.

use crate::approval::{Decision, Request};
use crate::clock::RunClock;
use crate::record::Waiting;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::event::Event;
use serde_json::Value;
use std::fmt;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

/// Journal of one durable run.
pub trait RunJournal: fmt::Debug + Send + Sync {
    /// Returns the run id.
    fn run_id(&self) -> &Arc<str>;

    /// Called when the run begins, with its clock.
    fn begin(&self, clock: &RunClock);

    /// Returns the next random number of the run, which its seed determines.
    fn random(&self) -> u64;

    /// Returns a reading of the wall clock, in nanoseconds since the Unix epoch: the recorded one, or `live`. Never
    /// less than the reading before.
    fn wall_clock(&self, live: u64) -> Result<u64, Diverged>;

    /// Returns a reading of the run's monotonic clock, in nanoseconds: the recorded one, or `live`.
    fn monotonic_clock(&self, live: u64) -> Result<u64, Diverged>;

    /// Starts a timer. `fuel` is the fuel that the script has consumed.
    fn start_timer(&self, nanoseconds: u64, fuel: u64) -> Result<Timer, Diverged>;

    /// Waits until a [held](Timer::Held) timer fires.
    fn held_timer(&self, _timer: u64) -> Waiting<'_, ()> {
        Box::pin(pending())
    }

    /// Records that a timer fired.
    fn timer_fired(&self, timer: u64);

    /// Starts a call. Returns its answer if that is recorded.
    fn start_call(&self, call_id: u64, fuel: u64) -> Result<Option<RecordedAnswer>, Diverged>;

    /// Returns true if a call that was started has no recorded answer, and may still get one.
    fn is_unanswered(&self, call_id: u64) -> bool;

    /// Waits until a call without a recorded answer may be made: until all that was recorded is replayed. Returns the
    /// answer if a person gave it, for a call that was sent before its host died.
    ///
    /// # Errors
    /// It is unknown whether the call took effect, and it may not be repeated.
    fn admit(&self, call_id: u64, effect: Effect) -> Waiting<'_, Result<Option<RecordedAnswer>, CapabilityError>>;

    /// Records that a call leaves the host. Returns once that is on disk, unless the call may be repeated.
    ///
    /// # Errors
    /// It could not be recorded, or another host owns the run: the call must not be sent.
    fn send(&self, call_id: u64, effect: Effect) -> Waiting<'_, Result<(), CapabilityError>>;

    /// Returns true if the call was counted against its limits before the host died.
    fn is_counted(&self, call_id: u64) -> bool;

    /// Records that a call counts against its limits.
    fn count(&self, call_id: u64);

    /// Records the answer of a call. Answers reach the script in the order in which they are recorded.
    fn record_answer(&self, call_id: u64, answer: Result<&Value, &CapabilityError>, about: AnswerInfo);

    /// Returns the order in which recorded answers reach the script.
    fn deliveries(&self) -> Vec<Delivery>;

    /// Called whenever the script waits for an answer.
    fn script_waits(&self) -> Result<(), Diverged>;

    /// Called whenever an answer or a timer reaches the script.
    fn script_runs(&self);

    /// Called when a call that has no recorded answer blocks the script.
    fn script_blocks(&self) -> Result<(), Diverged>;

    /// Called when that call is answered.
    fn script_unblocks(&self);

    /// Returns whether an event was recorded before the host died: then it is not sent again. Its timestamp does not
    /// count.
    fn replay_event(&self, event: &Event) -> EventReplay;

    /// Records an event.
    fn record_event(&self, event: &Event);

    /// Returns the approval request of a call that was made before the host died.
    fn asked(&self, call_id: u64) -> Option<AskedApproval>;

    /// Records an approval request. Its call waits until [`RunJournal::record_decision`].
    fn record_request(&self, request: &Arc<Request>);

    /// Records the decision on a request, or its expiry.
    fn record_decision(&self, request: &Request, decision: Option<&Decision>);

    /// Completes when the run should leave memory, because it has long been waiting for approvals and timers only.
    fn parking(&self) -> Waiting<'_, ()>;

    /// Returns where the script diverged from what is recorded, if it did.
    fn diverged(&self) -> Option<Diverged>;

    /// Returns true while all that happens is recorded: neither the time limit nor a cancellation ends the run then.
    fn is_replaying(&self) -> bool;

    /// Returns the recorded ending that did not depend on the script: a time limit, a cancellation, memory.
    fn forced_end(&self) -> Option<ForcedEnd>;

    /// Records an ending that does not depend on the script.
    fn record_end(&self, end: ForcedEnd);
}

/// Effect of a function's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It changes nothing.
    ReadOnly,
    /// A second call with the same arguments changes nothing more.
    Idempotent,
    /// Every call counts.
    Once,
}

impl Effect {
    /// Returns true if a call whose answer was lost may be made again.
    pub fn is_repeatable(self) -> bool {
        self != Effect::Once
    }
}

/// Answer of a call, as recorded.
#[derive(Clone, Debug)]
pub struct RecordedAnswer {
    /// The value or the error.
    pub answer: Answer,
    /// Further facts about it.
    pub about: AnswerInfo,
    /// True if the call counted against its limits per run.
    pub is_counted: bool,
}

/// Facts about an answer beside its value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnswerInfo {
    /// True if it came from the cache.
    pub is_cached: bool,
    /// True if the script was blocked until it came.
    pub is_sync: bool,
    /// Duration of the call.
    pub duration: Duration,
    /// Retries of the call by the host.
    pub repetitions: u64,
}

/// Approval request that was made before the host died.
#[derive(Clone, Debug)]
pub struct AskedApproval {
    /// The request.
    pub request: Arc<Request>,
    /// The decision, or `None` for an expiry; `None` if it is undecided.
    pub decision: Option<Option<Decision>>,
}

/// Timer of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// It fired before the host died.
    Fired(u64),
    /// It fires after this time.
    Pending(u64, Duration),
    /// It fires when the journal says so: see [`RunJournal::held_timer`].
    Held(u64),
}

/// Answer or timer that reaches the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// Answer of a call.
    Call(u64),
    /// Timer that fired.
    Timer(u64),
}

/// Result of comparing an event with the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventReplay {
    /// It was recorded. The next event has this sequence number.
    Recorded(u64),
    /// It is new, and has this sequence number.
    New(u64),
}

/// Ending that does not depend on the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForcedEnd {
    /// Reason of the ending.
    pub reason: EndReason,
    /// Fuel that the script had consumed.
    pub fuel: u64,
}

/// Reason of an ending that does not depend on the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The time limit was reached.
    Time,
    /// The run was cancelled.
    Cancelled,
    /// The host memory of the run was exhausted.
    HostMemory,
    /// The memory budget of all runs was exhausted.
    ProcessMemory,
}

/// The script did something else than was recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the script did not repeat what is recorded: {expected} was recorded, now it is {seen}")]
pub struct Diverged {
    /// Recorded step.
    pub expected: String,
    /// Step of the script.
    pub seen: String,
}
