//! Requests about MCP servers.

use crate::audit::{Action, ApiAction, Subject};
use crate::body::JsonBody;
use crate::pages::{Page, PageRequest};
use crate::path::Path;
use crate::problem::Problem;
use crate::query::{NoQuery, RawQuery};
use crate::server_source::{AcceptError, ServerSource, ServerState, ServerStatus};
use crate::service::Service;
use crate::spaces::SpaceRecord;
use crate::time;
use crate::who::Who;
use agent_spaces_project::mcp::{ChangeKind, ReviewedChange};
use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequest, State};
use http::Request;
use http::header::CONTENT_TYPE;
use hyper::body::Body as _;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Longest name and hash that are looked at.
const MAX_NAME: usize = 1_000;
const MAX_OFFER: usize = 200;

pub(crate) fn router() -> OpenApiRouter<Service> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(accept))
}

/// MCP server of the configuration, as it was last seen.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Server)]
pub(crate) struct ServerView {
    /// Name.
    name: String,
    /// Ids of the configured spaces that have it, among those of the caller.
    spaces: Vec<String>,
    /// `stdio`, `http`, `sse` or `websocket`.
    transport: String,
    /// State.
    status: ServerStatus,
    /// Why it cannot be used. The operator gets the details.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Number of its tools; missing if they are not known yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    /// Time at which it was last seen; missing if this server process has not started it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    checked_at: Option<String>,
    /// Hash of what it offers, if that is not what was accepted. Only for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    offer: Option<String>,
    /// Changes since it was accepted. Only for the operator: nobody has accepted these texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    changes: Vec<ServerChange>,
}

/// Kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ServerChangeKind {
    Added,
    Removed,
    Changed,
}

/// Change of a tool, or of something of the server as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ServerChange {
    /// Kind.
    kind: ServerChangeKind,
    /// Name of the tool; `endpoint`, `package`, `identity`, `protocol`, `instructions`, `resources` or `prompts` for the
    /// server as a whole.
    name: String,
    /// Description of the change, as `agent-spaces mcp accept` prints it.
    text: String,
    /// True if the tool, or the server, is refused until the change is accepted.
    breaking: bool,
    /// Accepted state.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// Present state.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

/// Acceptance of a server.
#[derive(Clone, Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewAcceptance {
    /// `offer` of the server as it was reviewed: if it offers something else by now, nothing is accepted.
    #[serde(default, deserialize_with = "crate::body::given")]
    #[schema(max_length = 200)]
    offer: Option<String>,
}

/// List MCP servers
///
/// In the order of their names, as they were last seen: no server is started. A caller gets those of its spaces.
#[utoipa::path(
    get, path = "/v1/servers", tag = "servers", operation_id = "listServers",
    params(
        ("limit" = Option<u32>, Query, description = "Maximum number of items", minimum = 1, maximum = 100),
        ("cursor" = Option<String>, Query, description = "`next` of the page before"),
    ),
    responses((status = 200, description = "One page", body = Page<ServerView>)),
)]
async fn list(State(service): State<Service>, who: Who, query: RawQuery) -> Result<Json<Page<ServerView>>, Problem> {
    let request: PageRequest<String> = PageRequest::read(&query.with(&["limit", "cursor"])?)?;
    let mut seen = seen(&service, &who).await?;
    seen.retain(|server| request.after.as_ref().is_none_or(|after| server.name > *after));
    seen.truncate(request.read_limit());
    Ok(Json(request.page(seen, |server| server.name.clone(), |server| server)))
}

