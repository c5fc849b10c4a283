//! Work on a task: its question is answered, and what changes is stored.

use super::kept::{Changed, Kept};
use super::live::Live;
use super::registry::Registered;
use crate::a2a::bounds::{CANCEL_GRACE, MAX_ANSWER, RENEWAL};
use crate::a2a::parts::cut;
use crate::a2a::types::{Part, TaskState};
use crate::bodies::Held;
use crate::failure::{Failure, FailureKind};
use agent_spaces_agent::{AgentError, Ending, Outcome, Question, SessionChoice, Surface};
use std::sync::Arc;
use tokio::time::MissedTickBehavior;

/// Attempts to store a change that another one came before.
const ATTEMPTS: u32 = 3;

/// Status message of a task whose server stops.
const STOPPED: &str = "The server stops. Send a message in the same context to go on.";

/// A task with its question.
pub(super) struct Work {
    pub(super) live: Arc<Live>,
    pub(super) kept: Kept,
    pub(super) surface: Surface,
    pub(super) question: Question,
    /// Version of the task's document.
    pub(super) version: u64,
    /// Let go when the task is over.
    pub(super) registered: Registered,
    pub(super) held: Held,
}

impl Work {
    /// Works on the task until it is over.
    pub(super) async fn run(mut self) {
        let result = self.answer().await;
        if let Some(Ok(outcome)) = &result
            && !outcome.session.is_empty()
        {
            let Live { owner, agent, context, .. } = &*self.live;
            // The fault is in the operator's log. The task ends as it is; its context begins anew.
            let _ = self.kept.put_session(owner, agent, context, &outcome.session).await;
        }
        // One that waited for its turn fails with an error when it is cancelled.
        let result = result.filter(|result| result.is_ok() || !self.live.cancel.is_cancelled());
        let End { state, message, parts } = end(result);
        self.live.finish(state, message.as_deref(), parts);
        self.save().await;
        drop((self.registered, self.held));
    }

    async fn answer(&mut self) -> Option<Result<Outcome, AgentError>> {
        let question = self.question.clone();
        let is_resumed = matches!(question.session, SessionChoice::Resume(_));
        let result = self.ask(question).await;
        if is_resumed && matches!(result, Some(Err(AgentError::UnknownSession(_)))) {
            // The session expired: the context begins anew.
            return self.ask(Question { session: SessionChoice::New, ..self.question.clone() }).await;
        }
        result
    }

    /// Asks the agent. `None` if the question was cancelled and did not end in time.
    async fn ask(&mut self, question: Question) -> Option<Result<Outcome, AgentError>> {
        let (surface, live) = (self.surface.clone(), self.live.clone());
        let answering = surface.ask(question);
        tokio::pin!(answering);
        let mut renewal = tokio::time::interval(RENEWAL);
        renewal.set_missed_tick_behavior(MissedTickBehavior::Delay);
        renewal.reset();
        loop {
            tokio::select! {
                biased;
                () = live.cancel.cancelled() => break,
                result = &mut answering => return Some(result),
                () = live.unsaved.notified() => self.save().await,
                _ = renewal.tick() => self.save().await,
            }
        }
        self.save().await;
        tokio::time::timeout(CANCEL_GRACE, &mut answering).await.ok()
    }

    /// Stores the task as it is. A task that another process ended is ended here.
    async fn save(&mut self) {
        for _ in 0..ATTEMPTS {
            let (task, content) = self.live.kept();
            let (owner, id) = (&self.live.owner, &self.live.id);
            if let Some(content) = content
                && self.kept.put_content(owner, id, content).await.is_err()
            {
                // The next renewal tries again.
                self.live.content_was_not_saved();
            }
            match self.kept.change(owner, id, &task, self.version).await {
                Ok(Changed::Stored(version)) => {
                    self.version = version;
                    return;
                }
                Ok(Changed::Otherwise(task, version)) => {
                    self.version = version;
                    if task.status.state.is_over() {
                        self.live.adopt(*task);
                        return;
                    }
                }
                Ok(Changed::Gone) => {
                    self.live.finish(TaskState::Canceled, None, Vec::new());
                    self.live.cancel.cancel();
                    return;
                }
                Err(_) => return,
            }
        }
    }
}

