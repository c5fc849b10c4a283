//! Ollama's own format: `POST chat` below `/api`, with JSON lines.
//!
//! Ollama has no tool choice and no flag for parallel calls. [`ToolChoice::None`] is sent as no tools,
//! [`ToolChoice::Tool`] as that tool alone, and [`ToolChoice::Required`] like [`ToolChoice::Auto`]: the model may
//! answer without a call. `think`, `keep_alive` and `options` (`num_ctx`, `top_k`, …) come from
//! [`crate::Request::options`].
//!
//! # Layout
//! - `address`: base URL of the API, normalized.
//! - `request`: body of a request. `answer`: reads answers, whole and streamed. `failure`: errors.
//!
//! [`ToolChoice::None`]: crate::ToolChoice::None
//! [`ToolChoice::Tool`]: crate::ToolChoice::Tool
//! [`ToolChoice::Required`]: crate::ToolChoice::Required
//! [`ToolChoice::Auto`]: crate::ToolChoice::Auto

mod address;
mod answer;
mod failure;
mod request;

#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod recorded_tests;
#[cfg(test)]
mod request_tests;

use serde_json::Value;

pub use address::base_url;

use crate::wire::{Decoder, Framing, KeyHeader, Refusal, Wire, WireRequest, pieces};
use crate::{Answer, ModelError, Origin, Provider, Request};
use answer::Reader;

/// The wire format of Ollama.
pub(crate) struct Ollama;

impl Wire for Ollama {
    fn request(&self, provider: &Provider, request: &Request) -> Result<WireRequest, ModelError> {
        let origin = Origin::new(provider, &request.model);
        Ok(WireRequest {
            path: vec!["chat".to_owned()],
            query: Vec::new(),
            headers: Vec::new(),
            key: KeyHeader::Bearer,
            body: request::body(&origin, request),
            framing: Framing::Lines,
        })
    }

    fn whole(&self, origin: &Origin, body: &[u8]) -> Result<Answer, ModelError> {
        pieces::whole(Reader::new(origin), body)
    }

    fn decoder(&self, origin: &Origin) -> Box<dyn Decoder> {
        Box::new(pieces::Stream(Reader::new(origin)))
    }

    fn refusal_in(&self, body: &Value) -> Refusal {
        failure::refusal(body)
    }
}
