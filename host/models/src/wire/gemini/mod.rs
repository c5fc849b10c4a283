//! Google's Gemini: `generateContent` and `streamGenerateContent`.
//!
//! Gemini has no flag for parallel calls: [`crate::Request::parallel_tool_calls`] is not sent.
//!
//! # Layout
//! - `request`: body of a request. `contents`: its conversation.
//! - `answer`: reads answers, whole and streamed. `failure`: errors of the provider.
//! - `kept`: parts and signatures that the model requires back.

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

use crate::wire::{Decoder, Framing, KeyHeader, Refusal, Wire, WireRequest, pieces};
use crate::{Answer, ModelError, ModelErrorKind, Origin, Provider, Request};
use answer::Reader;

/// The wire format of Gemini.
pub(crate) struct Gemini;

impl Wire for Gemini {
    fn request(&self, provider: &Provider, request: &Request) -> Result<WireRequest, ModelError> {
        // The list of models names them `models/x`.
        let model = request.model.strip_prefix("models/").unwrap_or(&request.model);
        if model.is_empty() {
            return Err(ModelError::new(ModelErrorKind::Configuration, "the request names no model"));
        }
        let (method, query) = if request.stream {
            ("streamGenerateContent", vec![("alt", "sse")])
        } else {
            ("generateContent", Vec::new())
        };
        let origin = Origin::new(provider, &request.model);
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
        pieces::whole(Reader::new(origin), body)
    }

    fn decoder(&self, origin: &Origin) -> Box<dyn Decoder> {
        Box::new(pieces::Stream(Reader::new(origin)))
    }

    fn refusal_in(&self, body: &Value) -> Refusal {
        failure::refusal(body)
    }
}
