//! Requests about one run.

use super::request::{CallAnswer, CallOutcome};
use super::status::RunStatus;
use super::view::RunView;
use crate::audit::{Action, ApiAction, Subject};
use crate::body::JsonBody;
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{NoQuery, Query, RawQuery};
use crate::service::Service;
use crate::who::Who;
use agent_spaces_durable::DoubtAnswer;
use agent_spaces_durable::control::{self, Cancelled};
use agent_spaces_journal::Status;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use std::time::Duration;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Longest time that a request waits for a run.
const MAX_WAIT: usize = 60;

pub(super) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(get)).routes(routes!(cancel)).routes(routes!(resume)).routes(routes!(answer))
}

/// Get a run
#[utoipa::path(
    get, path = "/v1/runs/{run}", tag = "runs", operation_id = "getRun",
    params(
        ("run" = String, Path, description = "Id of the run"),
        ("wait" = Option<u32>, Query, description = "Seconds to wait for the run to end", minimum = 0, maximum = 60),
    ),
    responses((status = 200, description = "The run", body = RunView)),
)]
async fn get(
    State(service): State<Service>,
    who: Who,
    Path(run): Path<String>,
    query: RawQuery,
) -> Result<Json<RunView>, Problem> {
    let wait = wait(&query.with(&["wait"])?)?;
    service.run_row(&who, &run).await?;
    service.ended(&run, wait).await;
    Ok(Json(service.run_view(&who, &run).await?))
}

/// Cancel a run
///
/// A run that waits ends at once, one that is being executed within moments.
#[utoipa::path(
    post, path = "/v1/runs/{run}/cancel", tag = "runs", operation_id = "cancelRun",
    params(("run" = String, Path, description = "Id of the run")),
    responses((status = 202, description = "The run", body = RunView)),
)]
async fn cancel(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(run): Path<String>,
) -> Result<Response, Problem> {
    let row = service.run_row(&who, &run).await?;
    if row.status == Status::Cancelled {
        // A repeated request: the answer to the first may have been lost.
        return accepted(&service, &who, &run).await;
    }
    if row.status.is_ended() {
        return Err(Problem::run_ended());
    }
    service.record(ApiAction::new(&who, Action::RunCancelled, Subject::run(&run))).await?;
    service.0.live.cancel(&run);
    if control::cancel(&**service.store(), &run).await? == Cancelled::Ended {
        service.0.webhooks.notice_end(&run).await;
    }
    accepted(&service, &who, &run).await
}

/// Continue a run that waits for a person
///
/// Only for runs whose status is `needs_resume`.
#[utoipa::path(
    post, path = "/v1/runs/{run}/resume", tag = "runs", operation_id = "resumeRun",
    params(("run" = String, Path, description = "Id of the run")),
    responses((status = 202, description = "The run", body = RunView)),
)]
async fn resume(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(run): Path<String>,
) -> Result<Response, Problem> {
    let row = service.run_row(&who, &run).await?;
    if RunStatus::of(&row) != RunStatus::NeedsResume {
        return Err(Problem::conflict("run.not_waiting", "The run does not wait for a person to continue it"));
    }
    service.record(ApiAction::new(&who, Action::RunResumed, Subject::run(&run))).await?;
    control::wake(&**service.store(), &row).await?;
    accepted(&service, &who, &run).await
}

/// Say what became of a call in doubt
///
/// The host of the run died after it sent the call and before the answer came. Only the first answer counts.
#[utoipa::path(
    post, path = "/v1/runs/{run}/answers", tag = "runs", operation_id = "answerCall",
    params(("run" = String, Path, description = "Id of the run")),
    request_body = CallAnswer,
    responses((status = 200, description = "The run", body = RunView)),
)]
async fn answer(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(run): Path<String>,
    JsonBody(answer): JsonBody<CallAnswer>,
) -> Result<Json<RunView>, Problem> {
    service.run_row(&who, &run).await?;
    who.check_may_approve()?;
    let word = match (answer.outcome, answer.value) {
        (CallOutcome::Happened, value) => DoubtAnswer::Happened(value.unwrap_or_default()),
        (_, Some(_)) => return Err(Problem::invalid("/value", "only a call that happened has a value")),
        (CallOutcome::DidNotHappen, None) => DoubtAnswer::DidNotHappen,
        (CallOutcome::GiveUp, None) => DoubtAnswer::GiveUp,
    };
    let subject = Subject { call_id: Some(answer.call), ..Subject::run(&run) };
    service.record(ApiAction::new(&who, Action::CallAnswered, subject)).await?;
    control::answer(&**service.store(), &run, answer.call, &word).await?;
    Ok(Json(service.run_view(&who, &run).await?))
}

/// Reads `wait`.
pub(super) fn wait(query: &Query) -> Result<Duration, Problem> {
    let seconds = query.count("wait", 0, MAX_WAIT)?.unwrap_or_default();
    Ok(Duration::from_secs(u64::try_from(seconds).unwrap_or_default()))
}

/// Answers with a run that a request changes.
async fn accepted(service: &Service, who: &Who, run: &str) -> Result<Response, Problem> {
    Ok((StatusCode::ACCEPTED, Json(service.run_view(who, run).await?)).into_response())
}
