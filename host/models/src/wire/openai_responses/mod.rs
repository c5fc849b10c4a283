//! OpenAI's Responses: `POST {base}/responses`.
//!
//! Nothing is stored at the provider (`store: false`): each request contains the whole conversation, and reasoning is
//! returned encrypted and sent back unchanged. Provider options may change both.
//!
//! Data kept for the next request:
//! - A reasoning item is kept in [`crate::Reasoning::data`] as an input item.
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

use super::json::{self, text_or_empty};
use super::{Decoder, Framing, KeyHeader, Refusal, Wire, WireRequest};
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
        reader.terminal(text_or_empty(&response, "status"), &response, &mut |_: Delta<'_>| {})?;
        reader.build()
    }

    fn decoder(&self, origin: &Origin) -> Box<dyn Decoder> {
        Box::new(stream::Stream::new(origin))
    }

    fn refusal_in(&self, body: &Value) -> Refusal {
        failure::refusal(body)
    }
}