/// Final status and answer of a task.
struct End {
    state: TaskState,
    message: Option<String>,
    parts: Vec<Part>,
}

impl End {
    fn without_answer(state: TaskState, message: impl Into<String>) -> End {
        End { state, message: Some(message.into()), parts: Vec::new() }
    }
}

fn end(result: Option<Result<Outcome, AgentError>>) -> End {
    let outcome = match result {
        None => return End::without_answer(TaskState::Failed, STOPPED),
        Some(Ok(outcome)) => outcome,
        Some(Err(error)) => {
            let failure = Failure::of_error(&error);
            let is_refused = matches!(
                failure.kind,
                FailureKind::Busy | FailureKind::Conflict | FailureKind::Invalid | FailureKind::Denied
            );
            let state = if is_refused { TaskState::Rejected } else { TaskState::Failed };
            return End::without_answer(state, failure.message);
        }
    };
    match outcome.ending {
        Ending::Cancelled => return End::without_answer(TaskState::Failed, STOPPED),
        Ending::Refused => {
            let said = Some(outcome.text).filter(|text| !text.trim().is_empty()).or(outcome.message);
            return End::without_answer(TaskState::Rejected, said.unwrap_or_else(|| "The model refused".to_owned()));
        }
        _ => {}
    }
    if let Some(failure) = Failure::of_outcome(&outcome) {
        return End::without_answer(TaskState::Failed, failure.message);
    }
    answered(outcome)
}

fn answered(outcome: Outcome) -> End {
    let Outcome { mut text, value, mut message, .. } = outcome;
    let value = value.filter(|value| value.to_string().len() <= MAX_ANSWER);
    let parts = match value {
        Some(value) => vec![Part { media_type: Some("application/json".to_owned()), ..Part::data(value) }],
        None if text.is_empty() => Vec::new(),
        None => {
            if cut(&mut text, MAX_ANSWER) {
                message = Some(format!("The answer was cut at {} KiB", MAX_ANSWER >> 10));
            }
            vec![Part::text(text)]
        }
    };
    End { state: TaskState::Completed, message, parts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_models::Usage;
    use serde_json::json;

    fn outcome(ending: Ending, text: &str) -> Outcome {
        Outcome {
            session: "ses_1".to_owned(),
            text: text.to_owned(),
            value: None,
            ending,
            message: Some("why".to_owned()),
            calls: Vec::new(),
            turns: 1,
            usage: Usage::default(),
            cost: None,
            model: None,
        }
    }

    #[test]
    fn the_end_of_a_question_is_the_end_of_its_task() {
        let state = |ending| end(Some(Ok(outcome(ending, "said")))).state;
        assert_eq!((state(Ending::Done), state(Ending::TurnLimit)), (TaskState::Completed, TaskState::Completed));
        assert_eq!((state(Ending::Refused), state(Ending::Budget)), (TaskState::Rejected, TaskState::Failed));
        assert_eq!((state(Ending::Cancelled), end(None).state), (TaskState::Failed, TaskState::Failed));
        assert_eq!(end(Some(Err(AgentError::Busy))).state, TaskState::Rejected);
        assert_eq!(end(Some(Err(AgentError::Denied("no".to_owned())))).state, TaskState::Rejected);
        let failed = end(Some(Err(AgentError::Store("/home/ann".to_owned()))));
        assert_eq!(failed.state, TaskState::Failed);
        assert!(!failed.message.unwrap().contains("ann"));
    }

    #[test]
    fn an_answer_is_text_or_data() {
        assert_eq!(answered(outcome(Ending::Done, "hi")).parts, [Part::text("hi")]);
        assert!(answered(outcome(Ending::Done, "")).parts.is_empty());
        let json = answered(Outcome { value: Some(json!({ "a": 1 })), ..outcome(Ending::Done, "{\"a\":1}") });
        assert_eq!(json.parts[0].data, Some(json!({ "a": 1 })));
        let long = answered(outcome(Ending::Done, &"x".repeat(MAX_ANSWER + 1)));
        assert!(long.message.unwrap().contains("512 KiB"));
    }
}
