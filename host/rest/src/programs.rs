//! Stored programs: sources with a name, in numbered versions that never change.

use crate::audit::{Action, ApiAction, Subject};
use crate::body::JsonBody;
use crate::ids;
use crate::pages::{Page, PageRequest};
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{NoQuery, RawQuery};
use crate::runs::Source;
use crate::service::Service;
use crate::time;
use crate::who::Who;
use agent_spaces_journal::{Document, DocumentFilter, Expected, NewDocument, Put};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{HeaderValue, LOCATION};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Kinds of the documents: one for a program with the list of its versions, one for each source.
const KIND: &str = "program";
const SOURCE_KIND: &str = "program_source";

/// Longest name and description, in characters.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1_000;
/// Longest source, in bytes: a document has at most 1 MiB.
const MAX_SOURCE: usize = 512 << 10;
/// Most versions of a program, and most programs of a caller.
const MAX_VERSIONS: usize = 1_000;
const MAX_PROGRAMS: usize = 1_000;
/// Attempts to store a version while others store theirs.
const MAX_ATTEMPTS: usize = 8;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new()
        .routes(routes!(publish, list))
        .routes(routes!(get, remove))
        .routes(routes!(versions))
        .routes(routes!(version))
}

/// Program to publish.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewProgram {
    /// Name: letters, digits, `-` and `_`.
    #[schema(min_length = 1, max_length = 64, pattern = "^[A-Za-z0-9][A-Za-z0-9_-]*$")]
    name: String,
    /// TypeScript or JavaScript module.
    #[schema(min_length = 1, max_length = 524288)]
    source: String,
    /// Description, for people.
    #[serde(default)]
    #[schema(max_length = 1000)]
    description: Option<String>,
}

/// Program.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Program)]
pub(crate) struct ProgramView {
    /// Name.
    name: String,
    /// Description of its latest version.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Number of its latest version.
    version: u32,
    /// Time of its first version.
    #[schema(format = DateTime)]
    created_at: String,
    /// Time of its latest version.
    #[schema(format = DateTime)]
    updated_at: String,
}

/// Version of a program.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgramVersion {
    /// Name of the program.
    name: String,
    /// Number, from one.
    version: u32,
    /// Hash of the source: BLAKE3, hexadecimal.
    hash: String,
    /// Time of publication.
    #[schema(format = DateTime)]
    created_at: String,
    /// Source; missing in lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
}

/// Program, as the store keeps it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredProgram {
    /// Random part of the ids of its sources: one that is deleted and published again has others.
    key: String,
    name: String,
    description: Option<String>,
    versions: Vec<StoredVersion>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredVersion {
    hash: String,
    created: i64,
}

impl StoredProgram {
    fn read(document: &Document) -> Result<StoredProgram, Problem> {
        serde_json::from_str(&document.body).map_err(|error| Problem::internal(&error))
    }

    /// Returns the number of its latest version.
    fn latest(&self) -> u32 {
        u32::try_from(self.versions.len()).unwrap_or(u32::MAX)
    }

    /// Returns the id of the source with this hash.
    fn source_id(&self, hash: &str) -> String {
        format!("{}_{hash}", self.key)
    }

    fn view(&self, document: &Document) -> ProgramView {
        ProgramView {
            name: self.name.clone(),
            description: self.description.clone(),
            version: self.latest(),
            created_at: time::format(document.created),
            updated_at: time::format(document.updated),
        }
    }

    /// Shows a version; `None` if there is none with this number.
    fn version(&self, number: u32, source: Option<String>) -> Option<ProgramVersion> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        let StoredVersion { hash, created } = self.versions.get(index)?;
        let (name, hash, created_at) = (self.name.clone(), hash.clone(), time::format(*created));
        Some(ProgramVersion { name, version: number, hash, created_at, source })
    }
}

/// Publish a program
///
/// A name that exists gets a new version. Publishing the latest source again changes nothing.
#[utoipa::path(
    post, path = "/v1/programs", tag = "programs", operation_id = "publishProgram",
    request_body = NewProgram,
    responses(
        (status = 201, description = "The version", body = ProgramVersion, headers(("Location" = String))),
        (status = 200, description = "The version that has this source already", body = ProgramVersion),
    ),
)]
async fn publish(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    JsonBody(new): JsonBody<NewProgram>,
) -> Result<Response, Problem> {
    service.check_open()?;
    new.check()?;
    for _ in 0..MAX_ATTEMPTS {
        if let Some(response) = service.publish(&who, &new).await? {
            return Ok(response);
        }
    }
    Err(Problem::conflict("conflict", "Others publish this program now: try again"))
}

impl NewProgram {
    fn check(&self) -> Result<(), Problem> {
        if !is_name(&self.name) {
            let detail =
                format!("expected 1 to {MAX_NAME} letters, digits, `-` and `_`, beginning with a letter or digit");
            return Err(Problem::invalid("/name", detail));
        }
        if self.source.is_empty() || self.source.len() > MAX_SOURCE {
            return Err(Problem::invalid("/source", format!("expected 1 to {MAX_SOURCE} bytes")));
        }
        match self.description.as_ref().is_some_and(|text| text.chars().count() > MAX_DESCRIPTION) {
            true => Err(Problem::invalid("/description", format!("expected at most {MAX_DESCRIPTION} characters"))),
            false => Ok(()),
        }
    }
}

