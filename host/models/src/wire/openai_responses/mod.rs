//! OpenAI's Responses: `POST {base}/responses`.
//!
//! Nothing is stored at the provider (`store: false`): each request holds the whole conversation, and reasoning comes
//! back encrypted and is given back so. A setting of the provider's may change both.
//!
//! What is kept for the next request:
//! - A reasoning item is kept in [`crate::Reasoning::data`] as the input item that gives it back.
//! - A message with a `phase` (`commentary`, `final_answer`) gets a reasoning part without text before its text. Its data
//!   is `{"type": "message", "id", "phase"}`. The API takes messages without their phase, but models then mistake
//!   commentary for a final answer and stop early. Messages without a phase need nothing.
//! - Ids of calls (`fc_…`) are dropped: `call_id` ties a result to its call.
//!
//! The format has no stop texts: [`crate::Request::stop`] is left out.

mod answer;
mod failure;
mod input;
mod items;
mod request;
mod stream;
#[cfg(test)]
mod tests;

use serde_json::Value;

use super::{Decoder, Framing, KeyHeader, Refusal, Wire, WireRequest, json};
use crate::answer::Delta;
use crate::{Answer, ModelError, Origin, Provider, Request};

/// The wire of [`crate::Api::OpenaiResponses`].
pub(crate) struct OpenaiResponses;

impl Wire for OpenaiResponses {
    fn request(&self, provider: &Provider, request: &Request) -> Result<WireRequest, ModelError> {
        Ok(WireRequest {
            path: vec!["responses".to_owned()],
            query: Vec::new(),
            headers: Vec::new(),
            key: KeyHeader::Bearer,
            body: request::body(provider, request),
            framing: Framing::Events,
        })
    }

    fn whole(&self, origin: &Origin, body: &[u8]) -> Result<Answer, ModelError> {
        let response = json::parse(origin, body)?;
        let mut reader = answer::Reader::new(origin);
        reader.terminal(member(&response, "status"), &response, &mut |_: Delta<'_>| {})?;
        reader.build()
    }

    fn decoder(&self, origin: &Origin) -> Box<dyn Decoder> {
        Box::new(stream::Stream::new(origin))
    }

    fn refusal(&self, body: &[u8]) -> Refusal {
        serde_json::from_slice::<Value>(body).map(|body| failure::refusal(&body)).unwrap_or_default()
    }
}

/// A text member; empty where it is absent, null or something else.
fn member<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The elements of an array member; none where it is absent, null or something else.
fn elements<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
