//! Runs in responses.

use super::RunOrigin;
use super::status::RunStatus;
use crate::approval_request;
use crate::approvals::{ApprovalView, StoredApproval};
use crate::ids;
use crate::problem::Problem;
use crate::run_error::ScriptFault;
use crate::service::Service;
use crate::time;
use crate::who::Who;
use agent_spaces_durable::details::{Details, details_and_events};
use agent_spaces_journal::{ApprovalRow, RunRow, Status};
use agent_spaces_types::run_error::RunError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Most approval requests that are shown with a run.
const MAX_APPROVALS: usize = 100;

/// Run.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Run)]
pub(crate) struct RunView {
    /// Id: `run_…`.
    id: String,
    /// Id of its space.
    space_id: String,
    /// Caller who started it; missing for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    /// File name of its script.
    name: String,
    /// State.
    status: RunStatus,
    /// Stored program that it executes: `report@3`.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// Time of creation.
    #[schema(format = DateTime)]
    created_at: String,
    /// Time of the last change.
    #[schema(format = DateTime)]
    updated_at: String,
    /// Time of its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    ended_at: Option<String>,
    /// Time until which it waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    waits_until: Option<String>,
    /// Value of a run that finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    value: Option<Value>,
    /// False if the script returned `undefined`: its value is null then.
    #[serde(skip_serializing_if = "Option::is_none")]
    has_value: Option<bool>,
    /// Error of a run that failed or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ScriptFault>)]
    error: Option<RunError>,
    /// Resource usage of a run that ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<RunUsage>,
    /// Console output so far.
    #[serde(skip_serializing_if = "Option::is_none")]
    console: Option<Vec<ConsoleLineView>>,
    /// Calls that wait for approval.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    approvals: Vec<ApprovalView>,
    /// Calls of which nobody knows whether they took effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    in_doubt: Vec<DoubtfulCall>,
}

/// Resource usage of a run.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Usage)]
pub(crate) struct RunUsage {
    /// Fuel consumed.
    fuel: u64,
    /// Peak size of linear memory.
    memory_bytes: u64,
    /// Wall-clock time.
    wall_ms: f64,
    /// Calls of capability functions.
    calls: u64,
    /// Bytes from capabilities to the script.
    bytes_in: u64,
    /// Bytes from the script to capabilities.
    bytes_out: u64,
}

/// Line of console output.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(as = ConsoleLine)]
pub(crate) struct ConsoleLineView {
    /// Method of `console`.
    level: ConsoleLevel,
    /// Text.
    text: String,
}

/// Level of console output: the method that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum ConsoleLevel {
    /// `console.log`
    Log,
    /// `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
    /// `console.debug`
    Debug,
}

/// Call of which nobody knows whether it took effect.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DoubtfulCall {
    /// Number of the call in its run.
    #[schema(minimum = 1)]
    call: u64,
    /// Function, as scripts write it: `crm.createTicket`.
    function: String,
    /// Id of the function.
    function_id: String,
    /// Arguments, with secrets redacted.
    #[schema(value_type = Value)]
    params: Value,
}

/// Members of events that are shown with a run.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum SeenEvent {
    Console(ConsoleLineView),
    RunFinished {
        usage: RunUsage,
    },
    #[serde(other)]
    Other,
}

impl RunView {
    /// Shows a run of a list: without its value and output.
    pub(crate) fn of_row(row: &RunRow, has_pending: bool) -> RunView {
        let status = RunStatus::shown(row, has_pending);
        RunView {
            id: row.id.clone(),
            space_id: row.summary.space.clone(),
            caller: Some(row.summary.caller.clone()).filter(|caller| !caller.is_empty()),
            name: row.summary.script.clone(),
            status,
            program: None,
            created_at: time::format(row.created),
            updated_at: time::format(row.updated),
            ended_at: status.is_ended().then(|| time::format(row.updated)),
            waits_until: row.wake_at.filter(|_| status == RunStatus::Waiting).map(time::format),
            value: None,
            has_value: None,
            error: None,
            usage: None,
            console: None,
            approvals: Vec::new(),
            in_doubt: Vec::new(),
        }
    }

    /// Shows everything about a run.
    async fn of_journal(service: &Service, row: RunRow) -> Result<RunView, Problem> {
        let (mut console, mut usage) = (Vec::new(), None);
        let see = |text: &str| match serde_json::from_str(text) {
            Ok(SeenEvent::Console(line)) => console.push(line),
            Ok(SeenEvent::RunFinished { usage: used }) => usage = Some(used),
            Ok(SeenEvent::Other) | Err(_) => {}
        };
        let read = details_and_events(&**service.store(), row, see).await?;
        let Details { row, header, in_doubt, approvals, result, .. } = read;
        let is_open = |row: &&ApprovalRow| row.decision.is_none();
        let pending = approvals.iter().filter(is_open).filter_map(StoredApproval::read);
        let pending = pending.filter(StoredApproval::is_pending).map(|approval| approval.view(&row.summary));
        let pending: Vec<ApprovalView> = match row.status.is_ended() {
            true => Vec::new(),
            false => pending.take(MAX_APPROVALS).collect(),
        };
        let mut view = RunView::of_row(&row, !pending.is_empty());
        let origin = RunOrigin::of(&header).unwrap_or_default();
        view.program = origin.program;
        view.approvals = pending;
        if !in_doubt.is_empty() && row.status == Status::Parked {
            view.status = RunStatus::InDoubt;
        }
        let doubtful = in_doubt.into_iter().map(|call| DoubtfulCall {
            call: call.call,
            function: call.function,
            function_id: call.function_id,
            params: call.params,
        });
        view.in_doubt = doubtful.collect();
        view.console = Some(console);
        view.usage = usage;
        if let Some(Value::Object(mut result)) = result {
            match result.remove("ok") {
                Some(value) => {
                    view.has_value = Some(result.get("hasValue") == Some(&Value::Bool(true)));
                    view.value = Some(value);
                }
                None => view.error = result.remove("error").and_then(|error| serde_json::from_value(error).ok()),
            }
        }
        Ok(view)
    }

    /// Returns the state.
    pub(crate) fn status(&self) -> RunStatus {
        self.status
    }
}

impl Service {
    /// Returns a run that a caller may see.
    pub(crate) async fn run_row(&self, who: &Who, id: &str) -> Result<RunRow, Problem> {
        let row = match ids::is_id(id, "run_") {
            true => self.store().run(id).await?,
            false => None,
        };
        let is_own = |row: &RunRow| row.summary.project == self.0.settings.project && who.owns(&row.summary.caller);
        row.filter(is_own).ok_or_else(|| Problem::not_found("run"))
    }

    /// Shows everything about a run that a caller may see.
    pub(crate) async fn run_view(&self, who: &Who, id: &str) -> Result<RunView, Problem> {
        let row = self.run_row(who, id).await?;
        let _permit = self.0.callers.view_permit(who.owner()).await;
        RunView::of_journal(self, row).await
    }

    /// Returns true if calls of a run wait for approval, and can still be decided.
    pub(crate) async fn has_pending(&self, run: &str) -> Result<bool, Problem> {
        Ok(approval_request::has_pending(&**self.store(), run).await?)
    }
}
