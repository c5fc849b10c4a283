//! Requests about spaces.

use super::SpaceRecord;
use super::record::{KIND, Made, PREFIX, StoredSpace, changed_meanwhile};
use super::view::{NewSpace, SpaceChange, SpaceView, check_capabilities, check_name, end, etag};
use crate::audit::{Action, ApiAction, Subject};
use crate::body::JsonBody;
use crate::etags::ETags;
use crate::idempotency::{Claimed, IdempotencyKey, LOOK_INTERVAL, MAX_LOOKS};
use crate::ids;
use crate::location::with_location;
use crate::pages::{Page, PageRequest};
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{NoQuery, RawQuery};
use crate::service::Service;
use crate::webhooks::StoredWebhook;
use crate::who::Who;
use agent_spaces_journal::{DocumentFilter, Expected};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{ETAG, HeaderValue, IF_MATCH};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Most spaces of one caller.
const MAX_SPACES: usize = 1_000;

pub(super) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(create, list)).routes(routes!(get, change, remove))
}

/// Make a space
///
/// It has at most what the configured space that it is made of has: a part of its capabilities, a stricter policy, lower
/// limits, and files of its own.
#[utoipa::path(
    post, path = "/v1/spaces", tag = "spaces", operation_id = "createSpace",
    params(("Idempotency-Key" = Option<String>, Header, description = "Key under which a repeated request gives the same space, for 24 hours", min_length = 1, max_length = 255)),
    request_body = NewSpace,
    responses(
        (status = 201, description = "The space", body = SpaceView, headers(("Location" = String), ("ETag" = String))),
        (status = 200, description = "The space that an earlier request with this key made", body = SpaceView),
    ),
)]
async fn create(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    key: Option<IdempotencyKey>,
    JsonBody(new): JsonBody<NewSpace>,
) -> Result<Response, Problem> {
    service.check_open()?;
    check_name(&new.name)?;
    check_capabilities(new.capabilities.as_ref())?;
    let base = base(&service, &who, new.base.as_deref())?;
    let webhook = new.webhook.map(|new| StoredWebhook::new(new, service.0.webhooks.client())).transpose()?;
    let part = StoredSpace {
        name: new.name,
        base,
        capabilities: new.capabilities,
        policy: new.policy.map(Value::Object),
        limits: new.limits,
        expires_at: end(new.ttl_seconds)?,
        webhook,
        // Known when it is made: the request does not choose it.
        host: None,
        is_ending: false,
    };
    let mut id = ids::new(PREFIX)?;
    if let Some(key) = key {
        // The end of a space depends on the time of the request.
        let request =
            StoredSpace { expires_at: new.ttl_seconds.and_then(|ttl| i64::try_from(ttl).ok()), ..part.clone() };
        if let Claimed::Before { id: known, .. } = key.claim(&service, &who, KIND, &request.keyed(), &id).await? {
            if let Some(space) = made_before(&service, &who, &known).await? {
                // The caller may not have got the first response, which has the secret of the webhook.
                return shown(&service, &space, StatusCode::OK, true).await;
            }
            // The server stopped before the space was stored.
            id = known;
        }
    }
    // Before the work of making it, though only the count below is exact.
    check_count(&service, &who).await?;
    match make(&service, &who, &id, part).await {
        Ok(space) => shown(&service, &space, StatusCode::CREATED, true).await,
        // Another request with the same key was faster.
        Err(problem) if problem.code() == "precondition" => {
            shown(&service, &service.space(&who, &id).await?, StatusCode::OK, true).await
        }
        Err(problem) => {
            service.0.spaces.forget(&id);
            // Nothing is in it: it was made for the checks.
            let workspace = service.workspace(&id);
            let _removed = tokio::task::spawn_blocking(move || std::fs::remove_dir(workspace)).await;
            Err(problem)
        }
    }
}

/// Checks and stores a space.
async fn make(service: &Service, who: &Who, id: &str, mut part: StoredSpace) -> Result<SpaceRecord, Problem> {
    // A space that cannot be made is not stored.
    let (owner, now) = (who.owner().to_owned(), crate::time::now_ms());
    let made = Made { owner, part: part.clone(), version: 1, created: now, updated: now };
    let trial = SpaceRecord { id: id.to_owned(), base: part.base.clone(), made: Some(made) };
    let assembled = service.assembled(&trial).await?;
    part.limits.within(&assembled.limits, assembled.longest)?;
    part.host = service.pin(&assembled);
    // Until it is stored: two at once do not both pass the check.
    let _of_tenant = service.making_of_tenant(who).await;
    let _making = service.0.callers.making(who.owner()).await;
    if service.stored_space(id).await?.is_none() {
        check_count(service, who).await?;
    }
    service.record(ApiAction::new(who, Action::SpaceCreated, Subject::space(id))).await?;
    let stored = service.put_space(id, who.owner(), &part, Expected::Absent).await?;
    if let Err(refused) = service.check_stored_space(who).await {
        // Hosts that exceed the quota together each take theirs back.
        service.store().delete_document(KIND, id, None).await?;
        return Err(refused);
    }
    Ok(stored)
}

