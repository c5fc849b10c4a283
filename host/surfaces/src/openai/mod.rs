//! OpenAI's chat completions: an agent is a model.
//!
//! Callers send whole conversations, so nothing is kept. Calls of the caller's own tools end the answer; calls of the
//! agent's tools happen meanwhile, and are not shown. Reasoning is not sent.
//!
//! - `messages`, `request`: what callers send
//! - `answer`, `stream`: completions, whole and as chunks
//! - `models`: the list of agents; `error`: errors

mod answer;
mod error;
pub(crate) mod messages;
mod models;
mod request;
mod stream;
#[cfg(test)]
mod tests;

use crate::anthropic;
use crate::asking::Asker;
use crate::bodies::{Bodies, Held};
use crate::failure::{Failure, FailureKind};
use crate::observed::observed;
use crate::responses::json_response;
use crate::{json, stream as events};
use agent_spaces_agent::OutputFormat;
use agent_spaces_http_server::{Access, Authenticated, Client, Handling, HttpResponse, Refusal, Routes, Stopping};
use answer::Head;
use http::{HeaderMap, Method, Request};
use hyper::body::Incoming;
use stream::Chunks;

const MODELS: &str = "/v1/models";
const COMPLETIONS: &str = "/v1/chat/completions";

/// The routes.
pub(crate) struct OpenaiRoutes {
    asker: Asker,
    bodies: Bodies,
}

impl OpenaiRoutes {
    pub(crate) fn new(asker: Asker, bodies: Bodies) -> OpenaiRoutes {
        OpenaiRoutes { asker, bodies }
    }

    async fn answer(&self, request: Request<Incoming>, client: &Client) -> HttpResponse {
        let (head, body) = request.into_parts();
        let path = head.uri.path();
        if path == COMPLETIONS {
            let completed = async {
                if head.method != Method::POST {
                    return Err(Failure::method("POST"));
                }
                let (bytes, held) = self.bodies.receive(client, body).await?;
                self.complete(client, &bytes, held).await
            };
            let answering = async { completed.await.unwrap_or_else(|failure| error::response(&failure)) };
            return observed(&head.method, COMPLETIONS, &head.headers, answering).await;
        }
        let answering = async { self.models(client, &head.method, path, &head.headers) };
        observed(&head.method, MODELS, &head.headers, answering).await
    }

    /// Answers a request for a completion.
    pub(crate) async fn complete(&self, client: &Client, body: &[u8], held: Held) -> Result<HttpResponse, Failure> {
        let request = request::read(&json::body(body)?)?;
        // Otherwise a stream would begin with an error.
        let agent = self.asker.service().agent(&request.asking.agent).map_err(|error| Failure::of_error(&error))?;
        let head = Head::new(&agent.name);
        let is_whole = matches!(request.asking.output.as_ref().unwrap_or(&agent.output), OutputFormat::Json(_));
        let asked = self.asker.ask(client, request.asking, request.is_streamed, held);
        if request.is_streamed {
            return events::respond(asked, Chunks::new(head, request.has_usage, is_whole)).await;
        }
        let outcome = asked.answer().await?;
        Ok(json_response(&answer::body(&head, &outcome)))
    }

    /// Lists the agents that a caller may ask, in the form of its protocol: both have this path.
    pub(crate) fn models(&self, client: &Client, method: &Method, path: &str, headers: &HeaderMap) -> HttpResponse {
        let is_anthropic = anthropic::is_spoken(headers);
        let refused = |failure: Failure| match is_anthropic {
            true => anthropic::refused(&failure),
            false => error::response(&failure),
        };
        if method != Method::GET && method != Method::HEAD {
            return refused(Failure::method("GET, HEAD"));
        }
        let agents = self.asker.service().agents_of(client);
        let Some(name) = path.strip_prefix(MODELS).and_then(|rest| rest.strip_prefix('/')) else {
            return json_response(&if is_anthropic { anthropic::models(&agents) } else { models::all(&agents) });
        };
        match agents.iter().find(|agent| agent.name == name) {
            Some(agent) if is_anthropic => json_response(&anthropic::model(agent)),
            Some(agent) => json_response(&models::one(agent)),
            None => {
                let name: String = name.chars().take(100).collect();
                let message = format!("There is no agent {name:?}: see {MODELS}");
                refused(Failure { param: Some("model".to_owned()), ..Failure::new(FailureKind::NotFound, message) })
            }
        }
    }
}

impl Routes for OpenaiRoutes {
    fn access(&self, _: &Method, path: &str) -> Option<Access> {
        let is_model = || path.strip_prefix(MODELS).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        (path == COMPLETIONS || is_model()).then_some(Access::Caller)
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
        error::response(&Failure::of_refusal(refusal))
    }

    /// Clients of both protocols ask for models.
    fn token_header(&self) -> Option<&'static str> {
        Some(anthropic::KEY_HEADER)
    }

    fn stop(&self) -> Stopping<'_> {
        self.asker.stop();
        Box::pin(std::future::ready(()))
    }

    fn close(&self) -> Stopping<'_> {
        self.stop()
    }
}
