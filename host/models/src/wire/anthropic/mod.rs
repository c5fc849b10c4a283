//! Anthropic's Messages format: `POST messages`.
//!
//! # Layout
//! - `request`: the body. `messages`: its conversation, with `call_ids`; `cache`: its cache breakpoints; `schema`: the
//!   schema of its answer.
//! - `blocks`: content blocks of an answer, the same for `whole` answers and for a `stream`; `usage`: their tokens.
//! - `failure`: errors that the provider reports.

mod blocks;
mod cache;
mod call_ids;
mod failure;
mod messages;
mod request;
mod schema;
mod stream;
mod usage;
mod whole;

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::{Decoder, Framing, KeyHeader, Refusal, Wire, WireRequest};
use crate::{Answer, ModelError, Origin, Provider, Request};

/// Version of the format. Anthropic has named no later one; new features come as new members.
const VERSION: &str = "2023-06-01";

/// Anthropic's Messages format.
pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn request(&self, provider: &Provider, request: &Request) -> Result<WireRequest, ModelError> {
        let origin = Origin::new(provider, &request.model);
        Ok(WireRequest {
            path: vec!["messages".to_owned()],
            query: Vec::new(),
            headers: vec![("anthropic-version", VERSION.to_owned())],
            key: KeyHeader::Named("x-api-key"),
            body: request::body(&origin, request)?,
            framing: Framing::Events,
        })
    }

    fn whole(&self, origin: &Origin, body: &[u8]) -> Result<Answer, ModelError> {
        whole::read(origin, body)
    }

    fn decoder(&self, origin: &Origin) -> Box<dyn Decoder> {
        Box::new(stream::Stream::new(origin))
    }

    fn refusal_in(&self, body: &Value) -> Refusal {
        failure::refusal(body)
    }
}
