//! Approvals: calls that wait for a person, and decisions.

use crate::approval_request;
use crate::audit::{Action, ApiAction, Subject};
use crate::body::JsonBody;
use crate::ids;
use crate::pages::{MAX_READS, Page, PageRequest};
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{NoQuery, RawQuery};
use crate::service::Service;
use crate::time;
use crate::who::Who;
use agent_spaces_approvals::{Decision, Lasts, Request, Verdict};
use agent_spaces_journal::{ApprovalFilter, ApprovalRow, Decided, RunOwner};
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Longest reason and name of a decider, in characters.
const MAX_REASON: usize = 500;
const MAX_BY: usize = 100;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(get)).routes(routes!(decide))
}

/// State of an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ApprovalStatus {
    /// Waits for a decision.
    Pending,
    /// The call was approved.
    Approved,
    /// The call was denied.
    Denied,
    /// Nobody decided in time.
    Expired,
}

/// Call that needs approval.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Approval)]
pub(crate) struct ApprovalView {
    /// Id: `apr_…`.
    id: String,
    /// Id of the run.
    run_id: String,
    /// Number of the call in the run.
    call_id: u64,
    /// State.
    status: ApprovalStatus,
    /// Capability, as scripts name it.
    capability: String,
    /// Function, as scripts name it.
    function: String,
    /// Id of the function.
    function_id: String,
    /// Module that exports it.
    module: String,
    /// Arguments, with secrets redacted.
    #[schema(value_type = Value)]
    params: Value,
    /// Message of the definition; untrusted text.
    message: String,
    /// Places in the script that make the call: `agent.ts:5`.
    places: Vec<String>,
    /// Time of the request.
    #[schema(format = DateTime)]
    created_at: String,
    /// Time after which it can no longer be decided.
    #[schema(format = DateTime)]
    expires_at: String,
    /// Decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionView>,
}

/// Decision on a call.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Decision)]
pub(crate) struct DecisionView {
    /// `approve` or `deny`.
    decision: DecisionKind,
    /// Reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Name of the decider.
    by: String,
    /// Time of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    decided_at: Option<String>,
}

/// Approval or denial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DecisionKind {
    /// The call is made.
    Approve,
    /// The call fails in the script.
    Deny,
}

impl DecisionKind {
    /// Returns its name in requests.
    fn as_str(self) -> &'static str {
        match self {
            DecisionKind::Approve => "approve",
            DecisionKind::Deny => "deny",
        }
    }
}

/// Calls that an approval covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DecisionScope {
    /// The one call.
    #[default]
    Once,
    /// All calls of the function in this run.
    Run,
    /// All calls of the function with the same arguments in this run.
    Arguments,
}

/// Decision to record.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDecision {
    /// `approve` or `deny`.
    decision: DecisionKind,
    /// Reason, which the script gets.
    #[serde(default)]
    #[schema(max_length = 500)]
    reason: Option<String>,
    /// Name of the person who decides; by default that of the caller.
    #[serde(default)]
    #[schema(min_length = 1, max_length = 100)]
    by: Option<String>,
    /// Calls that an approval covers.
    #[serde(rename = "for", default)]
    lasts: DecisionScope,
}

impl ApprovalView {
    /// Shows a request; `None` for a question about a call in doubt, and for a request that was tampered with.
    pub(crate) fn of(row: &ApprovalRow) -> Option<ApprovalView> {
        let request = approval_request::read(row)?;
        // Only signed decisions count, and the run verifies them. This shows what was written.
        let decision = row.decision.as_deref().and_then(|text| serde_json::from_str::<SignedDecision>(text).ok());
        let status = match &decision {
            Some(signed) if signed.decision == Verdict::Approved => ApprovalStatus::Approved,
            Some(_) => ApprovalStatus::Denied,
            None if request.time_left().is_none() => ApprovalStatus::Expired,
            None => ApprovalStatus::Pending,
        };
        let decision = decision.map(|signed| DecisionView {
            decision: match signed.decision {
                Verdict::Approved => DecisionKind::Approve,
                Verdict::Denied => DecisionKind::Deny,
            },
            reason: signed.reason,
            by: signed.by,
            decided_at: row.decided_at.map(time::format),
        });
        Some(ApprovalView {
            status,
            created_at: time::format(row.created),
            expires_at: time::of(request.expires).map(time::format).unwrap_or_else(|| time::format(i64::MAX)),
            params: request.params.clone(),
            message: shown_message(&request),
            places: request.places.iter().map(ToString::to_string).collect(),
            function_id: request.function_id.to_string(),
            module: request.module.clone(),
            capability: request.capability.clone(),
            function: request.function.clone(),
            call_id: request.call_id,
            run_id: request.run_id,
            id: request.id,
            decision,
        })
    }

    /// Returns true if it waits for a decision.
    pub(crate) fn is_pending(&self) -> bool {
        self.status == ApprovalStatus::Pending
    }
}

/// Returns the message of a request, as its event has it.
fn shown_message(request: &Request) -> String {
    match request.message.to_string() {
        message if message.is_empty() => format!("Allow {}.{}?", request.capability, request.function),
        message => message,
    }
}

/// Decision, as the store keeps it with its signature.
#[derive(Deserialize)]
struct SignedDecision {
    decision: Verdict,
    #[serde(default)]
    reason: Option<String>,
    by: String,
}

