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
