//! Requests for the stream of changes.

use super::stream::ChangeStream;
use crate::problem::Problem;
use crate::query::NoQuery;
use crate::service::Service;
use crate::who::Who;
use axum::extract::State;
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(follow))
}

/// Follow the changes of runs and approvals
///
/// A run that is new or has another state is sent as `event: run` with `id`, `spaceId`, `name`, `status` and `updatedAt`; a
/// request for approval that is new, was decided or has expired as `event: approval` with `id`, `runId` and `status`, or
/// `agent` instead of `runId` if an agent asks. A change may be sent more than once, and only the last of several that
/// follow one another quickly.
///
/// Events have no ids, and none is sent that happened before: connect first, then read the lists, and read them again
/// after every reconnect. The stream ends for a client that reads too slowly.
#[utoipa::path(
    get, path = "/v1/changes", tag = "events", operation_id = "followChanges",
    responses((status = 200, description = "Changes", content_type = "text/event-stream", body = String)),
)]
async fn follow(State(service): State<Service>, who: Who, _: NoQuery) -> Result<Response, Problem> {
    service.check_open()?;
    let following = service.0.changes.follow(who.owner());
    let busy = || Problem::busy("request.busy", "Too many streams of changes at once: close some of them first");
    Ok(ChangeStream::new(&service, who, following.ok_or_else(busy)?).response())
}
