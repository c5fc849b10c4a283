//! Requests about the audit log.

use crate::audit::{AuditFault, AuditLimits, AuditLine, AuditLog, AuditPosition};
use crate::pages::{Page, PageRequest, encode};
use crate::problem::Problem;
use crate::query::RawQuery;
use crate::service::Service;
use crate::who::Who;
use agent_spaces_pipeline::OPERATOR_TARGET;
use axum::Json;
use axum::extract::State;
use http::StatusCode;
use serde::Serialize;
use serde_json::Value;
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
    OpenApiRouter::new().routes(routes!(list))
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
/// Oldest first: events of the caller's runs, and actions of the caller. The operator gets all. One request reads a part of
/// the log: a page with `next` may have fewer items than `limit`, or none.
#[utoipa::path(
    get, path = "/v1/audit", tag = "audit", operation_id = "listAudit",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, description = "One page", body = Page<AuditEntry>)),
)]
async fn list(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Json<Page<AuditEntry>>, Problem> {
    let request: PageRequest<AuditPosition> = PageRequest::read(&query.with(&["limit", "cursor"])?)?;
    let Some(log) = &service.0.settings.audit else {
        let detail = "There is no audit log: the configuration of this server switches it off";
        return Err(Problem::new(StatusCode::NOT_FOUND, "not_found", detail));
    };
    Ok(Json(page(&**log, &who, &request).await?))
}

/// Reads the log until a page is full, the log ends, or enough was read.
async fn page(
    log: &dyn AuditLog,
    who: &Who,
    request: &PageRequest<AuditPosition>,
) -> Result<Page<AuditEntry>, Problem> {
    let mut position = request.after;
    let mut items = Vec::new();
    let mut left = MAX_SCAN;
    loop {
        let limits = AuditLimits { bytes: left.min(READ_BYTES), entries: READ_ENTRIES };
        let read = log.read(position, limits).await.map_err(unreadable)?;
        for AuditLine { seq, time, entry, after } in read.lines {
            if is_shown(who, &entry) {
                items.push(AuditEntry { seq, time, entry });
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
