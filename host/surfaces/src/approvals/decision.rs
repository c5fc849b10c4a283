//! A decision, as callers send it.

use crate::failure::Failure;
use crate::json::{self, Object};
use agent_spaces_agent::ApprovalAnswer;
use agent_spaces_http_server::Client;

/// Longest reason and name of a decider, in characters.
const MAX_REASON: usize = 500;
const MAX_BY: usize = 100;

/// Reads a decision: `{ "decision": "approve" | "deny", "reason"?, "by"? }`.
pub(super) fn read(client: &Client, body: &Object) -> Result<ApprovalAnswer, Failure> {
    if let Some(unknown) = body.keys().find(|key| !["decision", "reason", "by", "for"].contains(&key.as_str())) {
        let unknown: String = unknown.chars().take(100).collect();
        return Err(Failure::invalid(unknown, "unknown member: expected `decision`, `reason` and `by`"));
    }
    if json::text(body, "for", "")?.is_some_and(|lasts| lasts != "once") {
        return Err(Failure::invalid("for", "expected `once`: decisions on calls of agents cover one call"));
    }
    let reason = json::text(body, "reason", "")?.map(str::to_owned);
    if reason.as_ref().is_some_and(|reason| reason.chars().count() > MAX_REASON) {
        return Err(Failure::invalid("reason", format!("expected at most {MAX_REASON} characters")));
    }
    let named = json::text(body, "by", "")?;
    // It goes to logs.
    let is_name = |by: &str| !by.trim().is_empty() && by.chars().count() <= MAX_BY && !by.chars().any(char::is_control);
    if named.is_some_and(|by| !is_name(by)) {
        return Err(Failure::invalid("by", format!("expected 1 to {MAX_BY} characters, without line breaks")));
    }
    let caller = if client.is_process() { "the operator" } else { client.owner() };
    // Who is named is what the caller says; the caller itself is known.
    let by = named.map_or_else(|| caller.to_owned(), |by| format!("{by} (through {caller})"));
    match json::needed_text(body, "decision", "")? {
        "approve" => Ok(ApprovalAnswer::Approve { by }),
        "deny" => Ok(ApprovalAnswer::Deny { by, reason }),
        _ => Err(Failure::invalid("decision", "expected `approve` or `deny`")),
    }
}
