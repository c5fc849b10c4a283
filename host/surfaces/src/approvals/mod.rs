//! Calls of agents that wait for a person, in memory: a question that ends takes its approvals with it.
//!
//! - `decision`: decision of a person

mod decision;

use crate::bounds::{APPROVAL_TIME, MAX_APPROVALS, MAX_CALLER_APPROVALS, MAX_SHOWN_CALL};
use crate::failure::{Failure, FailureKind};
use crate::json::Object;
use agent_spaces_agent::{ApprovalAnswer, ApprovalRequest, Approver};
use agent_spaces_http_server::Client;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use tokio::sync::oneshot;

/// Calls that wait. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Approvals(Arc<Mutex<BTreeMap<String, Waiting>>>);

/// One call that waits.
struct Waiting {
    /// The caller whose question it is; empty for the operator.
    owner: String,
    agent: String,
    message: String,
    call: Value,
    created: SystemTime,
    decide: oneshot::Sender<ApprovalAnswer>,
}

impl Approvals {
    /// Returns who is asked about the calls of a question.
    pub(crate) fn approver(&self, client: &Client, agent: &str) -> Arc<dyn Approver> {
        Arc::new(CallerApprover { all: self.clone(), owner: client.owner().to_owned(), agent: agent.to_owned() })
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if a call with this id waits.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.entries().contains_key(id)
    }

    /// Shows the calls that a caller may see.
    pub(crate) fn list(&self, client: &Client) -> Value {
        let entries = self.entries();
        let visible = entries.iter().filter(|(_, waiting)| owns(client, waiting));
        json!({ "items": visible.map(|(id, waiting)| waiting.view(id)).collect::<Vec<_>>() })
    }

    /// Shows one call.
    pub(crate) fn get(&self, client: &Client, id: &str) -> Result<Value, Failure> {
        let entries = self.entries();
        let waiting = entries.get(id).filter(|waiting| owns(client, waiting)).ok_or_else(unknown)?;
        Ok(waiting.view(id))
    }

    /// Decides on a call. The first decision stands.
    pub(crate) fn decide(&self, client: &Client, id: &str, body: &Object) -> Result<Value, Failure> {
        let mut entries = self.entries();
        let waiting = entries.get(id).filter(|waiting| owns(client, waiting)).ok_or_else(unknown)?;
        if !client.is_process() && !client.may_approve() {
            let message = "This caller may not decide on approvals: the operator can set `mayApprove` for it";
            return Err(Failure::new(FailureKind::Denied, message));
        }
        let answer = decision::read(client, body)?;
        let mut view = waiting.view(id);
        let (status, decision) = match &answer {
            ApprovalAnswer::Approve { by } => ("approved", json!({ "decision": "approve", "by": by })),
            ApprovalAnswer::Deny { by, reason } => {
                ("denied", json!({ "decision": "deny", "by": by, "reason": reason }))
            }
            ApprovalAnswer::Expired => ("expired", Value::Null),
        };
        view["status"] = status.into();
        view["decision"] = decision;
        let waiting = entries.remove(id).ok_or_else(unknown)?;
        // A question that ended meanwhile has no use for it.
        waiting.decide.send(answer).map_err(|_| unknown())?;
        Ok(view)
    }

    /// Adds a call. The error is why it cannot wait.
    fn add(&self, id: &str, waiting: Waiting) -> Result<(), &'static str> {
        let mut entries = self.entries();
        let of_caller = entries.values().filter(|other| other.owner == waiting.owner).count();
        if entries.len() >= MAX_APPROVALS || of_caller >= MAX_CALLER_APPROVALS {
            return Err(
                "too many calls wait for a person: allow the function in the policy, or decide on some of them",
            );
        }
        if entries.contains_key(id) {
            return Err("a call with the same id waits already");
        }
        entries.insert(id.to_owned(), waiting);
        Ok(())
    }
}

/// Returns true if a client may see a call.
fn owns(client: &Client, waiting: &Waiting) -> bool {
    client.is_process() || client.owner() == waiting.owner
}

fn unknown() -> Failure {
    Failure::new(FailureKind::NotFound, "There is no such approval")
}

impl Waiting {
    fn view(&self, id: &str) -> Value {
        let expires = self.created.checked_add(APPROVAL_TIME).unwrap_or(self.created);
        json!({
            "id": id,
            "agent": self.agent,
            "status": "pending",
            "message": self.message,
            "call": self.call,
            "createdAt": humantime::format_rfc3339_millis(self.created).to_string(),
            "expiresAt": humantime::format_rfc3339_millis(expires).to_string(),
        })
    }
}

/// Asks whoever may approve for one caller.
struct CallerApprover {
    all: Approvals,
    owner: String,
    agent: String,
}

impl Approver for CallerApprover {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, ApprovalAnswer> {
        Box::pin(async move {
            let ApprovalRequest { id, message, call } = request;
            let (decide, decided) = oneshot::channel();
            let waiting = Waiting {
                owner: self.owner.clone(),
                agent: self.agent.clone(),
                message,
                call: shown(call),
                created: SystemTime::now(),
                decide,
            };
            if let Err(reason) = self.all.add(&id, waiting) {
                return ApprovalAnswer::Deny { by: "agent-spaces".to_owned(), reason: Some(reason.to_owned()) };
            }
            let _withdrawn = Withdrawal { all: &self.all, id: &id };
            match tokio::time::timeout(APPROVAL_TIME, decided).await {
                Ok(Ok(answer)) => answer,
                _ => ApprovalAnswer::Expired,
            }
        })
    }
}

/// Takes a call away when nobody waits for its decision any more.
struct Withdrawal<'a> {
    all: &'a Approvals,
    id: &'a str,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        self.all.entries().remove(self.id);
    }
}

/// Call as it is shown: as it is, or a note if it is too long.
fn shown(call: Value) -> Value {
    if call.to_string().len() <= MAX_SHOWN_CALL { call } else { "(too long to be shown: see the message)".into() }
}

#[cfg(test)]
mod tests;