/// List approvals
///
/// Oldest first.
#[utoipa::path(
    get, path = "/v1/approvals", tag = "approvals", operation_id = "listApprovals",
    params(
        ("status" = Option<ApprovalStatus>, Query, description = "Only those in this state"),
        ("run" = Option<String>, Query, description = "Only those of this run"),
        ("space" = Option<String>, Query, description = "Only those of this space"),
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, description = "One page", body = Page<ApprovalView>)),
)]
async fn list(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Json<Page<ApprovalView>>, Problem> {
    let query = query.with(&["status", "run", "space", "limit", "cursor"])?;
    let page: PageRequest<(i64, String)> = PageRequest::read(&query)?;
    let status = query.text("status")?.map(status).transpose()?;
    let (run, space) = (query.text("run")?.map(str::to_owned), query.text("space")?.map(str::to_owned));
    let limit = if status.is_some() { page.row_limit() } else { page.read_limit() };
    let (mut after, mut stopped) = (page.after.clone(), None);
    let mut found: Vec<(ApprovalRow, ApprovalView)> = Vec::new();
    for read in 1..=MAX_READS {
        let filter = ApprovalFilter {
            pending: status == Some(ApprovalStatus::Pending),
            run: run.clone(),
            limit,
            after: after.take(),
            runs_of: Some(RunOwner {
                project: service.0.settings.project.clone(),
                caller: who.listed(),
                space: space.clone(),
            }),
        };
        let rows = service.store().approvals(filter).await?;
        let is_last = rows.len() < limit;
        after = rows.last().map(|row| (row.created, row.id.clone()));
        let views = rows.into_iter().filter_map(|row| ApprovalView::of(&row).map(|view| (row, view)));
        found.extend(views.filter(|(_, view)| status.is_none_or(|status| view.status == status)));
        if is_last || found.len() >= page.read_limit() {
            break;
        }
        if read == MAX_READS {
            stopped = after.take();
        }
    }
    found.truncate(page.read_limit());
    Ok(Json(page.page_until(stopped, found, |(row, _)| (row.created, row.id.clone()), |(_, view)| view)))
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
    let row = approval(&service, &who, &id).await?;
    ApprovalView::of(&row).map(Json).ok_or_else(|| Problem::not_found("approval"))
}

/// Decide on a call
///
/// The first decision stands. The caller must be allowed to approve.
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
    let row = approval(&service, &who, &id).await?;
    if !who.may_approve() {
        let detail = "This caller may not decide on approvals: the operator can set `mayApprove` for it";
        return Err(Problem::denied("auth.denied", detail));
    }
    let subject = Subject {
        approval_id: Some(id.clone()),
        decision: Some(new.decision.as_str()),
        by: new.by.clone(),
        ..Subject::run(&row.run)
    };
    let decision = decision(&who, new)?;
    let request = approval_request::read(&row).ok_or_else(|| Problem::not_found("approval"))?;
    let decided = |detail: &str| Problem::conflict("approval.decided", detail);
    if row.decision.is_some() {
        return Err(decided("Somebody decided before; that decision stands"));
    }
    if request.time_left().is_none() {
        return Err(Problem::conflict("approval.expired", "The time to decide is over"));
    }
    let signed = service.0.settings.approver.sign_decision(&request, decision);
    service.record(ApiAction::new(&who, Action::ApprovalDecided, subject)).await?;
    match service.store().decide(&id, &signed).await? {
        Decided::Recorded => {}
        Decided::Already { .. } => return Err(decided("Somebody decided before; that decision stands")),
        Decided::Ended => return Err(Problem::conflict("run.ended", "The run has ended")),
        Decided::Unknown => return Err(Problem::not_found("approval")),
    }
    let row = approval(&service, &who, &id).await?;
    ApprovalView::of(&row).map(Json).ok_or_else(|| Problem::not_found("approval"))
}

/// Returns an approval that a caller may see.
async fn approval(service: &Service, who: &Who, id: &str) -> Result<ApprovalRow, Problem> {
    let missing = || Problem::not_found("approval");
    let row = match ids::is_id(id, "apr_") {
        true => service.store().approval(id).await?,
        false => None,
    };
    let row = row.ok_or_else(missing)?;
    service.run_row(who, &row.run).await.map_err(|_| missing())?;
    Ok(row)
}

/// Checks a decision.
fn decision(who: &Who, new: NewDecision) -> Result<Decision, Problem> {
    let is_long = |text: &Option<String>, most: usize| text.as_ref().is_some_and(|text| text.chars().count() > most);
    if is_long(&new.reason, MAX_REASON) {
        return Err(Problem::invalid("/reason", format!("expected at most {MAX_REASON} characters")));
    }
    if is_long(&new.by, MAX_BY) || new.by.as_ref().is_some_and(|by| by.trim().is_empty()) {
        return Err(Problem::invalid("/by", format!("expected 1 to {MAX_BY} characters")));
    }
    let caller = if who.is_operator() { "the operator" } else { who.owner() };
    // Who is named is what the caller says; the caller itself is known.
    let by = match new.by {
        Some(by) => format!("{by} (through {caller})"),
        None => caller.to_owned(),
    };
    let lasts = match new.lasts {
        DecisionScope::Once => Lasts::Once,
        DecisionScope::Run => Lasts::Run,
        DecisionScope::Arguments => Lasts::Arguments,
    };
    Ok(match new.decision {
        DecisionKind::Approve => Decision { reason: new.reason, lasts, ..Decision::approve(by) },
        DecisionKind::Deny => Decision::deny(by, new.reason),
    })
}

/// Reads a state.
fn status(text: &str) -> Result<ApprovalStatus, Problem> {
    use serde::de::IntoDeserializer;
    let read = ApprovalStatus::deserialize(IntoDeserializer::<serde::de::value::Error>::into_deserializer(text));
    read.map_err(|error| Problem::invalid("status", error.to_string()))
}
