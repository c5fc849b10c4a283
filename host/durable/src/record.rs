//! Records: the entries of a durable run's journal.
//!
//! Each is one entry of the store: `kind` names its type, `body` is its JSON. Events are stored as they were sent.

use crate::header::Header;
use agent_spaces_approvals::{Decision, Request};
use agent_spaces_calls::journal::{AnswerInfo, EndReason, ForcedEnd, RecordedAnswer};
use agent_spaces_journal::{Entry, IMPORTED};
use agent_spaces_types::capability_error::CapabilityError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// One entry of a run's journal.
#[derive(Clone, Debug)]
pub enum Record {
    /// `started`: everything that the run's answers do not say. The first record.
    Started(Box<Header>),
    /// `resumed`: another host continues the run.
    Resumed(Resumed),
    /// `imported`: the records before come from a document, whose author chose them.
    Imported,
    /// `parked`: the run leaves memory.
    Parked(Parked),
    /// `call`: the script made a call.
    Call(Started),
    /// `counted`: a call counts against its limits.
    Counted(Numbered),
    /// `sent`: a call is about to leave the host.
    Sent(Sent),
    /// `answer`: the answer of a call.
    Answer(Box<Answered>),
    /// `timer`: the script started a timer.
    Timer(TimerStarted),
    /// `fired`: a timer fired.
    Fired(Numbered),
    /// `clock`: readings of the clocks.
    Clock(Vec<Reading>),
    /// `asked`: a person is asked for approval.
    Asked(Box<Request>),
    /// `decided`: the decision, or the expiry, of an approval request.
    Decided(Decided),
    /// `event`: an event of the run, as it was sent.
    Event(String),
    /// `ended`: the host ended the run.
    Ended(Ended),
    /// `result`: the value or the error of the run.
    Result(Value),
}

/// Continuation of a run by another host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resumed {
    /// Version of the program.
    pub version: String,
    /// Time that the run had used, in milliseconds.
    pub spent_ms: u64,
}

/// Departure of a run from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Parked {
    /// Time that the run had used, in milliseconds.
    pub spent_ms: u64,
}

/// Call that the script made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Its number in the run, from one.
    pub call: u64,
    /// Fuel that the script had consumed: a checksum of everything before.
    pub fuel: u64,
}

/// Call or timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered {
    /// Its number in the run.
    pub number: u64,
}

/// Call that leaves the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// Its number.
    pub call: u64,
    /// True if it may be made again.
    pub repeatable: bool,
}

/// Answer of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answered {
    /// Number of the call.
    pub call: u64,
    /// The value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ok: Option<Value>,
    /// The error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CapabilityError>,
    /// True if it came from the cache.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// True if the script was blocked until it came.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sync: bool,
    /// Duration of the call, in microseconds.
    pub micros: u64,
    /// Retries of the call by the host.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repetitions: u64,
    /// Time that the run had used, in milliseconds.
    pub spent_ms: u64,
}

impl Answered {
    /// Creates the record of an answer.
    pub fn new(call: u64, answer: Result<&Value, &CapabilityError>, about: AnswerInfo, spent: Duration) -> Answered {
        Answered {
            call,
            ok: answer.ok().cloned(),
            error: answer.err().cloned(),
            cached: about.is_cached,
            sync: about.is_sync,
            micros: micros(about.duration),
            repetitions: about.repetitions,
            spent_ms: millis(spent),
        }
    }

    /// Returns the answer.
    pub fn recorded(self, is_counted: bool) -> RecordedAnswer {
        let about = AnswerInfo {
            is_cached: self.cached,
            is_sync: self.sync,
            duration: Duration::from_micros(self.micros),
            repetitions: self.repetitions,
        };
        let answer = match self.error {
            Some(error) => Err(error),
            None => Ok(self.ok.unwrap_or_default()),
        };
        RecordedAnswer { answer, about, is_counted }
    }
}

/// Timer that the script started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TimerStarted {
    /// Its number in the run, from one.
    pub timer: u64,
    /// Duration.
    pub nanoseconds: u64,
    /// Fuel that the script had consumed.
    pub fuel: u64,
    /// Time at which it fires, in milliseconds since the Unix epoch.
    pub due_ms: i64,
}

/// Reading of a clock, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reading {
    /// Wall clock, since the Unix epoch.
    Wall(u64),
    /// Monotonic clock of the run.
    Mono(u64),
}

/// Decision on an approval request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Id of the request.
    pub approval: String,
    /// Number of the call.
    pub call: u64,
    /// The decision; none if the request expired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// Ending by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// `time`, `cancelled`, `hostMemory` or `processMemory`.
    pub reason: Reason,
    /// Fuel that the script had consumed.
    pub fuel: u64,
    /// Answers and timers that had reached the script. Later ones were recorded, but came too late.
    pub delivered: u64,
}

