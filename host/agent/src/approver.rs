//! Human approval of calls: the interface between the agent loop and a surface.

use crate::event::{AgentEvent, Watcher};
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::sync::Arc;

/// Asks a person to approve calls. Terminal, chat and HTTP surfaces each have their own.
pub trait Approver: Send + Sync {
    /// Returns true if there is a person to ask. Otherwise calls are left to the approval store (`agent-spaces
    /// approvals`), or denied if it has no approver.
    fn is_present(&self) -> bool {
        true
    }

    /// Requests approval of a call, or of several calls of one function. Dropping the future withdraws the request: it
    /// was decided elsewhere, or it expired.
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer>;
}

/// Approval request.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalRequest {
    /// Unguessable id of the approval.
    pub id: String,
    /// Text for the person, with the arguments of the call; sanitized and bounded.
    pub message: String,
    /// The call as it will be made (`function`, `functionId`, `module`, `source`, and `params` unless they are too long to
    /// be shown), or an array of such calls.
    pub call: Value,
}

/// Decision of the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApprovalAnswer {
    /// Approved.
    Approve {
        /// Approver, for the audit log.
        by: String,
    },
    /// Denied.
    Deny {
        /// Approver, for the audit log.
        by: String,
        /// Reason, for the model.
        reason: Option<String>,
    },
    /// Expired without a decision. The request may be repeated.
    Expired,
}

/// Approver that denies everything: there is no person to ask.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoApprover;

impl Approver for NoApprover {
    fn is_present(&self) -> bool {
        false
    }

    fn ask(&self, _request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        let reason = "nobody can be asked here: the user can create an approver token with `agent-spaces approvals \
                      token` and approve calls with `agent-spaces approvals approve`"
            .to_owned();
        let answer = ApprovalAnswer::Deny { by: "nobody".to_owned(), reason: Some(reason) };
        Box::pin(std::future::ready(answer))
    }
}

/// Reports requests to an approver and their decisions as events.
pub fn watched(approver: Arc<dyn Approver>, watcher: Watcher) -> Arc<dyn Approver> {
    Arc::new(Watched { approver, watcher })
}

struct Watched {
    approver: Arc<dyn Approver>,
    watcher: Watcher,
}

impl Approver for Watched {
    fn is_present(&self) -> bool {
        self.approver.is_present()
    }

    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        Box::pin(async move {
            let ApprovalRequest { id, message, call } = request.clone();
            (self.watcher)(AgentEvent::ApprovalRequired { id: id.clone(), message, call });
            let open = OpenQuestion { id: Some(id), watcher: &self.watcher };
            let answer = self.approver.ask(request).await;
            open.close(&answer);
            answer
        })
    }
}

/// Pending approval request. Dropping it reports that it was withdrawn.
struct OpenQuestion<'a> {
    id: Option<String>,
    watcher: &'a Watcher,
}

impl OpenQuestion<'_> {
    fn close(mut self, answer: &ApprovalAnswer) {
        let Some(id) = self.id.take() else { return };
        (self.watcher)(match answer {
            ApprovalAnswer::Approve { .. } => AgentEvent::ApprovalDecided { id, approved: true },
            ApprovalAnswer::Deny { .. } => AgentEvent::ApprovalDecided { id, approved: false },
            ApprovalAnswer::Expired => AgentEvent::Note { text: format!("Nobody decided about the approval {id}.") },
        });
    }
}

impl Drop for OpenQuestion<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.id.take() {
            let text = format!("The approval {id} is no longer needed: it was decided elsewhere, or it expired.");
            (self.watcher)(AgentEvent::Note { text });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use serde_json::json;
    use std::sync::{Mutex, PoisonError};

    struct Silent;

    impl Approver for Silent {
        fn ask(&self, _request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
            Box::pin(std::future::pending())
        }
    }

    fn request() -> ApprovalRequest {
        ApprovalRequest { id: "apr_1".into(), message: "May it?".into(), call: json!({ "function": "crm.send" }) }
    }

    #[test]
    fn a_watcher_is_told_of_questions_and_decisions() {
        let heard: Arc<Mutex<Vec<AgentEvent>>> = Arc::default();
        let told = heard.clone();
        let watcher: Watcher = Arc::new(move |event| told.lock().unwrap_or_else(PoisonError::into_inner).push(event));
        let denied = watched(Arc::new(NoApprover), watcher.clone()).ask(request()).now_or_never();
        assert!(matches!(denied, Some(ApprovalAnswer::Deny { reason: Some(_), .. })), "{denied:?}");
        assert!(watched(Arc::new(Silent), watcher).ask(request()).now_or_never().is_none());
        let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = AgentEvent::ApprovalRequired {
            id: "apr_1".into(),
            message: "May it?".into(),
            call: json!({ "function": "crm.send" }),
        };
        assert_eq!(heard[..2], [asked.clone(), AgentEvent::ApprovalDecided { id: "apr_1".into(), approved: false }]);
        assert_eq!(heard[2], asked);
        assert!(matches!(&heard[3], AgentEvent::Note { text } if text.contains("apr_1")), "{heard:?}");
    }

    #[test]
    fn a_watched_approver_is_present_if_it_is() {
        assert!(!watched(Arc::new(NoApprover), crate::event::unwatched()).is_present());
        assert!(watched(Arc::new(Silent), crate::event::unwatched()).is_present());
    }
}
