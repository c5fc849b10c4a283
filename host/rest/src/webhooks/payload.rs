//! Bodies of messages: the event, and ids to read more. No arguments, no values, no secrets.

use super::types::WebhookEvent;
use crate::time;
use agent_spaces_approvals::Request;
use agent_spaces_journal::{ApprovalRow, RunRow};
use serde_json::{Value, json};

/// Returns the body for an ended run.
pub(super) fn run_ended(row: &RunRow) -> Value {
    json!({
        "type": WebhookEvent::RunEnded,
        "timestamp": time::format(row.updated),
        "data": { "runId": row.id, "spaceId": row.summary.space, "status": row.status.as_str() },
    })
}

/// Returns the body for a call that needs approval.
pub(super) fn approval_needed(space: &str, row: &ApprovalRow, request: &Request) -> Value {
    json!({
        "type": WebhookEvent::ApprovalNeeded,
        "timestamp": time::format(row.created),
        "data": {
            "approvalId": row.id,
            "runId": row.run,
            "spaceId": space,
            "capability": request.capability,
            "function": request.function,
            "message": request.message.to_string(),
            "expiresAt": humantime::format_rfc3339_millis(request.expires).to_string(),
        },
    })
}
