//! Requests about the audit log.
//!
//! - `search`: entries that a request asks for, and their order
//! - `export`: the log as lines of JSON

mod export;
mod search;

use crate::audit::{AuditFault, AuditLimits, AuditLines, AuditLog, AuditPosition, AuditVerification};
use crate::pages::{ListOrder, Page, PageRequest, encode};
use crate::problem::Problem;
use crate::query::{NoQuery, RawQuery};
use crate::service::Service;
use crate::who::Who;
use agent_spaces_pipeline::OPERATOR_TARGET;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use export::Export;
use http::StatusCode;
use search::{PARAMETERS, Search};
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Bytes of the log that one request reads at most, some tenths of a second: entries of others are read too, and a log has
/// gigabytes.
const MAX_SCAN: u64 = 8 << 20;

/// Bytes and entries that are in memory at once.
const READ_BYTES: u64 = 1 << 20;
const READ_ENTRIES: usize = 500;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(verify)).routes(routes!(export))
}

/// Entry of the audit log.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct AuditEntry {
    /// Number of its line in the log, which has entries of others too.
    #[schema(minimum = 1)]
    seq: u64,
    /// Time at which it was written.
    #[schema(format = DateTime)]
    time: String,
    /// Entry: an event of a run, or an action of a caller (`apiAction`).
    #[schema(value_type = Object)]
    entry: Value,
}

/// List own entries of the audit log
///
/// Oldest first, unless `order` is `newest`: events of the caller's runs, and actions of the caller. The operator gets all.
/// One request reads a part of the log: a page with `next` may have fewer items than `limit`, or none.
#[utoipa::path(
    get, path = "/v1/audit", tag = "audit", operation_id = "listAudit",
    params(
        ("type" = Option<Vec<String>>, Query, description = "Only these events (`runStarted`) and actions (`run.created`)", style = Form, explode = true),
        ("caller" = Option<String>, Query, description = "Only those of this caller; empty for those without one"),
        ("run" = Option<String>, Query, description = "Only those of this run"),
        ("from" = Option<String>, Query, description = "Only those written at this time or later"),
        ("until" = Option<String>, Query, description = "Only those written before this time"),
        ("q" = Option<String>, Query, description = "Only those with this text, in any case"),
        ("order" = Option<String>, Query, description = "`oldest` first, which is the default, or `newest` first", pattern = "^(oldest|newest)$"),
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before, with the same `order`"),
    ),
    responses((status = 200, description = "One page", body = Page<AuditEntry>)),
)]
async fn list(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Json<Page<AuditEntry>>, Problem> {
    let query = query.with(&[&PARAMETERS[..], &["limit", "cursor"]].concat())?;
    let request: PageRequest<AuditPosition> = PageRequest::read(&query)?;
    let search = Search::read(&query)?;
    Ok(Json(page(&*log(&service)?, &who, &search, &request).await?))
}

/// Verify the audit log
///
/// Reads all of it, as `agent-spaces audit verify` does, which takes some seconds per gigabyte. Only for the operator.
#[utoipa::path(
    get, path = "/v1/audit/verification", tag = "audit", operation_id = "verifyAudit",
    responses((status = 200, description = "The verdict", body = AuditVerification)),
)]
async fn verify(State(service): State<Service>, who: Who, _: NoQuery) -> Result<Json<AuditVerification>, Problem> {
    who.check_operator()?;
    let verified = log(&service)?.verify().await.map_err(unreadable)?;
    let busy = || Problem::busy("request.busy", "A verification is going on: wait until it has ended");
    verified.map(Json).ok_or_else(busy)
}

