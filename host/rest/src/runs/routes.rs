//! Requests about runs.

use super::create::Source;
use super::request::{CallAnswer, CallOutcome, NewRunRequest};
use super::view::{RunStatus, RunView};
use crate::audit::{Action, ApiAction, Subject};
use crate::body::JsonBody;
use crate::idempotency::{Claimed, IdempotencyKey, LOOK_INTERVAL, MAX_LOOKS};
use crate::location::with_location;
use crate::pages::{MAX_READS, Page, PageRequest};
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{NoQuery, Query, RawQuery};
use crate::service::Service;
use crate::who::Who;
use agent_spaces_durable::DoubtAnswer;
use agent_spaces_durable::control::{self, Cancelled};
use agent_spaces_journal::{Filter, RunRow, Status};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::Instrument;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Kind of requests whose keys start runs.
const KEYED: &str = "run";

/// Longest time that a request waits for a run.
const MAX_WAIT: usize = 60;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new()
        .routes(routes!(create))
        .routes(routes!(list))
        .routes(routes!(get))
        .routes(routes!(cancel))
        .routes(routes!(resume))
        .routes(routes!(answer))
}

/// Start a run
///
/// A run outlives its request and the server. If the caller has as many runs in progress as it may, the run is queued.
#[utoipa::path(
    post, path = "/v1/spaces/{space}/runs", tag = "runs", operation_id = "createRun",
    params(
        ("space" = String, Path, description = "Id of the space"),
        ("wait" = Option<u32>, Query, description = "Seconds to wait for the run to end", minimum = 0, maximum = 60),
        ("Idempotency-Key" = Option<String>, Header, description = "Key under which a repeated request gives the same run, for 24 hours", min_length = 1, max_length = 255),
    ),
    request_body = NewRunRequest,
    responses(
        (status = 201, description = "The run, which has ended", body = RunView, headers(("Location" = String))),
        (status = 202, description = "The run, which is in progress or waits", body = RunView, headers(("Location" = String))),
    ),
)]
async fn create(
    State(service): State<Service>,
    who: Who,
    Path(space): Path<String>,
    query: RawQuery,
    key: Option<IdempotencyKey>,
    JsonBody(new): JsonBody<NewRunRequest>,
) -> Result<Response, Problem> {
    let wait = wait(&query.with(&["wait"])?)?;
    service.check_open()?;
    let space = service.space(&who, &space).await?;
    new.check()?;
    let mut id = agent_spaces_durable::runs::new_run_id();
    if let Some(key) = &key {
        let request = serde_json::json!([space.id, new.source, new.program, new.input, new.limits, new.name]);
        match key.claim(&service, &who, KEYED, &request.to_string(), &id).await? {
            Claimed::New => {}
            Claimed::Before { id: known, is_done: true } => {
                if service.store().run(&known).await?.is_none() {
                    return Err(no_longer_kept());
                }
                return shown_after(&service, &who, &known, wait).await;
            }
            Claimed::Before { id: known, is_done: false } => {
                if is_stored(&service, &known).await? {
                    // The server stopped before this was stored.
                    key.finish(&service, &who, KEYED).await?;
                    return shown_after(&service, &who, &known, wait).await;
                }
                // The server stopped before the run was stored.
                id = known.into();
            }
        }
    }
    let source = match (&new.source, &new.program) {
        (Some(source), _) => Source { text: source.clone(), program: None },
        (None, Some(program)) => service.program_source(&who, program).await?,
        (None, None) => return Err(Problem::invalid("/source", "give either `source` or `program`")),
    };
    let task = match service.start_run(&who, &space, id.clone(), &new, source).await {
        Ok(task) => task,
        // Another request with the same key was faster.
        Err(problem) if problem.code() == "conflict" => {
            service.store().flush().await?;
            return match is_stored(&service, &id).await? {
                true => shown_after(&service, &who, &id, wait).await,
                false => Err(problem),
            };
        }
        Err(problem) => return Err(problem),
    };
    // A task of its own: a client that disconnects does not stop it.
    let kept = tokio::spawn(keep(service.clone(), who.clone(), key, id.clone()).in_current_span());
    kept.await.map_err(|error| Problem::internal(&error))??;
    // The end of a space cancels the runs that are stored by then; this one may have come later.
    if service.space(&who, &space.id).await.is_err() {
        service.0.live.cancel(&id);
        control::cancel(&**service.store(), &id).await?;
        service.check_kept(&space).await?;
        return Err(Problem::not_found("space"));
    }
    match task {
        Some(task) if !wait.is_zero() => {
            let begun = Instant::now();
            tokio::select! {
                _it_goes_on = tokio::time::timeout(wait, task) => {}
                () = service.0.draining.cancelled() => {}
            }
            service.store().flush().await?;
            // It may have left memory before it ended.
            shown_after(&service, &who, &id, wait.saturating_sub(begun.elapsed())).await
        }
        _ => shown_after(&service, &who, &id, wait).await,
    }
}

