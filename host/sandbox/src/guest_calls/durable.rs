//! Calls of durable runs: answered from the journal while the run is replayed, recorded from then on.

use super::BegunAnswer;
use crate::imports::ImportedFunction;
use crate::state::State;
use agent_spaces_calls::call_path::{Answered, Outcome};
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::journal::{AnswerInfo, RecordedAnswer, RunJournal};
use agent_spaces_types::capability_error::CapabilityError;
use std::sync::Arc;
use std::time::Instant;

/// Answer of a call, and facts about the call.
type DurableAnswer = (Result<Answered, CapabilityError>, AnswerInfo);

impl ImportedFunction {
    /// Answers a call with its recorded answer, or executes it and records the answer.
    pub(super) async fn answer_durably(
        self: &Arc<ImportedFunction>,
        journal: &Arc<dyn RunJournal>,
        begun: BegunAnswer,
        is_sync: bool,
        context: &Arc<RunContext>,
    ) -> DurableAnswer {
        let BegunAnswer { call, recorded } = begun;
        if let Some(recorded) = recorded {
            return answered(recorded);
        }
        let (id, started) = (call.id, Instant::now());
        let answer = match journal.admit(id, self.path.effect()).await {
            Ok(None) => self.path.clone().call(call, context.clone()).await,
            Ok(Some(given)) => answered(given).0,
            Err(error) => Err(error),
        };
        let duration = started.elapsed();
        let is_cached = answer.as_ref().is_ok_and(|answered| answered.is_cached);
        let about = AnswerInfo { is_cached, is_sync, duration, repetitions: context.calls.unsettled(id) };
        journal.record_answer(id, answer.as_ref().map(|answered| &answered.value), about);
        (answer, about)
    }
}

fn answered(RecordedAnswer { answer, about, .. }: RecordedAnswer) -> DurableAnswer {
    let answered = |value| Answered { value, is_cached: about.is_cached, outcome: Outcome::new(|_| {}) };
    (answer.map(answered), about)
}

impl State {
    /// Returns the recorded error of a call that was refused, or records this one.
    pub(super) fn refusal(
        &self,
        call_id: u64,
        recorded: Option<RecordedAnswer>,
        refuse: impl FnOnce() -> CapabilityError,
    ) -> CapabilityError {
        if let Some(RecordedAnswer { answer: Err(error), .. }) = recorded {
            return error;
        }
        let error = refuse();
        self.record_refusal(call_id, &error);
        error
    }

    /// Records the error of a call that was refused.
    pub(super) fn record_refusal(&self, call_id: u64, error: &CapabilityError) {
        if let Some(journal) = self.journal() {
            journal.record_answer(call_id, Err(error), AnswerInfo { is_sync: true, ..AnswerInfo::default() });
        }
    }
}
