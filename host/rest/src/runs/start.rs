//! Requests that start runs.

use super::admit::Admitted;
use super::create::Source;
use super::request::NewRunRequest;
use super::routes::wait;
use super::view::RunView;
use crate::body::JsonBody;
use crate::idempotency::{Claimed, IdempotencyKey, LOOK_INTERVAL, MAX_LOOKS};
use crate::location::with_location;
use crate::path::Path;
use crate::problem::Problem;
use crate::query::RawQuery;
use crate::service::Service;
use crate::who::Who;
use agent_spaces_calls::turns::{Turns, in_turn};
use agent_spaces_durable::control;
use agent_spaces_journal::{StoreError, Ticket};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use std::time::{Duration, Instant};
use tracing::Instrument;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Kind of requests whose keys start runs.
const KEYED: &str = "run";

/// Longest wait for a run that ended without calls to be stored.
const MAX_FLUSH: Duration = Duration::from_secs(60);

pub(super) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(create))
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
    admitted: Admitted,
    Path(space): Path<String>,
    query: RawQuery,
    key: Option<IdempotencyKey>,
    JsonBody(mut new): JsonBody<NewRunRequest>,
) -> Result<Response, Problem> {
    let wait = wait(&query.with(&["wait"])?)?;
    service.check_open()?;
    let space = service.space(&who, &space).await?;
    new.check()?;
    let mut id = agent_spaces_durable::runs::new_run_id();
    if let Some(key) = &key {
        // By reference: the source and the input have megabytes.
        let request = (&space.id, &new.source, &new.program, &new.input, &new.limits, &new.name);
        let request = serde_json::to_string(&request).map_err(|error| Problem::internal(&error))?;
        match key.claim(&service, &who, KEYED, &request, &id).await? {
            Claimed::New => {}
            Claimed::Before { id: known, is_done: true } => {
                if service.store().run(&known).await?.is_none() {
                    return Err(no_longer_kept());
                }
                drop(admitted);
                return shown_after(&service, &who, &known, wait).await;
            }
            Claimed::Before { id: known, is_done: false } => {
                if is_stored(&service, &known).await? {
                    // The server stopped before this was stored.
                    key.finish(&service, &who, KEYED).await?;
                    drop(admitted);
                    return shown_after(&service, &who, &known, wait).await;
                }
                // The server stopped before the run was stored.
                id = known.into();
            }
        }
    }
    let source = match (new.source.take(), &new.program) {
        (Some(text), _) => Source { text, program: None },
        (None, Some(program)) => service.program_source(&who, program).await?,
        (None, None) => return Err(Problem::invalid("/source", "give either `source` or `program`")),
    };
    let (created, task) = match service.start_run(&who, &space, id.clone(), &new, source).await {
        Ok(started) => started.unzip(),
        // Another request with the same key was faster.
        Err(problem) if problem.code() == "conflict" => {
            service.store().flush().await?;
            let is_stored = is_stored(&service, &id).await?;
            drop(admitted);
            return match is_stored {
                true => shown_after(&service, &who, &id, wait).await,
                false => Err(problem),
            };
        }
        Err(problem) => return Err(problem),
    };
    // A task of its own: a client that disconnects does not stop it.
    let keeping = in_turn(Turns::current(), keep(service.clone(), who.clone(), key, created));
    let kept = tokio::spawn(keeping.in_current_span()).await.map_err(|error| Problem::internal(&error))?;
    kept.ok_or_else(|| Problem::internal(&"the request was dropped"))??;
    // The end of a space cancels the runs that are stored by then; this one may have come later.
    if service.space(&who, &space.id).await.is_err() {
        service.0.live.cancel(&id);
        control::cancel(&**service.store(), &id).await?;
        service.check_kept(&space).await?;
        return Err(Problem::not_found("space"));
    }
    // Who waits for a run lets others start theirs.
    let _admitted = Some(admitted).filter(|_| wait.is_zero());
    match task {
        Some(task) if !wait.is_zero() => {
            let begun = Instant::now();
            let has_left = tokio::select! {
                biased;
                in_time = tokio::time::timeout(wait, task) => in_time.is_ok(),
                () = service.0.draining.cancelled() => false,
            };
            // One that made calls is stored by now. To flush is to wait for the writes of all other runs too.
            if !has_left || service.run_has_ended(&id).await {
                return shown(&service, &who, &id).await;
            }
            tokio::select! {
                flushed = service.store().flush() => flushed?,
                () = service.0.followers.ended(&id, MAX_FLUSH) => {}
            }
            // It may have left memory before it ended.
            shown_after(&service, &who, &id, wait.saturating_sub(begun.elapsed())).await
        }
        _ => shown_after(&service, &who, &id, wait).await,
    }
}

/// Waits until a new run is on disk, and remembers that the request of its key had its effect.
async fn keep(service: Service, who: Who, key: Option<IdempotencyKey>, created: Option<Ticket>) -> Result<(), Problem> {
    // A client that sees the run must find it again after a crash.
    if let Some(created) = created {
        match created.await {
            // If it exists, another request with the same key was faster.
            Ok(()) | Err(StoreError::Exists { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(key) = key {
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

/// Answers with a run once it has ended, or the time is over.
async fn shown_after(service: &Service, who: &Who, run: &str, wait: Duration) -> Result<Response, Problem> {
    service.ended(run, wait).await;
    shown(service, who, run).await
}

/// Answers with a run that a request started.
async fn shown(service: &Service, who: &Who, run: &str) -> Result<Response, Problem> {
    let view = service.run_view(who, run).await?;
    let status = if view.status().is_ended() { StatusCode::CREATED } else { StatusCode::ACCEPTED };
    Ok(with_location((status, Json(view)).into_response(), &format!("/v1/runs/{run}")))
}