/// Flushes a new run, and remembers that the request of its key had its effect.
async fn keep(service: Service, who: Who, key: Option<IdempotencyKey>, run: Arc<str>) -> Result<(), Problem> {
    // A client that sees the run must find it again after a crash.
    service.store().flush().await?;
    if let Some(key) = key
        && service.store().run(&run).await?.is_some()
    {
        key.finish(&service, &who, KEYED).await?;
    }
    Ok(())
}

/// Answers to the key of a run that was removed: it must not run twice.
fn no_longer_kept() -> Problem {
    let detail = "The run that this Idempotency-Key started is no longer kept: use a new key to run it again";
    Problem::conflict("request.idempotency", detail)
}

/// Returns true if a run is stored, or is about to be.
async fn is_stored(service: &Service, run: &str) -> Result<bool, Problem> {
    for _ in 0..MAX_LOOKS {
        if service.store().run(run).await?.is_some() {
            return Ok(true);
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
    Ok(false)
}

/// List runs
///
/// Newest first, without values and output.
#[utoipa::path(
    get, path = "/v1/runs", tag = "runs", operation_id = "listRuns",
    params(
        ("space" = Option<String>, Query, description = "Only those of this space"),
        ("status" = Option<RunStatus>, Query, description = "Only those in this state"),
        ("createdFrom" = Option<String>, Query, description = "Only those created at this time or later", format = DateTime),
        ("createdUntil" = Option<String>, Query, description = "Only those created before this time", format = DateTime),
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, description = "One page", body = Page<RunView>)),
)]
async fn list(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Json<Page<RunView>>, Problem> {
    let query = query.with(&["space", "status", "createdFrom", "createdUntil", "limit", "cursor"])?;
    Ok(Json(run_page(&service, &who, &query).await?))
}

/// Reads one page of runs.
pub(super) async fn run_page(service: &Service, who: &Who, query: &Query) -> Result<Page<RunView>, Problem> {
    let request: PageRequest<(i64, String)> = PageRequest::read(query)?;
    let status: Option<RunStatus> = query.choice("status")?;
    let (created_from, created_until) = (query.time("createdFrom")?, query.time("createdUntil")?);
    let space = query.text("space")?.map(str::to_owned);
    // States that the store does not tell apart are filtered here, so that a page may need several reads.
    let limit = match status.is_none_or(RunStatus::is_stored) {
        true => request.read_limit(),
        false => request.row_limit(),
    };
    let (mut before, mut stopped) = (request.after.clone(), None);
    let mut found: Vec<(RunRow, RunView)> = Vec::new();
    for read in 1..=MAX_READS {
        let filter = Filter {
            statuses: status.map(RunStatus::stored).unwrap_or_default(),
            before: before.take(),
            limit,
            caller: who.listed(),
            space: space.clone(),
            project: Some(service.0.settings.project.clone()),
            created_from,
            created_until,
        };
        let page = service.store().list(filter).await?;
        let is_last = page.len() < limit;
        before = page.last().map(|row| (row.created, row.id.clone()));
        for row in page {
            if found.len() >= request.read_limit() {
                break;
            }
            let has_pending = RunStatus::of(&row) == RunStatus::Running && service.has_pending(&row.id).await?;
            let view = RunView::of_row(&row, has_pending);
            if status.is_none_or(|status| view.status() == status) {
                found.push((row, view));
            }
        }
        if is_last || found.len() >= request.read_limit() {
            break;
        }
        if read == MAX_READS {
            stopped = before.take();
        }
    }
    Ok(request.page_until(stopped, found, |(row, _)| (row.created, row.id.clone()), |(_, view)| view))
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
    let row = service.run_row(&who, &run).await?;
    Ok(Json(service.run_view(&who, row).await?))
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
        return Err(Problem::conflict("run.ended", "The run has ended"));
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
    let row = service.run_row(&who, &run).await?;
    Ok(Json(service.run_view(&who, row).await?))
}

/// Reads `wait`.
fn wait(query: &Query) -> Result<Duration, Problem> {
    let seconds = query.count("wait", 0, MAX_WAIT)?.unwrap_or_default();
    Ok(Duration::from_secs(u64::try_from(seconds).unwrap_or_default()))
}

/// Answers with a run that a request changes.
async fn accepted(service: &Service, who: &Who, run: &str) -> Result<Response, Problem> {
    let row = service.run_row(who, run).await?;
    Ok((StatusCode::ACCEPTED, Json(service.run_view(who, row).await?)).into_response())
}

/// Answers with a run once it has ended, or the time is over.
async fn shown_after(service: &Service, who: &Who, run: &str, wait: Duration) -> Result<Response, Problem> {
    service.ended(run, wait).await;
    shown(service, who, run).await
}

/// Answers with a run that a request started.
async fn shown(service: &Service, who: &Who, run: &str) -> Result<Response, Problem> {
    let view = service.run_view(who, service.run_row(who, run).await?).await?;
    let status = if view.status().is_ended() { StatusCode::CREATED } else { StatusCode::ACCEPTED };
    Ok(with_location((status, Json(view)).into_response(), &format!("/v1/runs/{run}")))
}
