//! Lists of runs.

use super::status::RunStatus;
use super::view::RunView;
use crate::pages::{Page, PageRequest};
use crate::problem::Problem;
use crate::query::{Query, RawQuery};
use crate::service::Service;
use crate::who::Who;
use agent_spaces_journal::{Filter, RunRow};
use axum::Json;
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(list))
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
    let mut scan = request.scan(!status.is_none_or(RunStatus::is_stored));
    let mut found: Vec<(RunRow, RunView)> = Vec::new();
    while let Some(before) = scan.next_after(found.len()) {
        let filter = Filter {
            statuses: status.map(RunStatus::stored).unwrap_or_default(),
            before,
            limit: scan.limit,
            caller: who.listed(),
            space: space.clone(),
            project: Some(service.0.settings.project.clone()),
            created_from,
            created_until,
        };
        let rows = service.store().list(filter).await?;
        scan.read(rows.len(), rows.last().map(|row| (row.created, row.id.clone())));
        for row in rows {
            if found.len() >= request.read_limit() {
                break;
            }
            let has_pending = RunStatus::of(&row) == RunStatus::Running && service.has_pending(&row.id).await?;
            let view = RunView::of_row(&row, has_pending);
            if status.is_none_or(|status| view.status() == status) {
                found.push((row, view));
            }
        }
    }
    let position = |(row, _): &(RunRow, RunView)| (row.created, row.id.clone());
    Ok(request.page_until(scan.stopped(), found, position, |(_, view)| view))
}
