//! Requests about programs.

use super::request::{NewProgram, version_number};
use super::stored::{KIND, SOURCE_KIND, StoredProgram};
use super::view::{ProgramVersion, ProgramView};
use crate::audit::{Action, ApiAction, Subject};
use crate::body::JsonBody;
use crate::idempotency::IdempotencyKey;
use crate::location::with_location;
use crate::pages::{Page, PageRequest};
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{NoQuery, RawQuery};
use crate::service::Service;
use crate::who::Who;
use agent_spaces_journal::{Document, DocumentFilter};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new()
        .routes(routes!(publish, list))
        .routes(routes!(get, remove))
        .routes(routes!(versions))
        .routes(routes!(version))
}

/// Publish a program
///
/// A name that exists gets a new version. Publishing the latest source again changes nothing.
#[utoipa::path(
    post, path = "/v1/programs", tag = "programs", operation_id = "publishProgram",
    params(("Idempotency-Key" = Option<String>, Header, description = "Key under which a repeated request gives the same version, for 24 hours", min_length = 1, max_length = 255)),
    request_body = NewProgram,
    responses(
        (status = 201, description = "The version", body = ProgramVersion, headers(("Location" = String))),
        (status = 200, description = "The version that has this source already, or that an earlier request with this key published", body = ProgramVersion),
    ),
)]
async fn publish(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    key: Option<IdempotencyKey>,
    JsonBody(new): JsonBody<NewProgram>,
) -> Result<Response, Problem> {
    service.check_open()?;
    new.check()?;
    let published = service.publish_once(&who, &new, key.as_ref()).await?;
    if !published.is_new {
        return Ok(Json(published.version).into_response());
    }
    let place = format!("/v1/programs/{}/versions/{}", new.name, published.version.version);
    Ok(with_location((StatusCode::CREATED, Json(published.version)).into_response(), &place))
}

/// List programs
#[utoipa::path(
    get, path = "/v1/programs", tag = "programs", operation_id = "listPrograms",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, description = "One page", body = Page<ProgramView>)),
)]
async fn list(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Json<Page<ProgramView>>, Problem> {
    let request: PageRequest<(i64, String)> = PageRequest::read(&query.with(&["limit", "cursor"])?)?;
    let filter = DocumentFilter {
        owner: Some(who.owner().to_owned()),
        before: request.after.clone(),
        limit: request.read_limit(),
        ..DocumentFilter::of(KIND)
    };
    let documents = service.store().documents(filter).await?;
    let view = |document: Document| StoredProgram::read(&document).map(|program| program.view(&document));
    let page = request.page(documents, |document| (document.created, document.id.clone()), view);
    let items = page.items.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Json(Page { items, next: page.next }))
}

/// Get a program
#[utoipa::path(
    get, path = "/v1/programs/{name}", tag = "programs", operation_id = "getProgram",
    params(("name" = String, Path, description = "Name of the program")),
    responses((status = 200, description = "The program", body = ProgramView)),
)]
async fn get(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(name): Path<String>,
) -> Result<Json<ProgramView>, Problem> {
    let (document, program) = service.program(&who, &name).await?;
    Ok(Json(program.view(&document)))
}

/// Delete a program
///
/// With all its versions. Runs that execute it are not affected.
#[utoipa::path(
    delete, path = "/v1/programs/{name}", tag = "programs", operation_id = "deleteProgram",
    params(("name" = String, Path, description = "Name of the program")),
    responses((status = 204, description = "The program is deleted")),
)]
async fn remove(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    let (document, program) = service.program(&who, &name).await?;
    service.record(ApiAction::new(&who, Action::ProgramDeleted, Subject::program(name))).await?;
    service.store().delete_document(KIND, &document.id, None).await?;
    for version in &program.versions {
        service.store().delete_document(SOURCE_KIND, &program.source_id(&version.hash), None).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

/// List the versions of a program
///
/// Newest first, without sources.
#[utoipa::path(
    get, path = "/v1/programs/{name}/versions", tag = "programs", operation_id = "listProgramVersions",
    params(
        ("name" = String, Path, description = "Name of the program"),
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, description = "One page", body = Page<ProgramVersion>)),
)]
async fn versions(
    State(service): State<Service>,
    who: Who,
    Path(name): Path<String>,
    query: RawQuery,
) -> Result<Json<Page<ProgramVersion>>, Problem> {
    let request: PageRequest<u32> = PageRequest::read(&query.with(&["limit", "cursor"])?)?;
    let (_, program) = service.program(&who, &name).await?;
    let end = program.latest().saturating_add(1);
    // A cursor that this server did not make may have any number.
    let end = request.after.map_or(end, |after| after.min(end));
    let numbers = (1..end).rev().filter_map(|number| program.version(number, None));
    let items: Vec<ProgramVersion> = numbers.take(request.read_limit()).collect();
    Ok(Json(request.page(items, |version| version.version, |version| version)))
}

/// Get a version of a program
#[utoipa::path(
    get, path = "/v1/programs/{name}/versions/{version}", tag = "programs", operation_id = "getProgramVersion",
    params(
        ("name" = String, Path, description = "Name of the program"),
        ("version" = u32, Path, description = "Number of the version", minimum = 1),
    ),
    responses((status = 200, description = "The version, with its source", body = ProgramVersion)),
)]
async fn version(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path((name, version)): Path<(String, String)>,
) -> Result<Json<ProgramVersion>, Problem> {
    let missing = || Problem::not_found("version");
    let (_, program) = service.program(&who, &name).await?;
    let number = version_number(&version).ok_or_else(missing)?;
    let source = service.source(&program, number).await?;
    program.version(number, Some(source)).map(Json).ok_or_else(missing)
}
