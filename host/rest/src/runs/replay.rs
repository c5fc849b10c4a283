//! Offline replay of a run, as it is or with a changed source.

use super::source::unreadable;
use super::view::ConsoleLineView;
use crate::body::JsonBody;
use crate::path::Path;
use crate::problem::Problem;
use crate::query::NoQuery;
use crate::run_error::ScriptFault;
use crate::service::Service;
use crate::who::Who;
use agent_spaces_durable::compare::{ChangedScript, CompareError, Comparison};
use agent_spaces_durable::findings::Findings;
use agent_spaces_durable::recorded_call::RecordedCall;
use agent_spaces_durable::verify::Verification;
use agent_spaces_journal::RunRow;
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_sandbox::run::RunReport;
use agent_spaces_types::code::Code;
use agent_spaces_types::event::ConsoleLine;
use agent_spaces_types::run_error::RunError;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Longest time of a replay. It does not wait for what the run waited for.
const MAX_TIME: Duration = Duration::from_secs(60);

pub(super) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(replay))
}

/// Replay of a run.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewReplay)]
pub(crate) struct ReplayRequest {
    /// Changed source. It gets the recorded answers as long as it makes the same calls, in order, and can import the
    /// modules that the recorded one imported.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(min_length = 1)]
    source: Option<String>,
}

/// Result of a replay.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Replay)]
pub(crate) struct ReplayView {
    /// True if every step and the result are the same.
    same: bool,
    /// Calls that were repeated.
    calls: u64,
    /// Findings, as `agent-spaces replay` prints them.
    text: String,
    /// First step that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<ReplayDifference>,
    /// Value of the script, if it ended with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    value: Option<Value>,
    /// False if the script returned `undefined`: its value is null then.
    #[serde(skip_serializing_if = "Option::is_none")]
    has_value: Option<bool>,
    /// Error of the script, if it ended with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ScriptFault>)]
    error: Option<RunError>,
    /// Console output of the replay.
    #[schema(value_type = Vec<ConsoleLineView>)]
    console: Vec<ConsoleLine>,
}

/// First step that differs.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReplayDifference {
    /// Recorded step, in words.
    recorded: String,
    /// Step of the replay, in words.
    replayed: String,
    /// Recorded call that comes at this step, or next; missing if there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ReplayCall>)]
    expected: Option<RecordedCall>,
    /// Call of the changed source; missing if it ended or waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<ReplayCall>)]
    seen: Option<RecordedCall>,
    /// Places in the script that call the function: `agent.ts:5`.
    places: Vec<String>,
}

/// Schema of [`RecordedCall`].
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RecordedCall)]
pub(crate) struct ReplayCall {
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

impl ReplayView {
    fn of_verification(run: &str, replayed: Verification) -> ReplayView {
        let Findings { text, is_same, .. } = Findings::of_verification(run, &replayed);
        let Verification { report, diverged, next_call, places, .. } = replayed;
        let difference = diverged.map(|diverged| ReplayDifference {
            recorded: diverged.expected,
            replayed: diverged.seen,
            expected: next_call,
            seen: None,
            places,
        });
        ReplayView::new(is_same, report.usage.calls, text.to_string(), difference, report)
    }

    fn of_comparison(run: &str, compared: Comparison) -> ReplayView {
        let Findings { text, is_same, .. } = Findings::of_comparison(run, &compared);
        let Comparison { report, matched, difference, .. } = compared;
        let difference = difference.map(|difference| {
            let (recorded, replayed) = difference.words(&report);
            let (expected, seen, places) = (difference.expected, difference.seen, difference.places);
            ReplayDifference { recorded, replayed, expected, seen, places }
        });
        ReplayView::new(is_same, matched, text.to_string(), difference, report)
    }

    fn new(
        same: bool,
        calls: u64,
        text: String,
        difference: Option<ReplayDifference>,
        report: RunReport,
    ) -> ReplayView {
        let RunReport { outcome, has_value, console, .. } = report;
        // A replay that stops at a difference, or where the record ends, has not ended.
        let is_stopped = |error: &RunError| [Code::RunParked, Code::RunDiverged].iter().any(|code| error.code == *code);
        let (value, error) = match outcome {
            Ok(value) => (Some(value), None),
            Err(error) if is_stopped(&error) => (None, None),
            Err(error) => (None, Some(error)),
        };
        ReplayView {
            same,
            calls,
            text,
            difference,
            has_value: value.as_ref().map(|_| has_value),
            value,
            error,
            console,
        }
    }
}

/// Replay a run
///
/// Executes it again offline with its recorded answers, and compares every step. No call is made, and nothing is stored. It
/// takes one of the places of the caller's runs, and ends if the client disconnects.
#[utoipa::path(
    post, path = "/v1/runs/{run}/replay", tag = "runs", operation_id = "replayRun",
    params(("run" = String, Path, description = "Id of the run")),
    request_body = ReplayRequest,
    responses((status = 200, description = "Findings", body = ReplayView)),
)]
async fn replay(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(run): Path<String>,
    JsonBody(request): JsonBody<ReplayRequest>,
) -> Result<Json<Value>, Problem> {
    let row = service.run_row(&who, &run).await?;
    if request.source.as_ref().is_some_and(String::is_empty) {
        return Err(Problem::invalid("/source", "the source is empty"));
    }
    let no_engine = || Problem::unavailable("host.not_ready", "The server has no engine to replay runs with");
    let engine = service.0.source.engine().ok_or_else(no_engine)?;
    let _permit = service.turn(&who).await?;
    let replaying = replayed(&service, &row, request.source.as_deref(), &engine);
    let view = tokio::time::timeout(MAX_TIME, replaying).await.map_err(|_| {
        let detail = format!("The replay took longer than {} seconds", MAX_TIME.as_secs());
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, Code::LimitTime.as_str(), detail)
    })??;
    let mut value = serde_json::to_value(&view).map_err(|error| Problem::internal(&error))?;
    // Recorded answers have no secrets, but a source may.
    if let Some(space) = service.space_of(&who, &row).await {
        space.space.redactor().value(&mut value);
    }
    Ok(Json(value))
}

/// Replays a run, or compares a changed source with it.
async fn replayed(
    service: &Service,
    row: &RunRow,
    source: Option<&str>,
    engine: &Engine,
) -> Result<ReplayView, Problem> {
    let (runs, run) = (&service.0.runs, row.id.as_str());
    let Some(source) = source else {
        let verified = runs.verify(run, engine).await.map_err(unreadable)?;
        return Ok(ReplayView::of_verification(run, verified));
    };
    let script = ChangedScript { name: &row.summary.script, source, workspace: None };
    let compared = runs.compare(run, engine, script).await.map_err(|error| match error {
        CompareError::Run(error) => unreadable(error),
        CompareError::Script(error) => Problem::script(error),
        error => Problem::internal(&error),
    })?;
    Ok(ReplayView::of_comparison(run, compared))
}
