//! What the log holds of an event.

use crate::events::{Event, EventKind};
use agent_spaces_approvals::{canonical, digest};
use serde_json::{Value, json};

/// Parameters up to this size are in the log; of larger ones only their size and hash are.
const MAX_PARAMS: usize = 4 * 1024;

/// The entry of an event.
pub(super) fn entry(event: &Event) -> Value {
    // An event is texts and numbers; what is not is still told.
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

/// The type of an event, as its entry has it.
pub(super) fn type_of(event: &Event) -> &'static str {
    match &event.kind {
        EventKind::RunStarted { .. } => "runStarted",
        EventKind::Console { .. } => "console",
        EventKind::CallScheduled { .. } => "callScheduled",
        EventKind::ApprovalRequired { .. } => "approvalRequired",
        EventKind::ApprovalDecided { .. } => "approvalDecided",
        EventKind::RunPaused { .. } => "runPaused",
        EventKind::RunResumed { .. } => "runResumed",
        EventKind::CallProgress { .. } => "callProgress",
        EventKind::CallRepeated { .. } => "callRepeated",
        EventKind::CallResult { .. } => "callResult",
        EventKind::CallError { .. } => "callError",
        EventKind::LimitReached { .. } => "limitReached",
        EventKind::RunFinished { .. } => "runFinished",
    }
}
