//! Google's Gemini: `generateContent` and `streamGenerateContent`.
//!
//! Gemini has no flag for parallel calls: [`crate::Request::parallel_tool_calls`] is not sent.
//!
//! # Layout
//! - `request`: body of a request. `contents`: its conversation.
//! - `answer`: reads answers, whole and streamed. `failure`: errors inside a stream.
//! - `kept`: parts and signatures that the model wants back.

mod answer;
mod contents;
mod failure;
mod kept;
mod request;

#[cfg(test)]
mod answer_tests;
#[cfg(test)]
mod recorded_tests;
#[cfg(test)]
mod request_tests;

use serde_json::Value;

use crate::answer::{Delta, Watch};
use crate::frames::Frame;
use crate::wire::{Decoder, Framing, KeyHeader, Refusal, Wire, WireRequest, json};
use crate::{Answer, ModelError, ModelErrorKind, Origin, Provider, Request};
use answer::Reader;

/// The wire format of Gemini.
pub(crate) struct Gemini;

impl Wire for Gemini {
    fn request(&self, provider: &Provider, request: &Request) -> Result<WireRequest, ModelError> {
        // The list of models names them `models/x`.
        let model = request.model.strip_prefix("models/").unwrap_or(&request.model);
        if model.is_empty() {
            let message = format!("{}: the request names no model", provider.name);
            return Err(ModelError::new(ModelErrorKind::Configuration, message));
        }
        let (method, query) = if request.stream {
            ("streamGenerateContent", vec![("alt", "sse")])
        } else {
            ("generateContent", Vec::new())
        };
        let origin = Origin { provider: provider.name.clone(), model: request.model.clone(), api: provider.api };
        Ok(WireRequest {
            path: vec!["models".to_owned(), format!("{model}:{method}")],
            query,
            headers: Vec::new(),
            key: KeyHeader::Named("x-goog-api-key"),
            body: request::body(&origin, request),
            framing: Framing::Events,
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

/// Reads a streamed answer. Its end is the end of the connection: usage may come after the reason to finish.
struct Stream {
    reader: Reader,
    origin: Origin,
}

impl Decoder for Stream {
    fn event(&mut self, frame: Frame<'_>, watch: &mut Watch<'_>) -> Result<bool, ModelError> {
        let data = frame.data.trim();
        // Gateways in front of Gemini add the end mark of another format.
        if !data.is_empty() && data != "[DONE]" {
            self.reader.read(&json::parse(&self.origin, data.as_bytes())?, watch)?;
        }
        Ok(false)
    }

    fn finish(self: Box<Self>) -> Result<Answer, ModelError> {
        self.reader.build()
    }
}
