//! A2A as a part of a server.

use super::card::{self, WELL_KNOWN_CARD};
use super::error::{A2aError, ErrorKind};
use super::operation::Operation;
use super::query::{Query, VERSION_NAME, check_version};
use super::stream::{self, Envelope};
use super::tasks::{Reply, Tasks};
use super::{http_json, json_rpc};
use crate::bodies::Bodies;
use crate::failure::Failure;
use crate::observed::observed;
use agent_spaces_agent::{AgentService, AgentSummary, DEFAULT_AGENT};
use agent_spaces_http_server::{
    Access, Authenticated, Client, Handling, HttpResponse, Refusal, Routes, Stopping, response,
};
use agent_spaces_journal::Store;
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, RETRY_AFTER};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use hyper::body::{Body, Incoming};
use serde_json::{Value, json};
use std::error::Error;
use std::sync::Arc;
use std::time::SystemTime;

/// Path above the paths of agents.
const PREFIX: &str = "/a2a/";

/// Media types of the bindings.
const JSON: &str = "application/json";

/// Settings of the A2A server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct A2aSettings {
    /// Questions at once; `None` for the default.
    pub limit: Option<usize>,
    /// URL under which callers reach the server, for cards. Without one it is `http://` and the header `Host`.
    pub public_url: Option<String>,
    /// True if requests need no token. Cards say which they need.
    pub is_open: bool,
}

/// Agents for other agents: `/a2a/{agent}`, and cards.
///
/// The card at `/.well-known/agent-card.json` is that of the agent `agent`, or of the first by name; each agent has its
/// own at `/a2a/{agent}/.well-known/agent-card.json`. Cards are public.
pub struct A2aRoutes {
    service: AgentService,
    tasks: Tasks,
    bodies: Bodies,
    settings: A2aSettings,
    started: SystemTime,
}

/// Meaning of a path.
#[derive(Debug, PartialEq, Eq)]
enum Place<'a> {
    /// The card of an agent, or of the first.
    Card(Option<&'a str>),
    /// Endpoint of an agent for JSON-RPC.
    JsonRpc(&'a str),
    /// A path of HTTP+JSON below that of an agent.
    HttpJson(&'a str, &'a str),
}

impl Place<'_> {
    fn of(path: &str) -> Option<Place<'_>> {
        if path == WELL_KNOWN_CARD {
            return Some(Place::Card(None));
        }
        let (agent, rest) = path.strip_prefix(PREFIX).map(|rest| rest.split_once('/').unwrap_or((rest, "")))?;
        match rest {
            _ if agent.is_empty() => None,
            "" => Some(Place::JsonRpc(agent)),
            _ if WELL_KNOWN_CARD.strip_prefix('/') == Some(rest) => Some(Place::Card(Some(agent))),
            _ => Some(Place::HttpJson(agent, rest)),
        }
    }
}

impl A2aRoutes {
    /// Serves all agents of a service. Tasks are kept in a store.
    pub fn new(service: &AgentService, store: Arc<dyn Store>, settings: A2aSettings) -> A2aRoutes {
        let tasks = Tasks::new(service.surface("a2a", settings.limit), store);
        let started = SystemTime::now();
        A2aRoutes { service: service.clone(), tasks, bodies: Bodies::default(), settings, started }
    }

