//! Files of a space, with the same checks that its programs have.

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
    CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_MATCH, IF_NONE_MATCH,
    LAST_MODIFIED, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Largest file that is read or written by a request.
pub(crate) const MAX_FILE: usize = 8 << 20;

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
    let expected = Expectation::read(&headers)?;
    let action = ApiAction::new(&who, Action::FileWritten, Subject::file(&space, &path));
    let Written { created, etag } = service
        .with_files(&who, &space, Some(action), move |files| files.write_bytes(&path, &bytes, expected.precondition()))
        .await?;
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
    let expected = Expectation::read(&headers)?;
    let action = ApiAction::new(&who, Action::FileDeleted, Subject::file(&space, &path));
    let is_deleted = service
        .with_files(&who, &space, Some(action), move |files| files.delete_file(&path, expected.precondition()))
        .await?;
    match is_deleted {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(Problem::not_found("file")),
    }
}

impl Service {
    /// Calls a function with the files of a space, where blocking is allowed. An action is written to the audit log before;
    /// whether the policy and the precondition allow it is known only when it is done.
    async fn with_files<T: Send + 'static>(
        &self,
        who: &Who,
        space: &str,
        action: Option<ApiAction>,
        work: impl FnOnce(&Files) -> Result<T, FileError> + Send + 'static,
    ) -> Result<T, Problem> {
        let space = self.space(who, space).await?;
        let assembled = self.assembled(&space).await?;
        let none = || Problem::denied("space.denied", "This space has no files");
        if assembled.files.is_none() {
            return Err(none());
        }
        if let Some(action) = action {
            self.record(action).await?;
        }
        let done = tokio::task::spawn_blocking(move || match &assembled.files {
            Some(files) => work(files).map_err(Problem::from),
            None => Err(none()),
        });
        let outcome = done.await.map_err(|error| Problem::internal(&error))?;
        // The space may have ended meanwhile: then its folder is gone, or was made again by this.
        self.check_kept(&space).await?;
        outcome
    }
}

impl From<FileError> for Problem {
    fn from(error: FileError) -> Problem {
        match &error {
            FileError::Precondition { .. } => {
                let detail = "The file is not in the state that the request expects: read it again";
                Problem::new(StatusCode::PRECONDITION_FAILED, "precondition", detail)
            }
            FileError::TooLarge(most) => Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "request.too_large",
                format!("The file has more than {most} bytes"),
            ),
            FileError::Refused(_) if error.is_not_found() => Problem::not_found("file"),
            FileError::Refused(refused) => Problem::denied("file.denied", refused.message.clone()),
        }
    }
}

/// State of a file that a request depends on.
enum Expectation {
    Any,
    Absent,
    Present,
    Tag(String),
}

impl Expectation {
    fn read(headers: &HeaderMap) -> Result<Expectation, Problem> {
        let (matching, other) = (ETags::read(headers, &IF_MATCH)?, ETags::read(headers, &IF_NONE_MATCH)?);
        match (matching, other) {
            (None, None) => Ok(Expectation::Any),
            (None, Some(ETags::Any)) => Ok(Expectation::Absent),
            (Some(ETags::Any), None) => Ok(Expectation::Present),
            (Some(ETags::Listed(tags)), None) => match <[String; 1]>::try_from(tags) {
                Ok([tag]) => Ok(Expectation::Tag(tag)),
                Err(_) => Err(Problem::header("If-Match", "expected one ETag")),
            },
            (_, Some(_)) => Err(Problem::header("If-None-Match", "expected `*`, without `If-Match`")),
        }
    }

    fn precondition(&self) -> Precondition<'_> {
        match self {
            Expectation::Any => Precondition::Any,
            Expectation::Absent => Precondition::Absent,
            Expectation::Present => Precondition::Present,
            Expectation::Tag(tag) => Precondition::Match(tag),
        }
    }
}

fn insert(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::Expectation;
    use agent_spaces_std::fs::Precondition;
    use http::HeaderMap;
    use http::header::HeaderName;

    fn read(headers: &[(&'static str, &str)]) -> Result<Expectation, crate::problem::Problem> {
        let headers = headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        Expectation::read(&headers.collect::<HeaderMap>())
    }

    #[test]
    fn a_change_depends_on_one_etag_or_on_whether_the_file_exists() {
        assert_eq!(read(&[]).unwrap().precondition(), Precondition::Any);
        assert_eq!(read(&[("if-match", "\"ab\"")]).unwrap().precondition(), Precondition::Match("ab"));
        assert_eq!(read(&[("if-match", "*")]).unwrap().precondition(), Precondition::Present);
        assert_eq!(read(&[("if-none-match", "*")]).unwrap().precondition(), Precondition::Absent);
        for wrong in [
            &[("if-match", "ab")][..],
            &[("if-match", "\"a\", \"b\"")],
            &[("if-none-match", "\"a\"")],
            &[("if-match", "*"), ("if-none-match", "*")],
            &[("if-match", "\"a\"b\"")],
            &[("if-match", "")],
            &[("if-none-match", "")],
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
