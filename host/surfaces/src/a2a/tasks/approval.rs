//! Calls that wait for a person: the task needs input until the caller decides.

use super::live::{Live, State};
use crate::a2a::bounds::{MAX_APPROVALS, MAX_SHOWN_CALL, MAX_SHOWN_CALLS, MAX_STATUS};
use crate::a2a::error::{A2aError, ErrorKind};
use crate::a2a::parts::{Decision, decision};
use crate::a2a::types::{Message, Part, TaskState};
use agent_spaces_agent::{ApprovalAnswer, ApprovalRequest, Approver};
use agent_spaces_http_server::Client;
use agent_spaces_types::shown::Shown;
use futures_util::future::BoxFuture;
use serde_json::json;
use std::collections::VecDeque;
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
    /// True if the word of this caller counts.
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
        if state.status.state == TaskState::InputRequired {
            // The new status message has these calls too: the history needs only one of both.
            state.status.message = None;
        }
        self.show_waiting(state);
        Some(answer)
    }

    fn withdraw(&self, id: &str) {
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(index) = state.approvals.iter().position(|waiting| waiting.request.id == id) {
            self.remove(state, index);
        }
    }

    /// Takes a call away, and shows those that are left.
    fn remove(&self, state: &mut State, index: usize) -> Option<Waiting> {
        let removed = state.approvals.remove(index);
        self.show_waiting(state);
        removed
    }

    /// Sets the status: the calls that wait, or work goes on.
    fn show_waiting(&self, state: &mut State) {
        if state.approvals.is_empty() {
            self.set(state, TaskState::Working, None);
            return;
        }
        let message = self.question(&state.approvals);
        self.set(state, TaskState::InputRequired, Some(message));
        // A status of the same state with other calls has to be stored too.
        self.unsaved.notify_one();
    }

    /// The status message: for each call a text, and the call as data. Calls for which there is no room are shown once
    /// others are decided.
    fn question(&self, waiting: &VecDeque<Waiting>) -> Message {
        let (mut parts, mut left) = (Vec::new(), MAX_SHOWN_CALLS);
        for (index, Waiting { request, .. }) in waiting.iter().enumerate() {
            let text = Shown::text(&request.message, MAX_STATUS);
            let id = &request.id;
            let text =
                format!("{text}\n\nAnswer with `approve` or `deny`; if several calls wait, with `approve {id}`.");
            let mut data = json!({ "approval": id, "decisions": ["approve", "deny"] });
            if request.call.to_string().len() <= MAX_SHOWN_CALL {
                data["call"] = request.call.clone();
            }
            let size = text.len() + data.to_string().len();
            if index > 0 && size > left {
                parts.push(Part::text(format!("{} more calls wait: decide on these first.", waiting.len() - index)));
                break;
            }
            left = left.saturating_sub(size);
            parts.extend([Part::text(text), Part::data(data)]);
        }
        Message::of_agent(&self.context, &self.id, parts)
    }

    /// Takes a message of the caller to a task that needs input. One that decides nothing is kept, and the task waits on.
    /// Where several calls wait, a decision has to name one.
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
        if let (None, Some(first)) = (&approval, state.approvals.front())
            && state.approvals.len() > 1
        {
            let text = format!("Several calls wait: name one of them, as in `approve {}`", first.request.id);
            return Err(A2aError::params("message.parts", text));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::a2a::tasks::live::Names;
    use crate::a2a::types::Role;
    use crate::testing::ann;
    use tokio_util::sync::CancellationToken;

    fn said(text: &str) -> Message {
        let (message_id, parts) = ("m".to_owned(), vec![Part::text(text)]);
        Message { message_id, context_id: None, task_id: None, role: Role::User, parts, metadata: None }
    }

    fn live() -> Live {
        let [id, owner, agent, context] = ["task_1", "ann", "planner", "c"].map(str::to_owned);
        Live::new(Names { id, owner, agent, context }, &said("pay"), CancellationToken::new())
    }

    fn asked(live: &Live, id: &str) -> oneshot::Receiver<ApprovalAnswer> {
        let request = ApprovalRequest { id: id.to_owned(), message: "Pay?".to_owned(), call: json!({}) };
        live.ask(request).unwrap()
    }

    /// Ids of the calls that the status message shows.
    fn shown(live: &Live) -> Vec<String> {
        let parts = live.state().status.message.clone().map(|message| message.parts).unwrap_or_default();
        let ids = parts.iter().filter_map(|part| part.data.as_ref()?["approval"].as_str().map(str::to_owned));
        ids.collect()
    }

    #[test]
    fn all_calls_that_wait_are_shown_within_a_bound() {
        let live = live();
        let _first = asked(&live, "apr_1");
        let second = asked(&live, "apr_2");
        assert_eq!(shown(&live), ["apr_1", "apr_2"]);
        // One that is decided elsewhere is not shown any more.
        drop(second);
        live.withdraw("apr_2");
        assert_eq!(shown(&live), ["apr_1"]);
        let long = json!("x".repeat(MAX_SHOWN_CALL - 2));
        let waiting: Vec<_> = (0..8)
            .map(|number| {
                let id = format!("apr_long_{number}");
                live.ask(ApprovalRequest { id, message: "Pay?".to_owned(), call: long.clone() }).unwrap()
            })
            .collect();
        assert_eq!(shown(&live).len(), 4);
        let message = live.state().status.message.clone().unwrap();
        let last = message.parts.last().unwrap().text.clone().unwrap();
        assert!(last.starts_with("5 more calls wait"), "{last}");
        assert_eq!((waiting.len(), live.snapshot().history.len()), (8, 2));
    }

    #[test]
    fn a_decision_names_its_call_where_several_wait() {
        let (live, ann) = (live(), ann());
        let (mut first, mut second) = (asked(&live, "apr_1"), asked(&live, "apr_2"));
        for bare in ["approve", "deny", "deny: too much"] {
            let refused = live.receive(&said(bare), &ann).unwrap_err();
            assert_eq!(refused.kind, ErrorKind::Params, "{bare}");
            assert!(refused.message.contains("`approve apr_1`"), "{refused:?}");
        }
        assert!(live.receive(&said("approve apr_3"), &ann).is_err());
        assert!(first.try_recv().is_err() && second.try_recv().is_err());
        live.receive(&said("deny apr_2: too much"), &ann).unwrap();
        let reason = Some("too much".to_owned());
        assert_eq!(second.try_recv(), Ok(ApprovalAnswer::Deny { by: ann.person(), reason }));
        // One is left: the bare word means it.
        assert!(first.try_recv().is_err());
        live.receive(&said("approve"), &ann).unwrap();
        assert_eq!(first.try_recv(), Ok(ApprovalAnswer::Approve { by: ann.person() }));
        assert_eq!(live.state().status.state, TaskState::Working);
    }
}