/// Export own entries of the audit log
///
/// As lines of JSON, with the members of the items of the list. One export reads at most 256 MiB of the log: if there is
/// more, its last line has only `next`, the cursor of the next export.
#[utoipa::path(
    get, path = "/v1/audit/export", tag = "audit", operation_id = "exportAudit",
    params(
        ("type" = Option<Vec<String>>, Query, description = "Only these events (`runStarted`) and actions (`run.created`)", style = Form, explode = true),
        ("caller" = Option<String>, Query, description = "Only those of this caller; empty for those without one"),
        ("run" = Option<String>, Query, description = "Only those of this run"),
        ("from" = Option<String>, Query, description = "Only those written at this time or later"),
        ("until" = Option<String>, Query, description = "Only those written before this time"),
        ("q" = Option<String>, Query, description = "Only those with this text, in any case"),
        ("order" = Option<String>, Query, description = "`oldest` first, which is the default, or `newest` first", pattern = "^(oldest|newest)$"),
        ("cursor" = Option<String>, Query, description = "`next` of the export before, with the same `order`"),
    ),
    responses((status = 200, description = "Entries, one a line", content_type = "application/x-ndjson", body = String)),
)]
async fn export(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Response, Problem> {
    let query = query.with(&[&PARAMETERS[..], &["cursor"]].concat())?;
    let request: PageRequest<AuditPosition> = PageRequest::read(&query)?;
    let search = Search::read(&query)?;
    let log = log(&service)?;
    let permit = service.0.callers.export_permit(who.owner());
    let busy = || Problem::busy("request.busy", "Too many exports at once: read or close some of them first");
    let permit = permit.ok_or_else(busy)?;
    Ok(Export::start(&service, log, who, search, request.after, permit).await?.response())
}

/// Returns the log.
fn log(service: &Service) -> Result<Arc<dyn AuditLog>, Problem> {
    service.0.settings.audit.clone().ok_or_else(|| {
        let detail = "There is no audit log: the configuration of this server switches it off";
        Problem::new(StatusCode::NOT_FOUND, "not_found", detail)
    })
}

/// Reads the log in an order.
async fn read(
    log: &dyn AuditLog,
    order: ListOrder,
    position: Option<AuditPosition>,
    limits: AuditLimits,
) -> Result<AuditLines, AuditFault> {
    match order {
        ListOrder::Oldest => log.read(position, limits).await,
        ListOrder::Newest => log.read_newest(position, limits).await,
    }
}

/// Reads the log until a page is full, the log ends, or enough was read.
async fn page(
    log: &dyn AuditLog,
    who: &Who,
    search: &Search,
    request: &PageRequest<AuditPosition>,
) -> Result<Page<AuditEntry>, Problem> {
    let mut position = request.after;
    let mut items = Vec::new();
    let mut left = MAX_SCAN;
    loop {
        let limits = AuditLimits { bytes: left.min(READ_BYTES), entries: READ_ENTRIES };
        let read = read(log, search.order, position, limits).await.map_err(unreadable)?;
        for line in read.lines {
            if search.is_over(&line) {
                return Ok(Page { items, next: None });
            }
            let after = search.after(&line);
            if is_shown(who, &line.entry) && search.finds(&line) {
                items.push(AuditEntry { seq: line.seq, time: line.time, entry: line.entry });
            }
            if items.len() >= request.limit {
                return Ok(Page { items, next: Some(encode(&after)) });
            }
        }
        if read.is_end {
            return Ok(Page { items, next: None });
        }
        left = left.saturating_sub(read.scanned);
        // A read that found nothing but removed files ends the page too: the next one goes on.
        if left == 0 || read.scanned == 0 {
            return Ok(Page { items, next: Some(encode(&read.next)) });
        }
        position = Some(read.next);
    }
}

/// Returns true if a caller may see an entry. Entries without a caller are the operator's, and the log's own.
fn is_shown(who: &Who, entry: &Value) -> bool {
    let is_own = |caller: &str| !caller.is_empty() && caller == who.owner();
    who.is_operator() || entry.get("caller").and_then(Value::as_str).is_some_and(is_own)
}

fn unreadable(fault: AuditFault) -> Problem {
    tracing::error!(target: OPERATOR_TARGET, "the audit log cannot be read: {fault}");
    Problem::unavailable("host.audit", "The audit log cannot be read now; the log of the server has the reason")
}

#[cfg(test)]
mod tests;
