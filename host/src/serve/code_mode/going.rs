//! What an agent reads of a run that goes on: what it waits for, how long the request waited and why it is answered now.

use super::follow::MAX_WAIT;
use crate::serve::runs::ServedRun;
use agent_spaces_approvals::Request;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// Who can decide about a call that waits.
#[derive(Clone, Copy, Default)]
pub(super) struct Deciders {
    /// Whether the person at the client is shown forms.
    pub(super) is_client_asked: bool,
    /// Whether somebody may decide with `agent-spaces approvals`.
    pub(super) has_elsewhere: bool,
}

/// How a request waited for a run that goes on.
pub(super) struct Waiting {
    pub(super) waited: Duration,
    pub(super) why: Returned,
    /// Whether it asked for longer than there is.
    pub(super) is_cut: bool,
}

/// Why a request is answered while its run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Returned {
    /// It waited as long as it was to.
    TimeOver,
    /// Calls wait for a person, of which the agent is told for the first time.
    ApprovalNeeded,
    /// The person closed a form without a decision.
    FormClosed,
}

impl Waiting {
    /// In words, of so many calls that wait for a person.
    fn text(&self, calls: usize) -> String {
        let waited = format!("Waited {:.1} s", self.waited.as_secs_f64());
        let why = match (self.why, calls) {
            (Returned::TimeOver, 0) => "it has not ended in that time",
            (Returned::TimeOver, _) => "nobody has decided in that time",
            (Returned::ApprovalNeeded, _) => "now these calls wait for a person",
            (Returned::FormClosed, _) => "the person closed the form without a decision",
        };
        let cut = match self.is_cut {
            true => format!(" `wait` is at most {} s.", MAX_WAIT.as_secs()),
            false => String::new(),
        };
        format!("{waited}: {why}.{cut}")
    }
}

/// The answer while a run goes on.
pub(super) fn of_going(
    run: &ServedRun,
    waiting: &[Arc<Request>],
    deciders: Deciders,
    waited: &Waiting,
) -> CallToolResult {
    let seconds = run.age().as_secs();
    let mut text = match waiting {
        [] => format!("Still running after {seconds} s."),
        _ => "Paused: a person must approve before it goes on.".to_owned(),
    };
    for request in waiting {
        let _ = write!(text, "\n- {} of {} ({})", request.label(), request.module, request.id);
        if deciders.has_elsewhere {
            let _ = write!(text, ": agent-spaces approvals approve {}", request.id);
        }
    }
    let why = match deciders.is_client_asked && !waiting.is_empty() {
        true => "go on asking them, and to wait for it",
        false => "wait for it",
    };
    let _ = write!(text, "\n{}", waited.text(waiting.len()));
    let _ = write!(text, "\nCall run_code with {{\"resume\": \"{}\"}} to {why}.", run.id);
    let approvals: Vec<Value> = waiting
        .iter()
        .map(|request| {
            let (function, module) = (request.label(), &request.module);
            let id = &request.function_id;
            json!({ "id": request.id, "function": function, "functionId": id, "module": module, "params": request.params })
        })
        .collect();
    let status = if waiting.is_empty() { "running" } else { "awaiting_approval" };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(json!({
        "status": status, "runId": run.id, "resume": run.id, "approvals": approvals,
        "waited": waited.waited.as_millis() as f64 / 1e3, "returned": waited.why,
    }));
    result
}
