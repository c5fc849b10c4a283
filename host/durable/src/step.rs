//! Steps of a script, as they are recorded and repeated.

use crate::record::{Reading, Started, TimerStarted};
use crate::recorded_event::RecordedEvent;
use serde_json::Value;

/// Step of the script.
#[derive(Debug)]
pub(crate) enum Step {
    Call(Started),
    Timer(TimerStarted),
    Clock(Reading),
    Event(RecordedEvent),
    /// Event that does not come from the script, such as progress.
    OtherEvent(String),
    /// The host ended the run. Only its last events follow.
    End,
}

/// Longest text of an event or a value in an error, in characters.
const MAX_SHOWN: usize = 300;

impl Step {
    /// Returns its text in an error.
    pub(crate) fn shown(&self) -> String {
        match self {
            Step::Call(call) => shown_call(call.call, call.fuel),
            Step::Timer(timer) => shown_timer(timer.timer, timer.nanoseconds, timer.fuel),
            Step::Clock(Reading::Wall(_)) => "a reading of the wall clock".to_owned(),
            Step::Clock(Reading::Mono(_)) => "a reading of the monotonic clock".to_owned(),
            Step::Event(event) => format!("the event {}", cut(event.text())),
            Step::OtherEvent(text) => format!("the event {}", cut(text)),
            Step::End => "the end of the run by its host".to_owned(),
        }
    }
}

pub(crate) fn shown_call(call: u64, fuel: u64) -> String {
    format!("call {call} after {fuel} units of fuel")
}

pub(crate) fn shown_timer(timer: u64, nanoseconds: u64, fuel: u64) -> String {
    format!("timer {timer} of {nanoseconds} ns after {fuel} units of fuel")
}

pub(crate) fn shown_event(event: &Value) -> String {
    format!("the event {}", cut(&event.to_string()))
}

pub(crate) fn shown_value(value: &Value) -> String {
    format!("the value {}", cut(&value.to_string()))
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}
