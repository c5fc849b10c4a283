//! Plain HTTP: an agent is a path, `/v1/{agent}`. Also the list of agents, and their sessions.
//!
//! - `request`: requests of callers
//! - `answer`: answers and events; `problem`: errors
//! - `sessions`: sessions of an agent; `transcript`: their messages

mod answer;
mod problem;
mod request;
mod sessions;
#[cfg(test)]
mod tests;
mod transcript;

use crate::asking::Asker;
use crate::bodies::{Bodies, Held};
use crate::failure::{Failure, FailureKind};
use crate::json::{self, Object};
use crate::observed::observed;
use crate::responses::json_response;
use crate::stream;
use agent_spaces_http_server::{
    Access, Authenticated, Client, Handling, HttpResponse, Refusal, Routes, Stopping, until_sent,
};
use answer::AgentEvents;
use http::header::{ACCEPT, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, Method, Request};
use hyper::body::Incoming;
use sessions::SessionReader;

const AGENTS: &str = "/v1/agents";

/// The routes.
pub(crate) struct AgentRoutes {
    asker: Asker,
    bodies: Bodies,
    sessions: SessionReader,
}

/// Meaning of a path.
#[derive(Debug, PartialEq, Eq)]
enum Place<'a> {
    /// An agent.
    Agent(&'a str),
    /// The list of agents.
    Agents,
    /// Sessions of an agent.
    Sessions(&'a str),
    /// One session of an agent.
    Session(&'a str, &'a str),
}

impl AgentRoutes {
    pub(crate) fn new(asker: Asker, bodies: Bodies) -> AgentRoutes {
        AgentRoutes { asker, bodies, sessions: SessionReader::default() }
    }

    /// Returns what a path means; `None` if it is not ours. Approvals are the REST API's, and so is every name that no
    /// agent has.
    fn place<'a>(&self, path: &'a str) -> Option<Place<'a>> {
        if path == AGENTS {
            return Some(Place::Agents);
        }
        if let Some(rest) = path.strip_prefix(AGENTS).and_then(|rest| rest.strip_prefix('/')) {
            let (agent, rest) = rest.split_once('/')?;
            let place = match rest.strip_prefix("sessions")? {
                "" => Place::Sessions(agent),
                rest => Place::Session(agent, rest.strip_prefix('/').filter(|id| !id.contains('/'))?),
            };
            return self.asker.service().agent(agent).is_ok().then_some(place);
        }
        let name = path.strip_prefix("/v1/")?;
        (!name.contains('/') && self.asker.service().agent(name).is_ok()).then_some(Place::Agent(name))
    }

    async fn answer(&self, request: Request<Incoming>, client: &Client) -> HttpResponse {
        let (head, body) = request.into_parts();
        let Some(place) = self.place(head.uri.path()) else { return self.refuse(&Refusal::NotFound) };
        let route = match place {
            Place::Agent(_) => "/v1/{agent}",
            Place::Agents => AGENTS,
            Place::Sessions(_) => "/v1/agents/{agent}/sessions",
            Place::Session(..) => "/v1/agents/{agent}/sessions/{session}",
        };
        let answered = async {
            match (place, &head.method) {
                (Place::Agent(name), &Method::GET) => {
                    let held = self.bodies.empty(client)?;
                    self.ask(client, name, &head, Object::new(), held).await
                }
                (Place::Agent(name), &Method::POST) => {
                    check_json(&head.headers)?;
                    let (bytes, held) = self.bodies.receive(client, body).await?;
                    self.ask(client, name, &head, json::body(&bytes)?, held).await
                }
                (Place::Agents, &Method::GET) => {
                    Ok(json_response(&serde_json::json!({ "items": self.asker.service().agents_of(client) })))
                }
                (Place::Sessions(agent), &Method::GET) => {
                    let (service, query) = (self.asker.service(), head.uri.query());
                    Ok(json_response(&self.sessions.list(service, client, agent, query).await?))
                }
                (Place::Session(agent, id), &Method::GET) => {
                    let (service, query) = (self.asker.service(), head.uri.query());
                    let (session, permit) = self.sessions.get(service, client, agent, id, query).await?;
                    Ok(until_sent(json_response(&session), permit))
                }
                (Place::Agent(_), _) => Err(Failure::method("GET, POST")),
                (Place::Agents | Place::Sessions(_) | Place::Session(..), _) => Err(Failure::method("GET")),
            }
        };
        let answering = async { answered.await.unwrap_or_else(|failure| problem::response(&failure)) };
        observed(&head.method, route, &head.headers, answering).await
    }

    /// Asks an agent.
    async fn ask(
        &self,
        client: &Client,
        agent: &str,
        head: &Parts,
        body: Object,
        held: Held,
    ) -> Result<HttpResponse, Failure> {
        let request = request::read(agent, body, request::query(head.uri.query())?)?;
        let is_streamed = request.is_streamed || wants_events(&head.headers);
        let asked = self.asker.ask(client, request.asking, is_streamed, held);
        if is_streamed {
            return stream::respond(asked, AgentEvents::new(agent)).await;
        }
        let outcome = asked.answer().await?;
        Ok(json_response(&answer::body(agent, &outcome)))
    }
}

/// Returns true if a client wants events rather than one answer.
fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|value| value.split(','));
    kinds.any(|kind| kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream"))
}

/// Refuses a body that is not JSON, by its media type.
fn check_json(headers: &HeaderMap) -> Result<(), Failure> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    Err(Failure::new(FailureKind::Media, "Send the body as `Content-Type: application/json`"))
}

impl Routes for AgentRoutes {
    fn access(&self, _: &Method, path: &str) -> Option<Access> {
        self.place(path).map(|_| Access::Caller)
    }

    fn handle<'a>(&'a self, request: Request<Incoming>, caller: Option<Authenticated<'a>>) -> Handling<'a> {
        Box::pin(async move {
            match caller {
                Some(caller) => self.answer(request, caller.client).await,
                None => self.refuse(&Refusal::Token),
            }
        })
    }

    fn refuse(&self, refusal: &Refusal) -> HttpResponse {
        problem::response(&Failure::of_refusal(refusal))
    }

    fn stop(&self) -> Stopping<'_> {
        self.asker.stop();
        Box::pin(std::future::ready(()))
    }

    fn close(&self) -> Stopping<'_> {
        self.stop()
    }
}
