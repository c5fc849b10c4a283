//! Approvals in the store.

use super::view::{ApprovalView, DecisionView};
use crate::approval_request::{self, ApprovalStatus};
use crate::time;
use agent_spaces_approvals::{Request, Verdict};
use agent_spaces_journal::{ApprovalRow, Summary};
use serde::Deserialize;

/// Approval in the store: a request, and perhaps a decision.
pub(crate) struct StoredApproval {
    id: String,
    pub(super) request: Request,
    decision: Option<SignedDecision>,
    created: i64,
    decided_at: Option<i64>,
}

/// Decision, as the store keeps it with its signature.
#[derive(Deserialize)]
struct SignedDecision {
    decision: Verdict,
    #[serde(default)]
    reason: Option<String>,
    by: String,
    #[serde(default)]
    caller: Option<String>,
}

impl StoredApproval {
    /// Reads an approval; `None` for a question about a call in doubt, and for a request that was tampered with.
    pub(crate) fn read(row: &ApprovalRow) -> Option<StoredApproval> {
        let request = approval_request::read(row)?;
        // Only signed decisions count, and the run verifies them. This shows what was written.
        let decision = row.decision.as_deref().and_then(|text| serde_json::from_str(text).ok());
        let (id, created, decided_at) = (row.id.clone(), row.created, row.decided_at);
        Some(StoredApproval { id, request, decision, created, decided_at })
    }

    /// Returns its state.
    pub(super) fn status(&self) -> ApprovalStatus {
        ApprovalStatus::of(&self.request, self.decision.as_ref().map(|signed| signed.decision))
    }

    /// Returns true if it waits for a decision.
    pub(crate) fn is_pending(&self) -> bool {
        self.status() == ApprovalStatus::Pending
    }

    /// Returns its id.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Returns its position in lists.
    pub(super) fn position(&self) -> (i64, String) {
        (self.created, self.id.clone())
    }

    /// Shows it, with the space and the caller of its run.
    pub(crate) fn view(self, run: &Summary) -> ApprovalView {
        let status = self.status();
        let decision = self.decision.map(|signed| DecisionView {
            decision: signed.decision.into(),
            reason: signed.reason,
            by: signed.by,
            caller: signed.caller,
            decided_at: self.decided_at.map(time::format),
        });
        let request = self.request;
        ApprovalView {
            status,
            space_id: Some(run.space.clone()),
            agent: None,
            session: None,
            caller: Some(run.caller.clone()).filter(|caller| !caller.is_empty()),
            created_at: time::format(self.created),
            expires_at: time::of(request.expires).map(time::format).unwrap_or_else(|| time::format(i64::MAX)),
            message: shown_message(&request),
            places: request.places.iter().map(ToString::to_string).collect(),
            function_id: request.function_id.to_string(),
            params: Some(request.params),
            calls: Vec::new(),
            module: request.module,
            capability: request.capability,
            function: request.function,
            call_id: Some(request.call_id),
            run_id: Some(request.run_id),
            id: request.id,
            decision,
        }
    }
}

/// Returns the message of a request, as its event has it.
fn shown_message(request: &Request) -> String {
    match request.message.to_string() {
        message if message.is_empty() => format!("Allow {}.{}?", request.capability, request.function),
        message => message,
    }
}

#[cfg(test)]
mod tests {
    use super::StoredApproval;
    use crate::approval_request::of_ticket;
    use agent_spaces_approvals::{ApproverToken, Decision, Request};
    use agent_spaces_journal::{ApprovalRow, Summary};
    use serde_json::{Value, json};
    use std::time::Duration;

    fn request() -> Request {
        of_ticket("run_1", 1, Duration::from_secs(600))
    }

    fn shown(request: &Request, decision: Option<String>) -> Value {
        shown_of("ann", request, decision)
    }

    fn shown_of(caller: &str, request: &Request, decision: Option<String>) -> Value {
        let row = ApprovalRow {
            id: request.id.clone(),
            run: request.run_id.clone(),
            call: request.call_id,
            request: serde_json::to_string(request).unwrap(),
            decided_at: decision.as_ref().map(|_| 1),
            decision,
            created: 0,
        };
        let run = Summary { space: "spc_1".to_owned(), caller: caller.to_owned(), ..Summary::default() };
        serde_json::to_value(StoredApproval::read(&row).unwrap().view(&run)).unwrap()
    }

    #[test]
    fn an_approval_names_its_space_and_the_caller_of_its_run() {
        let pending = shown(&request(), None);
        assert_eq!((&pending["spaceId"], &pending["status"]), (&json!("spc_1"), &json!("pending")));
        assert_eq!((&pending["message"], &pending["caller"]), (&json!("Create a ticket?"), &json!("ann")));
        assert_eq!(shown_of("", &request(), None).get("caller"), None, "the operator has no name");
    }

    #[test]
    fn a_decision_names_the_caller_and_whom_the_caller_names() {
        let (request, token) = (request(), ApproverToken::new().unwrap());
        let names = |text: String| {
            let decision = shown(&request, Some(text))["decision"].clone();
            (decision["by"].clone(), decision["caller"].clone())
        };
        let of_caller = token.sign_decision_of("desk", &request, Decision::approve("ann"));
        assert_eq!(names(of_caller), (json!("ann"), json!("desk")));
        let at_terminal = token.sign_decision(&request, Decision::deny("ann", None));
        assert_eq!(names(at_terminal), (json!("ann"), Value::Null));
    }
}
