//! Result of a request whose run continues: pending approvals, time waited, and the reason for returning.

use super::follow::MAX_WAIT;
use crate::durable::FoundRun;
use crate::runs::ServedRun;
use agent_spaces_approvals::Request;
use agent_spaces_journal::Status;
use agent_spaces_types::counted::counted;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// Ways in which a pending call can be approved.
#[derive(Clone, Copy, Default)]
pub(super) struct Approvers {
    /// True if the client shows approval forms.
    pub(super) is_client_asked: bool,
    /// True if someone can decide with `agent-spaces approvals`.
    pub(super) has_elsewhere: bool,
}

/// Wait of a request whose run continues.
pub(super) struct WaitReport {
    pub(super) waited: Duration,
    pub(super) why: ReturnReason,
    /// True if it asked for more than the maximum.
    pub(super) is_cut: bool,
}

/// Reason why a request returns while its run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReturnReason {
    /// Its time is over.
    TimeOver,
    /// Approvals are pending that the agent does not know of.
    ApprovalNeeded,
    /// The person closed a form without a decision.
    FormClosed,
}

impl WaitReport {
    /// Formats the wait for a number of pending approvals.
    fn text(&self, calls: usize) -> String {
        let waited = format!("Waited {:.1} s", self.waited.as_secs_f64());
        let why = match (self.why, calls) {
            (ReturnReason::TimeOver, 0) => "the run has not ended yet",
            (ReturnReason::TimeOver, _) => "no decision yet",
            (ReturnReason::ApprovalNeeded, _) => "these calls now wait for approval",
            (ReturnReason::FormClosed, _) => "the person closed the form without a decision",
        };
        let cut = match self.is_cut {
            true => format!(" `wait` is at most {} s.", MAX_WAIT.as_secs()),
            false => String::new(),
        };
        format!("{waited}: {why}.{cut}")
    }
}

/// Builds the result while a run continues in memory.
pub(super) fn of_running(
    run: &ServedRun,
    waiting: &[Arc<Request>],
    approvers: Approvers,
    waited: &WaitReport,
) -> CallToolResult {
    let text = match waiting {
        [] => format!("Still running after {} s.", run.age().as_secs()),
        _ => PAUSED.to_owned(),
    };
    of_unfinished(&run.id, text, waiting, approvers, waited)
}

/// Builds the result while a durable run is not in the memory of this process.
pub(super) fn of_recorded(found: &FoundRun, approvers: Approvers, waited: &WaitReport) -> CallToolResult {
    let seconds = found.age().as_secs();
    let mut text = match (found.status, found.requests.as_slice(), found.sleeps_for()) {
        (Status::Running, [], _) => format!("Still running in another process, {seconds} s after its start."),
        (Status::Parked, [], Some(left)) => {
            format!("Asleep: the program waits for a timer, and continues in {} s.", left.as_secs())
        }
        (_, [], _) => format!("Not ended {seconds} s after its start."),
        _ => PAUSED.to_owned(),
    };
    if found.doubts > 0 {
        let _ = write!(
            text,
            "\nThe server stopped before {} was answered, which may have taken effect: the user must say what happened, \
             see `agent-spaces runs show {}`.",
            counted(found.doubts, "call"),
            found.id
        );
    }
    if found.is_diverged {
        let _ = write!(
            text,
            "\nThe program did not repeat what is recorded, and cannot go on by itself: the user can see why with \
             `agent-spaces runs show {}`.",
            found.id
        );
    }
    of_unfinished(&found.id, text, &found.requests, approvers, waited)
}

const PAUSED: &str = "Paused: a person must approve these calls first.";

/// Builds the result of a run that has not ended.
fn of_unfinished(
    id: &str,
    mut text: String,
    waiting: &[Arc<Request>],
    approvers: Approvers,
    waited: &WaitReport,
) -> CallToolResult {
    for request in waiting {
        let _ = write!(text, "\n- {} of {} ({})", request.label(), request.module, request.id);
        if approvers.has_elsewhere {
            let _ = write!(text, ": agent-spaces approvals approve {}", request.id);
        }
    }
    let why = match approvers.is_client_asked && !waiting.is_empty() {
        true => "keep asking the person and wait for the result",
        false => "wait for the result",
    };
    let _ = write!(text, "\n{}", waited.text(waiting.len()));
    let _ = write!(text, "\nCall run_code with {{\"resume\": \"{id}\"}} to {why}.");
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
        "status": status, "runId": id, "resume": id, "approvals": approvals,
        "waited": waited.waited.as_millis() as f64 / 1e3, "returned": waited.why,
    }));
    result
}