impl Service {
    /// Publishes a program; `None` if somebody else published it meanwhile.
    async fn publish(&self, who: &Who, new: &NewProgram) -> Result<Option<Response>, Problem> {
        let hash = blake3::hash(new.source.as_bytes()).to_hex().to_string();
        let before = self.store().document(KIND, &id(who, &new.name)).await?;
        // Until a new one is stored: two at once do not both pass the check.
        let (mut program, expected, _making) = match &before {
            Some(document) => (StoredProgram::read(document)?, Expected::Version(document.version), None),
            None => {
                let making = self.making(who.owner()).await;
                self.check_programs(who).await?;
                let (name, versions) = (new.name.clone(), Vec::new());
                let program = StoredProgram { key: ids::new("src_")?, name, description: None, versions };
                (program, Expected::Absent, Some(making))
            }
        };
        if program.versions.last().is_some_and(|latest| latest.hash == hash) {
            let latest = program.version(program.latest(), Some(new.source.clone()));
            return latest
                .map(|version| Some(Json(version).into_response()))
                .ok_or_else(|| Problem::not_found("program"));
        }
        if program.versions.len() >= MAX_VERSIONS {
            return Err(Problem::busy(
                "program.too_many",
                format!("More than {MAX_VERSIONS} versions: delete the program"),
            ));
        }
        let subject = Subject::program(format!("{}@{}", program.name, program.latest().saturating_add(1)));
        self.record(ApiAction::new(who, Action::ProgramPublished, subject)).await?;
        // Before the list of versions names it. Its id is its hash, so that others who publish do not replace it.
        let source = NewDocument {
            kind: SOURCE_KIND.to_owned(),
            id: program.source_id(&hash),
            owner: who.owner().to_owned(),
            body: new.source.clone(),
            expires: None,
        };
        self.store().put_document(source, Expected::Any).await?;
        program.versions.push(StoredVersion { hash, created: time::now_ms() });
        program.description = new.description.clone().or(program.description);
        let number = program.latest();
        let body = serde_json::to_string(&program).map_err(|error| Problem::internal(&error))?;
        let document = NewDocument {
            kind: KIND.to_owned(),
            id: id(who, &new.name),
            owner: who.owner().to_owned(),
            body,
            expires: None,
        };
        match self.store().put_document(document, expected).await? {
            Put::Stored(_) => {}
            Put::Conflict(_) | Put::Missing => {
                // Of a new program, nothing else has its sources.
                if expected == Expected::Absent
                    && let Some(latest) = program.versions.last()
                {
                    self.store().delete_document(SOURCE_KIND, &program.source_id(&latest.hash), None).await?;
                }
                return Ok(None);
            }
        }
        let version = program.version(number, Some(new.source.clone())).ok_or_else(|| Problem::not_found("program"))?;
        let mut response = (StatusCode::CREATED, Json(version)).into_response();
        let place = format!("/v1/programs/{}/versions/{number}", new.name);
        if let Ok(place) = HeaderValue::from_str(&place) {
            response.headers_mut().insert(LOCATION, place);
        }
        Ok(Some(response))
    }

    async fn check_programs(&self, who: &Who) -> Result<(), Problem> {
        let filter =
            DocumentFilter { owner: Some(who.owner().to_owned()), limit: MAX_PROGRAMS, ..DocumentFilter::of(KIND) };
        match self.store().count_documents(filter).await? >= MAX_PROGRAMS as u64 {
            true => {
                Err(Problem::busy("program.too_many", format!("More than {MAX_PROGRAMS} programs: delete some first")))
            }
            false => Ok(()),
        }
    }

    /// Returns a program of a caller.
    async fn program(&self, who: &Who, name: &str) -> Result<(Document, StoredProgram), Problem> {
        let missing = || Problem::not_found("program");
        if !is_name(name) {
            return Err(missing());
        }
        let document = self.store().document(KIND, &id(who, name)).await?.ok_or_else(missing)?;
        let program = StoredProgram::read(&document)?;
        Ok((document, program))
    }

    /// Returns the source of a version.
    async fn source(&self, program: &StoredProgram, version: u32) -> Result<String, Problem> {
        let missing = || Problem::not_found("version");
        let hash = program.version(version, None).ok_or_else(missing)?.hash;
        let document = self.store().document(SOURCE_KIND, &program.source_id(&hash)).await?;
        document.map(|document| document.body).ok_or_else(missing)
    }

    /// Returns the source of `report` or `report@3`.
    pub(crate) async fn program_source(&self, who: &Who, text: &str) -> Result<Source, Problem> {
        let wrong = || Problem::invalid("/program", "expected a name, or a name and a version: `report@3`");
        let (name, version) = match text.split_once('@') {
            Some((name, version)) => {
                let is_number = version.bytes().all(|byte| byte.is_ascii_digit()) && !version.starts_with('0');
                (name, Some(version.parse().ok().filter(|_| is_number).ok_or_else(wrong)?))
            }
            None => (text, None),
        };
        let (_, program) = self.program(who, name).await?;
        let version = version.unwrap_or_else(|| program.latest());
        let text = self.source(&program, version).await?;
        Ok(Source { text, program: Some(format!("{name}@{version}")) })
    }
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
    let first = request.after.unwrap_or_else(|| program.latest().saturating_add(1));
    let numbers = (1..first).rev().filter_map(|number| program.version(number, None));
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
    let number: u32 = version.parse().map_err(|_| missing())?;
    let source = service.source(&program, number).await?;
    program.version(number, Some(source)).map(Json).ok_or_else(missing)
}

/// Returns the id of a program's document.
fn id(who: &Who, name: &str) -> String {
    ids::derived("prg_", &[who.owner(), name])
}

/// Returns true if a text may be the name of a program.
fn is_name(name: &str) -> bool {
    let is_first = |one: u8| one.is_ascii_alphanumeric();
    let is_plain = |one: u8| is_first(one) || one == b'-' || one == b'_';
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().next().is_some_and(is_first) && name.bytes().all(is_plain)
}

#[cfg(test)]
mod tests;
