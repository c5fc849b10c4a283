//! Compares the steps of a replay with the recorded ones.

use super::Divergence;
use crate::answering::{Ending, Outcome};
use crate::error::AgentError;
use crate::record::{Record, SessionLog};
use agent_spaces_models::Message;
use futures_util::future::BoxFuture;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The log of a question that is replayed.
pub(super) struct Check(Mutex<State>);

struct State {
    question: usize,
    /// Recorded steps that are to come, with their numbers in the session.
    expected: VecDeque<(usize, Record)>,
    repeated: usize,
    divergences: Vec<Divergence>,
    /// True if the replay of the question is over: the recording ended, or the replay left it.
    is_over: bool,
}

impl Check {
    /// Compares with these records, the first of which is at this position in its session.
    pub(super) fn new(question: usize, first: usize, records: &[Record]) -> Check {
        // A replay calls no nested agent, so nothing is spent there.
        let is_compared = |(_, record): &(usize, Record)| !matches!(record, Record::Nested { .. });
        let expected = (first + 1..).zip(records.iter().cloned()).filter(is_compared).collect();
        Check(Mutex::new(State { question, expected, repeated: 0, divergences: Vec::new(), is_over: false }))
    }

    /// Steps that were repeated, and differences.
    pub(super) fn found(&self) -> (usize, Vec<Divergence>) {
        let state = self.state();
        (state.repeated, state.divergences.clone())
    }

    /// Reports recorded steps that the replay did not come to.
    pub(super) fn ended(&self, outcome: &Outcome) {
        let mut state = self.state();
        if !state.is_over
            && let Some((record, expected)) = state.expected.front()
        {
            let (record, expected) = (*record, describe(expected));
            state.diverged(record, format!("recorded: {expected}; the replay ended: {}", outcome.ending.code()));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionLog for Check {
    fn append<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(std::future::ready(self.state().compare(record)))
    }
}

impl State {
    fn compare(&mut self, record: &Record) -> Result<(), AgentError> {
        let Some((number, expected)) = self.take(record) else {
            self.is_over = true;
            return Err(AgentError::Store("the recording ends here".to_owned()));
        };
        if is_same(&expected, record) {
            self.repeated += 1;
            return Ok(());
        }
        if is_answer_to_another_request(&expected, record) {
            self.diverged(number, changed(&expected, record).to_owned());
            return Ok(());
        }
        self.diverged(number, format!("recorded: {}; replayed: {}", describe(&expected), describe(record)));
        self.is_over = true;
        Err(AgentError::Store("the replay differs from the recording".to_owned()))
    }

    /// The recorded step to compare with. Results of one answer come in any order.
    fn take(&mut self, record: &Record) -> Option<(usize, Record)> {
        let is_result = |record: &Record| matches!(record, Record::Returned { .. } | Record::Kept { .. });
        let results = self.expected.iter().take_while(|(_, expected)| is_result(expected));
        let place = results.map(|(_, expected)| expected).position(|expected| match (expected, record) {
            (Record::Returned { result: expected }, Record::Returned { result }) => expected.call_id == result.call_id,
            (Record::Kept { handle: expected, .. }, Record::Kept { handle, .. }) => expected == handle,
            _ => false,
        });
        self.expected.remove(place.unwrap_or_default())
    }

    fn diverged(&mut self, record: usize, message: String) {
        self.divergences.push(Divergence { question: self.question, record, message });
    }
}

fn is_same(expected: &Record, record: &Record) -> bool {
    match (expected, record) {
        // Time, money and the state of providers are not replayed: there the model of the replay has no answer.
        (Record::Finished { ending: expected }, Record::Finished { ending })
            if ending == Ending::ModelFailed.code() =>
        {
            let outside = [Ending::ModelFailed, Ending::Budget, Ending::Time, Ending::ContextLimit];
            outside.iter().any(|ending| ending.code() == expected)
        }
        _ => expected == record,
    }
}

fn is_answer_to_another_request(expected: &Record, record: &Record) -> bool {
    match (expected, record) {
        (
            Record::Answered { origin: expected_origin, answer: expected, .. },
            Record::Answered { origin, answer, .. },
        ) => expected_origin == origin && expected == answer,
        _ => false,
    }
}

/// Difference around the same answer.
fn changed(expected: &Record, record: &Record) -> &'static str {
    match (expected, record) {
        (Record::Answered { request: expected, .. }, Record::Answered { request, .. }) if expected == request => {
            "the cost of the answer is not the recorded one: the model's price changed"
        }
        _ => {
            "the request to the model is not the recorded one: the agent's prompt, its tools or its settings changed, or \
             an earlier step differs"
        }
    }
}

/// A step in few words, without its texts.
fn describe(record: &Record) -> String {
    match record {
        Record::Settings { .. } => "settings".to_owned(),
        Record::Asked { messages } => {
            let bytes: usize = messages.iter().map(Message::text).map(|text| text.len()).sum();
            format!("a question of {} messages with {bytes} bytes", messages.len())
        }
        Record::Answered { origin, answer, .. } => {
            format!("an answer of {}/{} with {} parts", origin.provider, origin.model, answer.parts.len())
        }
        Record::Calling { calls } => format!("{} calls", calls.len()),
        Record::Returned { result } => {
            let how = if result.is_error { "failure" } else { "result" };
            format!("a {how} of {} ({}) with {} bytes", result.name, result.call_id, result.text.len())
        }
        Record::Kept { handle, text } => format!("{handle} put aside with {} bytes", text.len()),
        Record::Notice { text } => format!("a notice of {} bytes", text.len()),
        Record::Nested { tokens, .. } => format!("{tokens} tokens of nested agents"),
        Record::Finished { ending } => format!("the end {ending:?}"),
    }
}
