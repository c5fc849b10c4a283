//! Chat completions, as OpenAI, OpenRouter, vLLM, llama.cpp, DeepSeek and others speak it.
//!
//! The servers agree on the outline and differ in details, so reading is lenient and writing is plain.
//!
//! - `request`: the body of a request. `messages`: its conversation. `schema`: check for OpenAI's strict mode.
//! - `reader`: reads a whole body or the chunks of a stream. `calls`, `reasoning`, `usage`: its parts.
//! - `stream`: decoder of a streamed answer.
//! - `failure`: errors of a server.

mod calls;
mod failure;
mod messages;
mod reader;
mod reasoning;
mod request;
mod schema;
mod stream;
#[cfg(test)]
mod tests;
mod usage;

use serde_json::Value;

use super::{Decoder, Framing, KeyHeader, Refusal, Wire, WireRequest, json};
use crate::{Answer, ModelError, Origin, Provider, Request};

use failure::Failure;
use reader::{Reader, Shape};
use stream::Stream;

/// Chat completions.
pub(crate) struct OpenaiChat;

impl Wire for OpenaiChat {
    fn request(&self, provider: &Provider, request: &Request) -> Result<WireRequest, ModelError> {
        Ok(WireRequest {
            path: vec!["chat".to_owned(), "completions".to_owned()],
            query: Vec::new(),
            headers: Vec::new(),
            key: KeyHeader::Bearer,
            body: request::body(provider, request)?,
            framing: Framing::Events,
        })
    }

    fn whole(&self, origin: &Origin, body: &[u8]) -> Result<Answer, ModelError> {
        let body = json::parse(origin, body)?;
        let mut reader = Reader::new(origin, Shape::Message);
        reader.read(&body, &mut |_| {})?;
        reader.build()
    }

    fn decoder(&self, origin: &Origin) -> Box<dyn Decoder> {
        Box::new(Stream::new(origin))
    }

    fn refusal_in(&self, body: &Value) -> Refusal {
        Failure::in_body(body).map(Failure::into_refusal).unwrap_or_default()
    }
}
