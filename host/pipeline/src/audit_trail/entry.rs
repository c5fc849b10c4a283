//! Audit log entry of an event.

use agent_spaces_approvals::{canonical, digest};
use agent_spaces_types::event::{Event, EventKind};
use serde_json::{Value, json};

/// Maximum size of logged parameters, in bytes; of larger ones the log holds size and hash.
const MAX_PARAMS: usize = 4 * 1024;

/// Builds the log entry of an event.
pub(super) fn entry(event: &Event) -> Value {
    // Events consist of texts and numbers; a failure to serialise is logged all the same.
    let mut entry =
        serde_json::to_value(event).unwrap_or_else(|error| json!({ "type": "unwritable", "why": error.to_string() }));
    if let EventKind::CallScheduled { function_id, params, sent, .. }
    | EventKind::ApprovalRequired { function_id, params, sent, .. } = &event.kind
    {
        let size = canonical(params).len();
        entry["digest"] = sent.clone().unwrap_or_else(|| digest(function_id, params)).into();
        if size > MAX_PARAMS {
            entry["params"] = json!({ "$omitted": size });
        }
    }
    entry
}
