//! Requests about files.

use super::MAX_FILE;
use super::expectation::Expectation;
use crate::audit::{Action, ApiAction, Subject};
use crate::etags::ETags;
use crate::pages::{Page, PageRequest};
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{NoQuery, RawQuery};
use crate::service::Service;
use crate::time;
use crate::who::Who;
use agent_spaces_std::fs::{FileEntry, FileError, Files, Precondition, Written};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::{
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH,
    LAST_MODIFIED, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(read, stat, write, remove))
}

/// File of a space.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = File)]
pub(crate) struct FileView {
    /// Path from the workspace.
    path: String,
    /// Size in bytes.
    size: u64,
    /// Time of the last change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    modified_at: Option<String>,
}

impl FileView {
    fn of(entry: FileEntry) -> FileView {
        let modified_at = entry.modified.and_then(time::of).map(time::format);
        FileView { path: entry.path, size: entry.size, modified_at }
    }
}

/// List files
///
/// In the order of their paths.
#[utoipa::path(
    get, path = "/v1/spaces/{space}/files", tag = "files", operation_id = "listFiles",
    params(
        ("space" = String, Path, description = "Id of the space"),
        ("prefix" = Option<String>, Query, description = "Only those whose path begins with this"),
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, description = "One page", body = Page<FileView>)),
)]
async fn list(
    State(service): State<Service>,
    who: Who,
    Path(space): Path<String>,
    query: RawQuery,
) -> Result<Json<Page<FileView>>, Problem> {
    let query = query.with(&["prefix", "limit", "cursor"])?;
    let request: PageRequest<String> = PageRequest::read(&query)?;
    let prefix = query.text("prefix")?.unwrap_or_default().to_owned();
    let (after, limit) = (request.after.clone(), request.read_limit());
    let found =
        service.with_files(&who, &space, None, move |files| files.list_page(&prefix, after.as_deref(), limit)).await?;
    Ok(Json(request.page(found, |entry| entry.path.clone(), FileView::of)))
}

/// Read a file
#[utoipa::path(
    get, path = "/v1/spaces/{space}/files/{*path}", tag = "files", operation_id = "readFile",
    params(
        ("space" = String, Path, description = "Id of the space"),
        ("path" = String, Path, description = "Path from the workspace, with slashes"),
        ("If-None-Match" = Option<String>, Header, description = "ETag that the client has"),
    ),
    responses(
        (status = 200, description = "Bytes of the file", content_type = "application/octet-stream", body = [u8], headers(("ETag" = String))),
        (status = 304, description = "The file has this ETag"),
    ),
)]
async fn read(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path((space, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    answer(&service, &who, &space, path, &headers).await
}

/// Get the size and the ETag of a file
///
/// The headers of the file, without its bytes. Errors have no body either.
#[utoipa::path(
    head, path = "/v1/spaces/{space}/files/{*path}", tag = "files", operation_id = "statFile",
    params(
        ("space" = String, Path, description = "Id of the space"),
        ("path" = String, Path, description = "Path from the workspace, with slashes"),
        ("If-None-Match" = Option<String>, Header, description = "ETag that the client has"),
    ),
    responses(
        (status = 200, description = "The file exists", headers(
            ("ETag" = String),
            ("Content-Length" = u64, description = "Size in bytes"),
        )),
        (status = 304, description = "The file has this ETag"),
    ),
)]
async fn stat(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path((space, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    // The router removes the body and keeps its length.
    answer(&service, &who, &space, path, &headers).await
}

/// Answers with a file, unless the client has it.
async fn answer(
    service: &Service,
    who: &Who,
    space: &str,
    path: String,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let found = service.with_files(who, space, None, move |files| files.read_bytes(&path, MAX_FILE as u64)).await?;
    let found = found.ok_or_else(|| Problem::not_found("file"))?;
    let etag = format!("\"{}\"", found.etag);
    let is_known = ETags::read(headers, &IF_NONE_MATCH)?.is_some_and(|tags| tags.has(&found.etag));
    let mut response = match is_known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => found.bytes.into_response(),
    };
    let own = response.headers_mut();
    own.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    // Files are written by agents: no browser may show one as a page of this server.
    own.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    own.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    own.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    insert(own, ETAG, &etag);
    if let Some(modified) = found.modified.filter(|modified| time::of(*modified).is_some()) {
        insert(own, LAST_MODIFIED, &httpdate::fmt_http_date(modified));
    }
    Ok(response)
}

/// Write a file
///
/// With the folders that its path needs. `If-None-Match: *` refuses to replace a file, `If-Match` one that was changed.
#[utoipa::path(
    put, path = "/v1/spaces/{space}/files/{*path}", tag = "files", operation_id = "writeFile",
    params(
        ("space" = String, Path, description = "Id of the space"),
        ("path" = String, Path, description = "Path from the workspace, with slashes"),
        ("If-Match" = Option<String>, Header, description = "ETag of the file that is replaced"),
        ("If-None-Match" = Option<String>, Header, description = "`*` for a file that must not exist"),
    ),
    request_body(content_type = "application/octet-stream", content = [u8]),
    responses(
        (status = 200, description = "The file was replaced", headers(("ETag" = String))),
        (status = 201, description = "The file was created", headers(("ETag" = String))),
    ),
)]
async fn write(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path((space, path)): Path<(String, String)>,
    headers: HeaderMap,
    bytes: Bytes,
) -> Result<Response, Problem> {
    service.check_open()?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    service.check_storage(&who, size).await?;
    let write = move |files: &Files, path: &str, expected: Precondition<'_>| files.write_bytes(path, &bytes, expected);
    let action = ApiAction::new(&who, Action::FileWritten, Subject::file(&space, &path));
    let Written { created, etag } = change(&service, &who, action, (space, path), &headers, write).await?;
    service.note_storage(&who, Some(size));
    let status = if created { StatusCode::CREATED } else { StatusCode::OK };
    let mut response = status.into_response();
    insert(response.headers_mut(), ETAG, &format!("\"{etag}\""));
    Ok(response)
}

/// Delete a file
#[utoipa::path(
    delete, path = "/v1/spaces/{space}/files/{*path}", tag = "files", operation_id = "deleteFile",
    params(
        ("space" = String, Path, description = "Id of the space"),
        ("path" = String, Path, description = "Path from the workspace, with slashes"),
        ("If-Match" = Option<String>, Header, description = "ETag of the file that is deleted"),
    ),
    responses((status = 204, description = "The file is deleted")),
)]
async fn remove(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path((space, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let action = ApiAction::new(&who, Action::FileDeleted, Subject::file(&space, &path));
    match change(&service, &who, action, (space, path), &headers, Files::delete_file).await? {
        true => {
            service.note_storage(&who, None);
            Ok(StatusCode::NO_CONTENT)
        }
        false => Err(Problem::not_found("file")),
    }
}

/// Changes a file that is in the state that a request expects.
async fn change<T: Send + 'static>(
    service: &Service,
    who: &Who,
    action: ApiAction,
    (space, path): (String, String),
    headers: &HeaderMap,
    work: impl FnOnce(&Files, &str, Precondition<'_>) -> Result<T, FileError> + Send + 'static,
) -> Result<T, Problem> {
    let expected = Expectation::read(headers)?;
    let change = move |files: &Files| work(files, &path, expected.precondition());
    service.with_files(who, &space, Some(action), change).await
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}
