//! Requests about approvals.

use super::decision::NewDecision;
use super::in_memory;
use super::list::{ListRequest, PARAMETERS};
use super::stored::StoredApproval;
use super::view::ApprovalView;
use crate::approval_request::ApprovalStatus;
use crate::audit::{Action, ApiAction, Subject};
use crate::body::JsonBody;
use crate::ids;
use crate::pages::Page;
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{NoQuery, RawQuery};
use crate::service::Service;
use crate::who::Who;
use agent_spaces_journal::{ApprovalRow, Decided, RunRow};
use axum::Json;
use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get)).routes(routes!(decide))
}

/// List approvals
///
/// Of runs and agents, oldest first unless `order` is `newest`. Calls of agents wait in memory: those that were decided are
/// listed for an hour.
#[utoipa::path(
    get, path = "/v1/approvals", tag = "approvals", operation_id = "listApprovals",
    params(
        ("status" = Option<ApprovalStatus>, Query, description = "Only those in this state"),
        ("run" = Option<String>, Query, description = "Only those of this run"),
        ("space" = Option<String>, Query, description = "Only those of this space"),
        ("agent" = Option<String>, Query, description = "Only those of this agent"),
        ("order" = Option<String>, Query, description = "`oldest` first, which is the default, or `newest` first", pattern = "^(oldest|newest)$"),
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before, with the same `order`"),
    ),
    responses((status = 200, description = "One page", body = Page<ApprovalView>)),
)]
async fn list(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Json<Page<ApprovalView>>, Problem> {
    let request = ListRequest::read(&query.with(&PARAMETERS)?)?;
    Ok(Json(request.answer(&service, &who).await?))
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
    if let Some(call) = in_memory::one(&service, &who, &id) {
        return Ok(Json(in_memory::view(&call)));
    }
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
    if let Some(call) = in_memory::one(&service, &who, &id) {
        return in_memory::decide(&service, &who, &call, new).await.map(Json);
    }
    let (row, _) = approval(&service, &who, &id).await?;
    who.check_may_approve()?;
    let subject = Subject {
        approval_id: Some(id.clone()),
        decision: Some(new.decision.as_str()),
        by: new.by.clone(),
        ..Subject::run(&row.run)
    };
    let caller = who.decider();
    let decision = new.checked(caller)?;
    let request = StoredApproval::read(&row).ok_or_else(missing)?.request;
    if row.decision.is_some() {
        return Err(Problem::approval_decided());
    }
    if request.time_left().is_none() {
        return Err(Problem::approval_expired());
    }
    let signed = service.0.settings.approver.sign_decision_of(caller, &request, decision);
    service.record(ApiAction::new(&who, Action::ApprovalDecided, subject)).await?;
    match service.store().decide(&id, &signed).await? {
        Decided::Recorded => shown(&service, &who, &id).await,
        Decided::Already { .. } => Err(Problem::approval_decided()),
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
    let row = match ids::is_id(id, "apr_") {
        true => service.store().approval(id).await?,
        false => None,
    };
    let row = row.ok_or_else(missing)?;
    let run = service.run_row(who, &row.run).await.map_err(|_| missing())?;
    Ok((row, run))
}