/// Accept the tools of an MCP server
///
/// As `agent-spaces mcp accept` does: lists them now, and writes them to `capabilities.lock`. Spaces use them from then on.
/// Only for the operator.
#[utoipa::path(
    post, path = "/v1/servers/{server}/accept", tag = "servers", operation_id = "acceptServer",
    params(("server" = String, Path, description = "Name of the server")),
    request_body = NewAcceptance,
    responses((status = 200, description = "The server", body = ServerView)),
)]
async fn accept(
    State(service): State<Service>,
    who: Who,
    _: NoQuery,
    Path(name): Path<String>,
    acceptance: NewAcceptance,
) -> Result<Json<ServerView>, Problem> {
    let NewAcceptance { offer } = acceptance;
    who.check_operator()?;
    service.check_open()?;
    if offer.as_ref().is_some_and(|offer| offer.len() > MAX_OFFER) {
        return Err(Problem::invalid("/offer", "expected `offer` of the server"));
    }
    let source = source(&service).filter(|_| name.len() <= MAX_NAME).ok_or_else(missing)?;
    if !seen(&service, &who).await?.iter().any(|server| server.name == name) {
        return Err(missing());
    }
    let subject = Subject { server: Some(name.clone()), ..Subject::default() };
    service.record(ApiAction::new(&who, Action::ServerAccepted, subject)).await?;
    source.accept(&name, offer.as_deref()).await.map_err(refused)?;
    let accepted = seen(&service, &who).await?.into_iter().find(|server| server.name == name);
    accepted.map(Json).ok_or_else(missing)
}

impl<S: Sync> FromRequest<S> for NewAcceptance {
    type Rejection = Problem;

    async fn from_request(request: Request<Body>, state: &S) -> Result<NewAcceptance, Problem> {
        // Like `{}`: it accepts whatever the server offers.
        if request.body().is_end_stream() && !request.headers().contains_key(CONTENT_TYPE) {
            return Ok(NewAcceptance::default());
        }
        JsonBody::from_request(request, state).await.map(|JsonBody(new)| new)
    }
}

fn missing() -> Problem {
    Problem::not_found("server")
}

fn source(service: &Service) -> Option<Arc<dyn ServerSource>> {
    service.0.servers.get().cloned()
}

/// Returns the servers that a caller may see.
async fn seen(service: &Service, who: &Who) -> Result<Vec<ServerView>, Problem> {
    let Some(source) = source(service) else { return Ok(Vec::new()) };
    let permit = service.0.callers.view_permit(who.owner()).await;
    let states = tokio::task::spawn_blocking(move || {
        // Held here: a client that disconnects does not end the comparison.
        let _permit = permit;
        source.servers()
    });
    let states = states.await.map_err(|error| Problem::internal(&error))?;
    let spaces = service.configured(who.0.caller());
    let is_operator = who.is_operator();
    let shown = states.into_iter().map(|state| view(state, &spaces, is_operator));
    // One that no space has is the operator's.
    Ok(shown.filter(|server| is_operator || !server.spaces.is_empty()).collect())
}

fn view(state: ServerState, spaces: &[SpaceRecord], is_operator: bool) -> ServerView {
    let has = |space: &&SpaceRecord| state.spaces.contains(&space.base);
    ServerView {
        spaces: spaces.iter().filter(has).map(|space| space.id.clone()).collect(),
        transport: state.transport.to_owned(),
        status: state.status,
        error: state.error.map(|fault| if is_operator { fault.detail } else { fault.brief }),
        tools: state.tools,
        checked_at: state.checked_at.and_then(time::of).map(time::format),
        offer: state.offer.filter(|_| is_operator),
        changes: state.changes.into_iter().filter(|_| is_operator).map(change).collect(),
        name: state.name,
    }
}

fn change(reviewed: ReviewedChange) -> ServerChange {
    let ReviewedChange { kind, name, text, is_breaking, before, after } = reviewed;
    let kind = match kind {
        ChangeKind::Added => ServerChangeKind::Added,
        ChangeKind::Removed => ServerChangeKind::Removed,
        ChangeKind::Changed => ServerChangeKind::Changed,
    };
    ServerChange { kind, name, text, breaking: is_breaking, before, after }
}

fn refused(error: AcceptError) -> Problem {
    match error {
        AcceptError::Unknown => missing(),
        AcceptError::Refused(detail) => Problem::conflict("server.refused", detail),
        AcceptError::NeedsLogin(detail) => Problem::conflict("server.needs_login", detail),
        AcceptError::Failed(detail) => Problem::unavailable("server.failed", detail),
        AcceptError::Changed => {
            Problem::conflict("server.changed", "Its tools changed since they were reviewed: look at the changes again")
        }
        AcceptError::Host(detail) => Problem::internal(&detail),
    }
}

#[cfg(test)]
mod tests;