/// Reason of an ending by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    /// The time limit was reached.
    Time,
    /// The run was cancelled.
    Cancelled,
    /// The host memory of the run was exhausted.
    HostMemory,
    /// The memory budget of all runs was exhausted.
    ProcessMemory,
}

impl Ended {
    /// Creates the record of an ending.
    pub fn new(end: ForcedEnd, delivered: u64) -> Ended {
        let reason = match end.reason {
            EndReason::Time => Reason::Time,
            EndReason::Cancelled => Reason::Cancelled,
            EndReason::HostMemory => Reason::HostMemory,
            EndReason::ProcessMemory => Reason::ProcessMemory,
        };
        Ended { reason, fuel: end.fuel, delivered }
    }
}

impl From<Ended> for ForcedEnd {
    fn from(end: Ended) -> ForcedEnd {
        let reason = match end.reason {
            Reason::Time => EndReason::Time,
            Reason::Cancelled => EndReason::Cancelled,
            Reason::HostMemory => EndReason::HostMemory,
            Reason::ProcessMemory => EndReason::ProcessMemory,
        };
        ForcedEnd { reason, fuel: end.fuel }
    }
}

/// Record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry {seq} of the journal ({kind}) cannot be read: {message}")]
pub struct BadRecord {
    /// Number of the entry.
    pub seq: u64,
    /// Its kind.
    pub kind: String,
    /// Reason.
    pub message: String,
}

impl Record {
    /// Returns the kind of its entry.
    pub fn kind(&self) -> &'static str {
        match self {
            Record::Started(_) => "started",
            Record::Resumed(_) => "resumed",
            Record::Imported => IMPORTED,
            Record::Parked(_) => "parked",
            Record::Call(_) => "call",
            Record::Counted(_) => "counted",
            Record::Sent(_) => "sent",
            Record::Answer(_) => "answer",
            Record::Timer(_) => "timer",
            Record::Fired(_) => "fired",
            Record::Clock(_) => "clock",
            Record::Asked(_) => "asked",
            Record::Decided(_) => "decided",
            Record::Event(_) => "event",
            Record::Ended(_) => "ended",
            Record::Result(_) => "result",
        }
    }

    /// Returns its entry.
    pub fn entry(&self, at_ms: i64) -> Entry {
        let body = match self {
            Record::Started(header) => json(header),
            Record::Resumed(resumed) => json(resumed),
            Record::Imported => b"{}".to_vec(),
            Record::Parked(parked) => json(parked),
            Record::Call(call) => json(call),
            Record::Counted(call) | Record::Fired(call) => json(call),
            Record::Sent(sent) => json(sent),
            Record::Answer(answer) => json(answer),
            Record::Timer(timer) => json(timer),
            Record::Clock(readings) => json(readings),
            Record::Asked(request) => json(request),
            Record::Decided(decided) => json(decided),
            Record::Event(text) => text.clone().into_bytes(),
            Record::Ended(ended) => json(ended),
            Record::Result(result) => json(result),
        };
        Entry::new(self.kind(), at_ms, body)
    }

    /// Reads an entry.
    pub fn read(seq: u64, kind: &str, body: Vec<u8>) -> Result<Record, BadRecord> {
        let read = match kind {
            "started" => parse(&body).map(Record::Started),
            "resumed" => parse(&body).map(Record::Resumed),
            IMPORTED => Ok(Record::Imported),
            "parked" => parse(&body).map(Record::Parked),
            "call" => parse(&body).map(Record::Call),
            "counted" => parse(&body).map(Record::Counted),
            "sent" => parse(&body).map(Record::Sent),
            "answer" => parse(&body).map(Record::Answer),
            "timer" => parse(&body).map(Record::Timer),
            "fired" => parse(&body).map(Record::Fired),
            "clock" => parse(&body).map(Record::Clock),
            "asked" => parse(&body).map(Record::Asked),
            "decided" => parse(&body).map(Record::Decided),
            "event" => String::from_utf8(body).map(Record::Event).map_err(|error| error.to_string()),
            "ended" => parse(&body).map(Record::Ended),
            "result" => parse(&body).map(Record::Result),
            _ => Err("another version of this program wrote it".to_owned()),
        };
        read.map_err(|message| BadRecord { seq, kind: kind.to_owned(), message })
    }
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Maps with text keys, numbers and text: nothing that JSON lacks.
    serde_json::to_vec(value).unwrap_or_default()
}

fn parse<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, String> {
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

/// Returns whole milliseconds.
pub fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
