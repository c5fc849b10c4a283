//! Requests for approval in the store.

use agent_spaces_approvals::Request;
use agent_spaces_durable::doubt;
use agent_spaces_journal::ApprovalRow;

/// Reads the request of an approval; `None` for a question about a call in doubt, and for a request that was tampered
/// with.
pub(crate) fn read(row: &ApprovalRow) -> Option<Request> {
    let request: Request = serde_json::from_str(&row.request).ok().filter(|_| !doubt::is_doubt(&row.id))?;
    Some(request).filter(Request::is_consistent)
}

/// Request of a call that creates a ticket, for tests.
#[cfg(test)]
pub(crate) fn of_ticket(run: &str, call: u64, lasts: std::time::Duration) -> Request {
    let question = agent_spaces_approvals::Question {
        run_id: run.to_owned(),
        call_id: call,
        space: None,
        function_id: agent_spaces_types::identity::FunctionId::new("capabilities:crm/crm@1.0.0", "create-ticket"),
        module: "@capabilities/crm".to_owned(),
        source: "tests".to_owned(),
        capability: "crm".to_owned(),
        function: "createTicket".to_owned(),
        params: serde_json::json!({ "title": "private title" }),
        shown: None,
        message: "Create a ticket?".to_owned(),
        places: vec!["agent.ts:5".to_owned()],
    };
    Request::new(question, lasts)
}
