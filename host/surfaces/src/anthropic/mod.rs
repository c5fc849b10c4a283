//! Anthropic's messages: an agent is a model.
//!
//! Callers send whole conversations, so nothing is kept. Calls of the caller's own tools end the answer; calls of the
//! agent's tools happen meanwhile, and are not shown. Thoughts are neither sent nor read.
//!
//! - `messages`, `request`: what callers send
//! - `answer`, `stream`: messages, whole and as events; the list of agents
//! - `error`: errors

mod answer;
mod error;
mod messages;
mod request;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use answer::{model, models};
pub(crate) use error::response as refused;

use crate::asking::Asker;
use crate::bodies::{Bodies, Held};
use crate::failure::{Failure, FailureKind};
use crate::observed::observed;
use crate::responses::json_response;
use crate::{json, stream as events};
use agent_spaces_agent::OutputFormat;
use agent_spaces_http_server::{Access, Authenticated, Client, Handling, HttpResponse, Refusal, Routes, Stopping};
use http::{HeaderMap, Method, Request};
use hyper::body::Incoming;
use stream::MessageEvents;

const MESSAGES: &str = "/v1/messages";
const COUNT: &str = "/v1/messages/count_tokens";

/// Header in which clients send their key, which is a token of ours.
pub(crate) const KEY_HEADER: &str = "x-api-key";

/// Returns true if a client speaks this protocol: its requests always name a version.
pub(crate) fn is_spoken(headers: &HeaderMap) -> bool {
    headers.contains_key("anthropic-version")
}

/// The routes.
pub(crate) struct AnthropicRoutes {
    asker: Asker,
    bodies: Bodies,
}

impl AnthropicRoutes {
    pub(crate) fn new(asker: Asker, bodies: Bodies) -> AnthropicRoutes {
        AnthropicRoutes { asker, bodies }
    }

    async fn answer(&self, request: Request<Incoming>, client: &Client) -> HttpResponse {
        let (head, body) = request.into_parts();
        let is_count = head.uri.path() == COUNT;
        let answered = async {
            if head.method != Method::POST {
                return Err(Failure::method("POST"));
            }
            let (bytes, held) = self.bodies.receive(client, body).await?;
            if is_count { self.count(&bytes, held).await } else { self.create(client, &bytes, held).await }
        };
        let answering = async { answered.await.unwrap_or_else(|failure| error::response(&failure)) };
        observed(&head.method, if is_count { COUNT } else { MESSAGES }, &head.headers, answering).await
    }

    /// Answers a request for a message.
    pub(crate) async fn create(&self, client: &Client, body: &[u8], held: Held) -> Result<HttpResponse, Failure> {
        let request = request::read(&json::body(body)?)?;
        // Otherwise a stream would begin with an error.
        let agent = self.asker.service().agent(&request.asking.agent).map_err(|error| Failure::of_error(&error))?;
        let is_whole = matches!(request.asking.output.as_ref().unwrap_or(&agent.output), OutputFormat::Json(_));
        let asked = self.asker.ask(client, request.asking, request.is_streamed, held);
        if request.is_streamed {
            return events::respond(asked, MessageEvents::new(&agent.name, is_whole)).await;
        }
        let outcome = asked.answer().await?;
        Ok(json_response(&answer::body(&answer::new_id(), &agent.name, &outcome)))
    }

    /// Counts the tokens of a request, about as many as the agent's first model has for it.
    pub(crate) async fn count(&self, body: &[u8], held: Held) -> Result<HttpResponse, Failure> {
        let asking = request::read(&json::body(body)?)?.asking;
        let service = self.asker.service().clone();
        let counting = move || {
            let _held = held;
            service.count_tokens(&asking.agent, asking.messages, asking.system, asking.caller_tools)
        };
        let counted = tokio::task::spawn_blocking(counting).await;
        let failed = |_| Failure::new(FailureKind::Internal, "The tokens could not be counted");
        let tokens = counted.map_err(failed)?.map_err(|error| Failure::of_error(&error))?;
        Ok(json_response(&serde_json::json!({ "input_tokens": tokens })))
    }
}

impl Routes for AnthropicRoutes {
    fn access(&self, _: &Method, path: &str) -> Option<Access> {
        matches!(path, MESSAGES | COUNT).then_some(Access::Caller)
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

    fn token_header(&self) -> Option<&'static str> {
        Some(KEY_HEADER)
    }

    fn stop(&self) -> Stopping<'_> {
        self.asker.stop();
        Box::pin(std::future::ready(()))
    }

    fn close(&self) -> Stopping<'_> {
        self.stop()
    }
}
