//! Requests about approvals.

use super::decision::NewDecision;
use super::stored::StoredApproval;
use super::view::ApprovalView;
use crate::approval_request::ApprovalStatus;
use crate::audit::{Action, ApiAction, Subject};
use crate::body::JsonBody;
use crate::ids;
use crate::pages::{ListOrder, Page, PageRequest};
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{NoQuery, Query, RawQuery};
use crate::service::Service;
use crate::who::Who;
use agent_spaces_journal::{ApprovalFilter, ApprovalRow, Decided, RunOwner, RunRow, Summary};
use axum::Json;
use axum::extract::State;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get)).routes(routes!(decide))
}

/// List approvals
///
/// Oldest first, unless `order` is `newest`.
#[utoipa::path(
    get, path = "/v1/approvals", tag = "approvals", operation_id = "listApprovals",
    params(
        ("status" = Option<ApprovalStatus>, Query, description = "Only those in this state"),
        ("run" = Option<String>, Query, description = "Only those of this run"),
        ("space" = Option<String>, Query, description = "Only those of this space"),
        ("order" = Option<String>, Query, description = "`oldest` first, which is the default, or `newest` first", pattern = "^(oldest|newest)$"),
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before, with the same `order`"),
    ),
    responses((status = 200, description = "One page", body = Page<ApprovalView>)),
)]
async fn list(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Json<Page<ApprovalView>>, Problem> {
    let query = query.with(&["status", "run", "space", "order", "limit", "cursor"])?;
    let order: ListOrder = query.choice("order")?.unwrap_or_default();
    let request = page_request(&query, order)?;
    let status: Option<ApprovalStatus> = query.choice("status")?;
    let (run, space) = (query.text("run")?.map(str::to_owned), query.text("space")?.map(str::to_owned));
    let mut scan = request.scan(status.is_some());
    let mut found: Vec<StoredApproval> = Vec::new();
    while let Some(after) = scan.next_after(found.len()) {
        let filter = ApprovalFilter {
            pending: status == Some(ApprovalStatus::Pending),
            run: run.clone(),
            newest_first: order == ListOrder::Newest,
            limit: scan.limit,
            after: after.map(|(created, id, _)| (created, id)),
            runs_of: Some(RunOwner {
                project: service.0.settings.project.clone(),
                caller: who.listed(),
                space: space.clone(),
            }),
        };
        let rows = service.store().approvals(filter).await?;
        scan.read(rows.len(), rows.last().map(|row| (row.created, row.id.clone(), order)));
        let approvals = rows.iter().filter_map(StoredApproval::read);
        found.extend(approvals.filter(|approval| status.is_none_or(|status| approval.status() == status)));
    }
    found.truncate(request.read_limit());
    let position = |approval: &StoredApproval| {
        let (created, id) = approval.position();
        (created, id, order)
    };
    let page = request.page_until(scan.stopped(), found, position, |approval| approval);
    Ok(Json(Page { items: of_runs(&service, page.items).await?, next: page.next }))
}

/// Position in a list of approvals: a time and an id, which mean other approvals in the other order.
type Position = (i64, String, ListOrder);

/// Reads what a request asks for, and refuses the cursor of a list in another order.
fn page_request(query: &Query, order: ListOrder) -> Result<PageRequest<Position>, Problem> {
    let request: PageRequest<Position> = PageRequest::read(query)?;
    if request.after.as_ref().is_some_and(|(_, _, other)| *other != order) {
        return Err(Problem::parameter("cursor", "the cursor is of a list in another order: send the same `order`"));
    }
    Ok(request)
}

/// Shows approvals with the spaces and callers of their runs.
async fn of_runs(service: &Service, approvals: Vec<StoredApproval>) -> Result<Vec<ApprovalView>, Problem> {
    let mut runs: HashMap<String, Summary> = HashMap::new();
    let mut views = Vec::with_capacity(approvals.len());
    for approval in approvals {
        let summary = match runs.entry(approval.request.run_id.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                // One that was removed meanwhile has no approvals any more.
                let Some(row) = service.store().run(new.key()).await? else { continue };
                new.insert(row.summary)
            }
        };
        views.push(approval.view(summary));
    }
    Ok(views)
}