    /// Answers a request of a client. Only cards need none.
    pub async fn answer<B>(&self, request: Request<B>, client: Option<&Client>) -> HttpResponse
    where
        B: Body + Send,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let answering = async {
            match (Place::of(parts.uri.path()), client) {
                (None, _) => self.refuse(&Refusal::NotFound),
                (Some(Place::Card(agent)), _) => self.card(&parts, agent),
                (Some(_), None) => self.refuse(&Refusal::Token),
                (Some(Place::JsonRpc(agent)), Some(client)) => self.json_rpc(&parts, body, agent, client).await,
                (Some(Place::HttpJson(agent, path)), Some(client)) => {
                    self.http_json(&parts, body, (agent, path), client).await
                }
            }
        };
        observed(&parts.method, "/a2a/{agent}", &parts.headers, answering).await
    }

    /// Returns an agent; without a name the default agent, or the first.
    fn agent(&self, name: Option<&str>) -> Result<AgentSummary, A2aError> {
        let mut agents = self.service.agents();
        let index = agents.iter().position(|agent| agent.name == name.unwrap_or(DEFAULT_AGENT));
        let index = index.or_else(|| (name.is_none() && !agents.is_empty()).then_some(0));
        let unknown = || A2aError::new(ErrorKind::Method, "There is no such agent");
        index.map(|index| agents.swap_remove(index)).ok_or_else(unknown)
    }

    fn card(&self, parts: &Parts, agent: Option<&str>) -> HttpResponse {
        if !matches!(parts.method, Method::GET | Method::HEAD) {
            return self.refuse(&Refusal::NotFound);
        }
        match self.agent(agent) {
            Ok(agent) => {
                let card = card::card(&agent, &self.base(parts), !self.settings.is_open);
                card::respond(&card, &parts.headers, self.started)
            }
            Err(error) => refused(&error, JSON),
        }
    }

    /// Returns the URL of the server.
    fn base(&self, parts: &Parts) -> String {
        if let Some(url) = &self.settings.public_url {
            return url.trim_end_matches('/').to_owned();
        }
        // The server has checked it.
        let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok());
        let host = host.or_else(|| parts.uri.authority().map(http::uri::Authority::as_str));
        format!("http://{}", host.unwrap_or("localhost"))
    }

    async fn json_rpc<B>(&self, parts: &Parts, body: B, agent: &str, client: &Client) -> HttpResponse
    where
        B: Body + Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        if parts.method != Method::POST {
            return refused(&A2aError::new(ErrorKind::Method, "JSON-RPC takes POST"), JSON);
        }
        if let Err(error) = self.agent(Some(agent)) {
            return refused(&error, JSON);
        }
        let failed = |id: &Value, error: &A2aError| {
            let status = match error.kind {
                ErrorKind::BodyType | ErrorKind::TooLarge => error.status(),
                _ => StatusCode::OK,
            };
            json_response(status, JSON, &json_rpc::response(id, Err(error)))
        };
        let (bytes, held) = match self.bodies.receive(client, body).await {
            Ok(received) => received,
            Err(failure) => return failed(&Value::Null, &A2aError::of_failure(&failure)),
        };
        if let Err(error) = check_body_type(parts, &bytes) {
            return failed(&Value::Null, &error);
        }
        let json_rpc::Request { id, method, params } = match json_rpc::read(&bytes) {
            Ok(request) => request,
            Err((id, error)) => return failed(&id, &error),
        };
        drop(bytes);
        let operation = check(parts).and_then(|_| Operation::of_method(&method, params));
        let reply = match operation {
            Ok(operation) => self.tasks.perform(client, agent, operation, held).await,
            Err(error) => Err(error),
        };
        match reply {
            Ok(Reply::Json(value)) => json_response(StatusCode::OK, JSON, &json_rpc::response(&id, Ok(value))),
            Ok(Reply::Stream(subscription)) => stream::respond(subscription, Envelope::JsonRpc(id.to_string())),
            Err(error) => failed(&id, &error),
        }
    }

    async fn http_json<B>(&self, parts: &Parts, body: B, place: (&str, &str), client: &Client) -> HttpResponse
    where
        B: Body + Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (agent, path) = place;
        let media_type = media_type(&parts.headers);
        let performed = async {
            self.agent(Some(agent))?;
            let query = check(parts)?;
            let received = self.bodies.receive(client, body).await;
            let (bytes, held) = received.map_err(|failure| A2aError::of_failure(&failure))?;
            check_body_type(parts, &bytes)?;
            let operation = http_json::read(&parts.method, path, &query, &bytes)?;
            drop(bytes);
            self.tasks.perform(client, agent, operation, held).await
        };
        match performed.await {
            Ok(Reply::Json(value)) => json_response(StatusCode::OK, media_type, &value),
            Ok(Reply::Stream(subscription)) => stream::respond(subscription, Envelope::Plain),
            Err(error) => refused(&error, media_type),
        }
    }
}

impl Routes for A2aRoutes {
    fn access(&self, _: &Method, path: &str) -> Option<Access> {
        Place::of(path).map(|place| match place {
            Place::Card(_) => Access::Open,
            _ => Access::Caller,
        })
    }

