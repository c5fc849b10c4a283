//! Calls that wait for a person: the task needs input until the caller decides.

use super::live::{Live, State};
use crate::a2a::bounds::{MAX_APPROVALS, MAX_SHOWN_CALL, MAX_STATUS};
use crate::a2a::error::{A2aError, ErrorKind};
use crate::a2a::parts::{Decision, decision};
use crate::a2a::types::{Message, Part, TaskState};
use agent_spaces_agent::{ApprovalAnswer, ApprovalRequest, Approver};
use agent_spaces_http_server::Client;
use agent_spaces_types::shown::Shown;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::sync::Arc;
use tokio::sync::oneshot;

/// Characters of a reason for the model.
const MAX_REASON: usize = 1_000;

/// A call that waits.
pub(super) struct Waiting {
    request: ApprovalRequest,
    answer: oneshot::Sender<ApprovalAnswer>,
}

/// Asks the caller of a task.
pub(super) struct TaskApprover {
    live: Arc<Live>,
    /// Whether the word of this caller counts.
    may_approve: bool,
}

impl TaskApprover {
    pub(super) fn new(live: Arc<Live>, client: &Client) -> TaskApprover {
        TaskApprover { live, may_approve: client.may_approve() }
    }
}

impl Approver for TaskApprover {
    fn is_present(&self) -> bool {
        self.may_approve
    }

    fn ask<'a>(&'a self, request: ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer> {
        Box::pin(async move {
            if !self.may_approve {
                let reason = Some("this caller may not approve calls".to_owned());
                return ApprovalAnswer::Deny { by: "nobody".to_owned(), reason };
            }
            let asked = Asked { live: self.live.clone(), id: request.id.clone() };
            let Some(answer) = self.live.ask(request) else { return ApprovalAnswer::Expired };
            let answer = answer.await.unwrap_or(ApprovalAnswer::Expired);
            drop(asked);
            answer
        })
    }
}

/// A question to the caller, withdrawn on drop.
struct Asked {
    live: Arc<Live>,
    id: String,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.live.withdraw(&self.id);
    }
}

impl Live {
    /// Asks about a call. `None` if too many wait, or the task is over.
    fn ask(&self, request: ApprovalRequest) -> Option<oneshot::Receiver<ApprovalAnswer>> {
        let mut guard = self.state();
        let state = &mut *guard;
        if state.status.state.is_over() || state.approvals.len() >= MAX_APPROVALS {
            return None;
        }
        let (sender, answer) = oneshot::channel();
        state.approvals.push_back(Waiting { request, answer: sender });
        if state.approvals.len() == 1 {
            self.show_first(state);
        }
        Some(answer)
    }

    fn withdraw(&self, id: &str) {
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(index) = state.approvals.iter().position(|waiting| waiting.request.id == id) {
            self.remove(state, index);
        }
    }

    /// Takes a call away, and shows the next if it was the one that is shown.
    fn remove(&self, state: &mut State, index: usize) -> Option<Waiting> {
        let removed = state.approvals.remove(index);
        if index == 0 {
            self.show_first(state);
        }
        removed
    }

    fn show_first(&self, state: &mut State) {
        match state.approvals.front() {
            Some(waiting) => {
                let message = self.question(&waiting.request);
                self.set(state, TaskState::InputRequired, Some(message));
            }
            None => self.set(state, TaskState::Working, None),
        }
    }

    /// The question as a message, with the call as data.
    fn question(&self, request: &ApprovalRequest) -> Message {
        let text = Shown::text(&request.message, MAX_STATUS);
        let text = format!("{text}\n\nAnswer with `approve` or `deny`.");
        let mut data = json!({ "approval": request.id, "decisions": ["approve", "deny"] });
        if request.call.to_string().len() <= MAX_SHOWN_CALL {
            data["call"] = request.call.clone();
        }
        Message::of_agent(&self.context, &self.id, vec![Part::text(text), Part::data(data)])
    }

    /// Takes a message of the caller to a task that needs input. One that decides nothing is kept, and the task waits on.
    pub(super) fn receive(&self, message: &Message, client: &Client) -> Result<(), A2aError> {
        let mut guard = self.state();
        let state = &mut *guard;
        if state.status.state != TaskState::InputRequired {
            let text = match state.status.state.is_over() {
                true => "The task is over: send the message without `taskId` to start another in the same context",
                false => "The task is being worked on: wait until it is over or needs input, or cancel it",
            };
            return Err(A2aError::of_task(ErrorKind::Unsupported, &self.id, text));
        }
        let Some(Decision { is_approved, approval, reason }) = decision(message) else {
            let status = state.status.clone();
            self.remember_question(state, &status);
            self.remember(state, message);
            self.unsaved.notify_one();
            return Ok(());
        };
        if !client.may_approve() {
            return Err(A2aError::new(ErrorKind::Denied, "This caller may not approve calls"));
        }
        let named = |waiting: &Waiting| approval.as_ref().is_none_or(|id| waiting.request.id == *id);
        let Some(index) = state.approvals.iter().position(named) else {
            return Err(A2aError::params(
                "message.parts",
                "No call with this `approval` waits: see the status of the task",
            ));
        };
        let status = state.status.clone();
        self.remember_question(state, &status);
        self.remember(state, message);
        let by = client.person();
        let reason = reason.map(|reason| String::from(Shown::line(&reason, MAX_REASON)));
        let answer = match is_approved {
            true => ApprovalAnswer::Approve { by },
            false => ApprovalAnswer::Deny { by, reason },
        };
        if let Some(waiting) = self.remove(state, index) {
            // One that nobody waits for was decided elsewhere.
            let _ = waiting.answer.send(answer);
        }
        self.unsaved.notify_one();
        Ok(())
    }
}