/// Get an approval
#[utoipa::path(
    get, path = "/v1/approvals/{approval}", tag = "approvals", operation_id = "getApproval",
    params(("approval" = String, Path, description = "Id of the approval")),
    responses((status = 200, description = "The approval", body = ApprovalView)),
)]
async fn get(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(id): Path<String>,
) -> Result<Json<ApprovalView>, Problem> {
    shown(&service, &who, &id).await
}

/// Decide on a call
///
/// Only the first decision counts. The caller must be allowed to approve.
#[utoipa::path(
    post, path = "/v1/approvals/{approval}/decision", tag = "approvals", operation_id = "decideApproval",
    params(("approval" = String, Path, description = "Id of the approval")),
    request_body = NewDecision,
    responses((status = 200, description = "The approval", body = ApprovalView)),
)]
async fn decide(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(id): Path<String>,
    JsonBody(new): JsonBody<NewDecision>,
) -> Result<Json<ApprovalView>, Problem> {
    let (row, _) = approval(&service, &who, &id).await?;
    who.check_may_approve()?;
    let subject = Subject {
        approval_id: Some(id.clone()),
        decision: Some(new.decision.as_str()),
        by: new.by.clone(),
        ..Subject::run(&row.run)
    };
    let caller = if who.is_operator() { "the operator" } else { who.owner() };
    let decision = new.checked(caller)?;
    let request = StoredApproval::read(&row).ok_or_else(missing)?.request;
    let decided = || Problem::conflict("approval.decided", "Somebody decided before: only the first decision counts");
    if row.decision.is_some() {
        return Err(decided());
    }
    if request.time_left().is_none() {
        return Err(Problem::conflict("approval.expired", "The time to decide is over"));
    }
    let signed = service.0.settings.approver.sign_decision_of(caller, &request, decision);
    service.record(ApiAction::new(&who, Action::ApprovalDecided, subject)).await?;
    match service.store().decide(&id, &signed).await? {
        Decided::Recorded => shown(&service, &who, &id).await,
        Decided::Already { .. } => Err(decided()),
        Decided::Ended => Err(Problem::run_ended()),
        Decided::Unknown => Err(missing()),
    }
}

fn missing() -> Problem {
    Problem::not_found("approval")
}

/// Answers with an approval.
async fn shown(service: &Service, who: &Who, id: &str) -> Result<Json<ApprovalView>, Problem> {
    let (row, run) = approval(service, who, id).await?;
    let approval = StoredApproval::read(&row).ok_or_else(missing)?;
    Ok(Json(approval.view(&run.summary)))
}

/// Returns an approval that a caller may see, with its run.
async fn approval(service: &Service, who: &Who, id: &str) -> Result<(ApprovalRow, RunRow), Problem> {
    if !ids::is_id(id, "apr_") {
        return Err(missing());
    }
    let mut row = service.store().approval(id).await?;
    if row.is_none() {
        // The event that asks for it is stored first, and a client may answer at once.
        service.store().flush().await?;
        row = service.store().approval(id).await?;
    }
    let row = row.ok_or_else(missing)?;
    let run = service.run_row(who, &row.run).await.map_err(|_| missing())?;
    Ok((row, run))
}

#[cfg(test)]
mod tests {
    use super::page_request;
    use crate::pages::{ListOrder, encode};
    use crate::query::Query;

    #[test]
    fn a_cursor_is_of_one_order() {
        let of = |cursor: &str, order| {
            let query = Query::parse(Some(&format!("cursor={cursor}")), &["cursor"]).unwrap();
            page_request(&query, order).map(|request| request.after)
        };
        for (order, other) in [(ListOrder::Oldest, ListOrder::Newest), (ListOrder::Newest, ListOrder::Oldest)] {
            let position = (5_i64, "apr_1".to_owned(), order);
            let cursor = encode(&position);
            assert_eq!(of(&cursor, order).unwrap(), Some(position));
            let fault = serde_json::to_value(of(&cursor, other).unwrap_err()).unwrap();
            assert_eq!(fault["errors"][0]["parameter"], "cursor");
            assert_eq!(of("", other).unwrap(), None, "the first page");
        }
    }
}