/// Refuses another space of a caller, or of a tenant, that has as many as it may.
async fn check_count(service: &Service, who: &Who) -> Result<(), Problem> {
    match service.has_as_many(who, KIND, MAX_SPACES).await? {
        true => Err(Problem::busy("space.too_many", format!("More than {MAX_SPACES} spaces: delete some first"))),
        false => service.check_space_quota(who).await,
    }
}

/// Returns the space that an earlier request with the same key made, or is about to make.
async fn made_before(service: &Service, who: &Who, id: &str) -> Result<Option<SpaceRecord>, Problem> {
    for _ in 0..MAX_LOOKS {
        if let Ok(space) = service.space(who, id).await {
            return Ok(Some(space));
        }
        if service.has_ended(id).await? {
            let detail = "The space that this Idempotency-Key made has ended: use a new key";
            return Err(Problem::conflict("request.idempotency", detail));
        }
        tokio::time::sleep(LOOK_INTERVAL).await;
    }
    Ok(None)
}

/// Position in the list of spaces: those of the configuration come first.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum SpaceCursor {
    Configured(usize),
    Made(i64, String),
}

/// List spaces
///
/// Those of the configuration come first, then those that the caller made, newest first.
#[utoipa::path(
    get, path = "/v1/spaces", tag = "spaces", operation_id = "listSpaces",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, description = "One page", body = Page<SpaceView>)),
)]
async fn list(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Json<Page<SpaceView>>, Problem> {
    let request: PageRequest<SpaceCursor> = PageRequest::read(&query.with(&["limit", "cursor"])?)?;
    let (first, before) = match request.after.clone() {
        None => (0, None),
        Some(SpaceCursor::Configured(number)) => (number.saturating_add(1), None),
        Some(SpaceCursor::Made(created, id)) => (usize::MAX, Some((created, id))),
    };
    let configured = service.configured(who.0.caller()).into_iter().enumerate().skip(first);
    let configured = configured.map(|(number, space)| (SpaceCursor::Configured(number), space));
    let mut found: Vec<(SpaceCursor, SpaceRecord)> = configured.take(request.read_limit()).collect();
    let limit = request.read_limit().saturating_sub(found.len());
    if limit > 0 {
        let filter = DocumentFilter { owner: who.listed(), before, limit, ..DocumentFilter::of(KIND) };
        for document in service.store().documents(filter).await? {
            let cursor = SpaceCursor::Made(document.created, document.id.clone());
            found.push((cursor, SpaceRecord::read(document)?));
        }
    }
    let page = request.page(found, |(cursor, _)| cursor.clone(), |(_, space)| space);
    let is_usable = |made: &Made| made.part.is_alive() && service.is_given(&made.owner, &made.part);
    let is_shown = |space: &SpaceRecord| space.made.as_ref().is_none_or(is_usable);
    let spaces: Vec<SpaceRecord> = page.items.into_iter().filter(is_shown).collect();
    let items = service.outlines(spaces).await?.into_iter().filter_map(|(space, outline)| {
        // One that can no longer be made, because its configured space lost something, does not hide the others.
        SpaceView::new(&space, &outline, false).ok()
    });
    Ok(Json(Page { items: items.collect(), next: page.next }))
}

/// Get a space
#[utoipa::path(
    get, path = "/v1/spaces/{space}", tag = "spaces", operation_id = "getSpace",
    params(("space" = String, Path, description = "Id of the space")),
    responses((status = 200, description = "The space", body = SpaceView, headers(("ETag" = String)))),
)]
async fn get(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let space = service.space(&who, &id).await?;
    shown(&service, &space, StatusCode::OK, false).await
}