    fn handle<'a>(&'a self, request: Request<Incoming>, caller: Option<Authenticated<'a>>) -> Handling<'a> {
        Box::pin(async move { self.answer(request, caller.as_ref().map(|caller| caller.client)).await })
    }

    fn refuse(&self, refusal: &Refusal) -> HttpResponse {
        let status = refusal.status();
        let mut body = A2aError::of_failure(&Failure::of_refusal(refusal)).http_json();
        body["error"]["code"] = json!(status.as_u16());
        json_response(status, JSON, &body)
    }

    fn drained(&self) -> Stopping<'_> {
        Box::pin(self.tasks.drained())
    }

    fn stop(&self) -> Stopping<'_> {
        self.tasks.stop();
        Box::pin(self.tasks.drained())
    }
}

/// Checks the version, and returns the query.
fn check(parts: &Parts) -> Result<Query, A2aError> {
    let query = Query::parse(parts.uri.query())?;
    let version = parts.headers.get(VERSION_NAME).map(|value| value.to_str().unwrap_or("?"));
    check_version(version, &query)?;
    Ok(query)
}

/// Checks that a body is said to be JSON: a web page can send other types without being asked.
fn check_body_type(parts: &Parts, body: &[u8]) -> Result<(), A2aError> {
    let kind = parts.headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    let is_right = match kind {
        Some(kind) => is_named(kind, JSON) || is_named(kind, http_json::MEDIA_TYPE),
        None => body.is_empty(),
    };
    let message = "Content-Type not supported: send application/json or application/a2a+json";
    if is_right { Ok(()) } else { Err(A2aError::new(ErrorKind::BodyType, message)) }
}

/// Returns true if a header with media types names this one.
fn is_named(header: &str, media_type: &str) -> bool {
    let mut kinds = header.split(',').map(|kind| kind.split(';').next().unwrap_or_default().trim());
    kinds.any(|kind| kind.eq_ignore_ascii_case(media_type))
}

/// Media type of a response: that of the protocol for clients that name it. Others may not know it.
fn media_type(headers: &HeaderMap) -> &'static str {
    let names = |name| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.is_some_and(|value| is_named(value, http_json::MEDIA_TYPE))
    };
    if names(CONTENT_TYPE) || names(ACCEPT) { http_json::MEDIA_TYPE } else { JSON }
}

fn json_response(status: StatusCode, media_type: &'static str, body: &Value) -> HttpResponse {
    let mut response = response(status, body.to_string());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if status == StatusCode::SERVICE_UNAVAILABLE {
        headers.insert(RETRY_AFTER, HeaderValue::from(crate::bounds::RETRY_AFTER));
    }
    response
}

fn refused(error: &A2aError, media_type: &'static str) -> HttpResponse {
    json_response(error.status(), media_type, &error.http_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_agent_has_its_paths() {
        assert_eq!(Place::of("/.well-known/agent-card.json"), Some(Place::Card(None)));
        assert_eq!(Place::of("/a2a/one/.well-known/agent-card.json"), Some(Place::Card(Some("one"))));
        assert_eq!(Place::of("/a2a/one"), Some(Place::JsonRpc("one")));
        assert_eq!(Place::of("/a2a/one/"), Some(Place::JsonRpc("one")));
        assert_eq!(Place::of("/a2a/one/tasks/t:cancel"), Some(Place::HttpJson("one", "tasks/t:cancel")));
        for other in ["/", "/a2a", "/a2a/", "/a2a//tasks", "/v1/one", "/.well-known/other"] {
            assert_eq!(Place::of(other), None, "{other}");
        }
    }

    #[test]
    fn clients_that_name_the_media_type_of_the_protocol_get_it() {
        let of =
            |name, value: &'static str| media_type(&HeaderMap::from_iter([(name, HeaderValue::from_static(value))]));
        assert_eq!(of(ACCEPT, "text/html, application/a2a+json;q=0.9"), http_json::MEDIA_TYPE);
        assert_eq!(of(CONTENT_TYPE, "application/a2a+json; charset=utf-8"), http_json::MEDIA_TYPE);
        assert_eq!((of(ACCEPT, "*/*"), of(CONTENT_TYPE, JSON)), (JSON, JSON));
    }
}
