//! Ollama's own format: `POST chat` below `/api`, with JSON lines.
//!
//! Ollama has no tool choice and no flag for parallel calls. [`ToolChoice::None`] is sent as no tools,
//! [`ToolChoice::Tool`] as that tool alone, and [`ToolChoice::Required`] like [`ToolChoice::Auto`]: the model may
//! answer without a call. `think`, `keep_alive` and `options` (`num_ctx`, `top_k`, …) come from
//! [`crate::Request::options`].
//!
//! # Layout
//! - `address`: base URL of the API out of what people write.
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

use crate::answer::{Delta, Watch};
use crate::frames::Frame;
use crate::wire::{Decoder, Framing, KeyHeader, Refusal, Wire, WireRequest, json};
use crate::{Answer, Api, ModelError, Origin, Provider, Request};
use answer::Reader;

/// The wire format of Ollama.
pub(crate) struct Ollama;

impl Wire for Ollama {
    fn request(&self, provider: &Provider, request: &Request) -> Result<WireRequest, ModelError> {
        let origin = Origin { provider: provider.name.clone(), model: request.model.clone(), api: Api::Ollama };
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
        let mut reader = Reader::new(origin);
        reader.read(&json::parse(origin, body)?, &mut |_: Delta<'_>| {})?;
        reader.build()
    }

    fn decoder(&self, origin: &Origin) -> Box<dyn Decoder> {
        Box::new(Stream { reader: Reader::new(origin), origin: origin.clone() })
    }

    fn refusal(&self, body: &[u8]) -> Refusal {
        serde_json::from_slice::<Value>(body).map(|body| failure::refusal(&body)).unwrap_or_default()
    }
}

/// Reads a streamed answer. Its last line has `done`.
struct Stream {
    reader: Reader,
    origin: Origin,
}

impl Decoder for Stream {
    fn event(&mut self, frame: Frame<'_>, watch: &mut Watch<'_>) -> Result<bool, ModelError> {
        let line = frame.data.trim();
        if line.is_empty() {
            return Ok(false);
        }
        self.reader.read(&json::parse(&self.origin, line.as_bytes())?, watch)
    }

    fn finish(self: Box<Self>) -> Result<Answer, ModelError> {
        self.reader.build()
    }
}