/// Change a space
///
/// Its capabilities and policy are checked as those of a new space are. Runs that are in progress, waiting ones included,
/// keep the capabilities, the policy and the limits that they started with.
#[utoipa::path(
    patch, path = "/v1/spaces/{space}", tag = "spaces", operation_id = "updateSpace",
    params(
        ("space" = String, Path, description = "Id of the space"),
        ("If-Match" = Option<String>, Header, description = "ETag of the space that the change is for"),
    ),
    request_body = SpaceChange,
    responses((status = 200, description = "The space", body = SpaceView, headers(("ETag" = String)))),
)]
async fn change(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(id): Path<String>,
    headers: HeaderMap,
    JsonBody(change): JsonBody<SpaceChange>,
) -> Result<Response, Problem> {
    let space = service.space(&who, &id).await?;
    let made = changeable(&space, &headers)?;
    let mut part = made.part.clone();
    if let Some(name) = change.name {
        check_name(&name)?;
        part.name = name;
    }
    check_capabilities(change.capabilities.as_ref())?;
    let is_checked = change.capabilities.is_some() || change.policy.is_some() || change.limits.is_some();
    part.capabilities = change.capabilities.or(part.capabilities);
    part.policy = change.policy.map(Value::Object).or(part.policy);
    part.limits = change.limits.unwrap_or(part.limits);
    if is_checked {
        // A space that cannot be made is not stored.
        let trial = SpaceRecord { made: Some(Made { part: part.clone(), ..made.clone() }), ..space.clone() };
        let assembled = service.assembled(&trial).await?;
        part.limits.within(&assembled.limits, assembled.longest)?;
        // One that had no files gets them here.
        if part.host.is_none() && service.assembled(&space).await.is_ok_and(|before| before.files.is_none()) {
            part.host = service.pin(&assembled);
        }
    }
    if change.ttl_seconds.is_some() {
        part.expires_at = end(change.ttl_seconds)?;
    }
    let action = ApiAction::new(&who, Action::SpaceChanged, Subject::space(&id));
    store_change(&service, action, &id, made, &part).await
}

/// Delete a space
///
/// Its runs are cancelled and its files deleted.
#[utoipa::path(
    delete, path = "/v1/spaces/{space}", tag = "spaces", operation_id = "deleteSpace",
    params(
        ("space" = String, Path, description = "Id of the space"),
        ("If-Match" = Option<String>, Header, description = "ETag of the space that is to be deleted"),
    ),
    responses((status = 204, description = "The space is deleted")),
)]
async fn remove(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let space = removable(&service, &who, &id).await?;
    let made = changeable(&space, &headers)?;
    service.record(ApiAction::new(&who, Action::SpaceDeleted, Subject::space(&id))).await?;
    service.end_space(&space.id, made).await?;
    service.note_storage(&who, None);
    Ok(StatusCode::NO_CONTENT)
}

/// Returns the configured space that a caller's space is made of.
fn base(service: &Service, who: &Who, asked: Option<&str>) -> Result<Option<String>, Problem> {
    let bases = service.0.source.bases(who.0.caller());
    let found = match asked {
        None => bases.first().cloned(),
        Some(name) => bases.into_iter().find(|base| base.as_deref() == Some(name)),
    };
    found.ok_or_else(|| Problem::denied("space.denied", "/base: the caller is not given this space"))
}

/// Returns a space that may be deleted: also one that its caller can no longer use.
async fn removable(service: &Service, who: &Who, id: &str) -> Result<SpaceRecord, Problem> {
    let is_own = |made: &Made| who.owns(&made.owner) && made.part.is_alive();
    match service.stored_space(id).await? {
        Some(space) if space.made.as_ref().is_some_and(is_own) => Ok(space),
        _ => service.space(who, id).await,
    }
}

/// Returns the made part of a space that a request changes. Refuses a space of the configuration, and one that was
/// changed since the caller read it (`If-Match`).
pub(super) fn changeable<'a>(space: &'a SpaceRecord, headers: &HeaderMap) -> Result<&'a Made, Problem> {
    let detail = "This space is defined by the configuration: change it there";
    let made = space.made.as_ref().ok_or_else(|| Problem::conflict("space.configured", detail))?;
    let Some(expected) = ETags::read(headers, &IF_MATCH)? else { return Ok(made) };
    let etag = etag(space).unwrap_or_default();
    match expected.has(etag.trim_matches('"')) {
        true => Ok(made),
        false => Err(changed_meanwhile()),
    }
}

/// Stores a change of a space, after its entry in the audit log, and answers with the space.
pub(super) async fn store_change(
    service: &Service,
    action: ApiAction,
    id: &str,
    made: &Made,
    part: &StoredSpace,
) -> Result<Response, Problem> {
    service.record(action).await?;
    let space = service.put_space(id, &made.owner, part, Expected::Version(made.version)).await?;
    shown(service, &space, StatusCode::OK, false).await
}

/// Answers with a space, with the secret of its webhook only to the request that made it.
async fn shown(
    service: &Service,
    space: &SpaceRecord,
    status: StatusCode,
    shows_secret: bool,
) -> Result<Response, Problem> {
    let assembled = service.assembled(space).await?;
    let view = SpaceView::new(space, &assembled.outline(), shows_secret)?;
    let etag = view.etag().and_then(|etag| HeaderValue::from_str(etag).ok());
    let mut response = (status, Json(view)).into_response();
    if let Some(etag) = etag {
        response.headers_mut().insert(ETAG, etag);
    }
    match status == StatusCode::CREATED {
        true => Ok(with_location(response, &format!("/v1/spaces/{}", space.id))),
        false => Ok(response),
    }
}
