//! Requests for approval: those in the store, and the states of all.

use agent_spaces_approvals::{Request, Settled, Verdict, WaitingCall};
use agent_spaces_durable::doubt;
use agent_spaces_journal::{ApprovalFilter, ApprovalRow, Store, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Requests of a run that are read at once, and the number of such reads.
const PAGE: usize = 100;
const MAX_READS: usize = 20;

/// State of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ApprovalStatus {
    /// Waits for a decision.
    Pending,
    /// The call was approved.
    Approved,
    /// The call was denied.
    Denied,
    /// Nobody decided in time; of an agent's call also: the question ended before.
    Expired,
}

impl ApprovalStatus {
    /// Returns the state of a request with this decision.
    pub(crate) fn of(request: &Request, decision: Option<Verdict>) -> ApprovalStatus {
        match decision {
            Some(Verdict::Approved) => ApprovalStatus::Approved,
            Some(Verdict::Denied) => ApprovalStatus::Denied,
            None if request.time_left().is_none() => ApprovalStatus::Expired,
            None => ApprovalStatus::Pending,
        }
    }

    /// Returns the state of a call that waits in memory.
    pub(crate) fn of_waiting(call: &WaitingCall) -> ApprovalStatus {
        match &call.settled {
            None => ApprovalStatus::Pending,
            Some(Settled::Over) => ApprovalStatus::Expired,
            Some(Settled::Decided { decision, .. }) => match decision.verdict {
                Verdict::Approved => ApprovalStatus::Approved,
                Verdict::Denied => ApprovalStatus::Denied,
            },
        }
    }
}

/// Reads the request of an approval; `None` for a question about a call in doubt, and for a request that was tampered
/// with.
pub(crate) fn read(row: &ApprovalRow) -> Option<Request> {
    let request: Request = serde_json::from_str(&row.request).ok().filter(|_| !doubt::is_doubt(&row.id))?;
    Some(request).filter(Request::is_consistent)
}

/// Decision, as the store keeps it with its signature. Only signed ones count, and the run verifies them.
#[derive(Deserialize)]
struct StoredVerdict {
    decision: Verdict,
}

/// Returns the state of a request that was read from this row.
pub(crate) fn status(row: &ApprovalRow, request: &Request) -> ApprovalStatus {
    let decision = row.decision.as_deref().and_then(|text| serde_json::from_str::<StoredVerdict>(text).ok());
    ApprovalStatus::of(request, decision.map(|stored| stored.decision))
}

/// Returns true if calls of a run wait for approval, and can still be decided.
pub(crate) async fn has_pending(store: &dyn Store, run: &str) -> Result<bool, StoreError> {
    let mut after = None;
    for _ in 0..MAX_READS {
        let filter = ApprovalFilter { run: Some(run.to_owned()), after, limit: PAGE, ..ApprovalFilter::default() };
        let rows = store.approvals(filter).await?;
        let is_pending = |row: &ApprovalRow| read(row).is_some_and(|request| request.time_left().is_some());
        if rows.iter().any(is_pending) {
            return Ok(true);
        }
        if rows.len() < PAGE {
            break;
        }
        after = rows.last().map(|row| (row.created, row.id.clone()));
    }
    Ok(false)
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

/// Call of an agent of ann that pays, for tests.
#[cfg(test)]
pub(crate) fn of_agent() -> WaitingCall {
    let now = std::time::SystemTime::now();
    WaitingCall {
        id: "apr_1".to_owned(),
        owner: "ann".to_owned(),
        agent: "planner".to_owned(),
        session: None,
        message: "Pay?".to_owned(),
        function: "bank.pay".to_owned(),
        function_id: "capabilities:bank/bank@1.0.0#pay".to_owned(),
        module: "@capabilities/bank".to_owned(),
        params: vec![Some(serde_json::json!({ "title": "private title" }))],
        created: now,
        expires: now + std::time::Duration::from_secs(300),
        settled: None,
    }
}
