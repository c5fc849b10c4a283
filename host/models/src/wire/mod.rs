//! Wire formats: encoding of requests and decoding of answers.
//!
//! A wire is pure: no network, no clock. [`crate::Client`] sends what [`Wire::request`] writes and gives what arrives to
//! [`Wire::whole`] or, event by event, to a [`Decoder`].

mod anthropic;
mod gemini;
mod json;
mod ollama;
mod openai_call_ids;
mod openai_chat;
mod openai_responses;
mod pieces;
#[cfg(test)]
mod recordings;

use serde_json::Value;

pub use ollama::base_url as ollama_base_url;

use crate::answer::Watch;
use crate::frames::Frame;
pub(crate) use crate::frames::Framing;
use crate::{Answer, Api, ModelError, Origin, Provider, Request};

/// A request for HTTP. The client adds `content-type`, `accept`, the provider's own headers and `user-agent`.
#[derive(Debug)]
pub(crate) struct WireRequest {
    /// Path segments that are appended to the base URL, each encoded by the client.
    pub path: Vec<String>,
    /// Query parameters.
    pub query: Vec<(&'static str, &'static str)>,
    /// Headers of the format that are not secret, such as `anthropic-version`.
    pub headers: Vec<(&'static str, String)>,
    /// Header of the key.
    pub key: KeyHeader,
    /// Body.
    pub body: Value,
    /// Framing of a streamed answer.
    pub framing: Framing,
}

/// The header that holds a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// `NAME: KEY`.
    Named(&'static str),
}

/// Code and message in the body of an HTTP error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Message of the provider.
    pub message: Option<String>,
    /// Error code, or else the error type.
    pub code: Option<String>,
}

/// One wire format.
pub(crate) trait Wire: Send + Sync {
    /// Writes a request.
    ///
    /// # Errors
    /// `Configuration`, if this format cannot express it.
    fn request(&self, provider: &Provider, request: &Request) -> Result<WireRequest, ModelError>;

    /// Reads an answer that was not streamed. Its deltas are not reported.
    fn whole(&self, origin: &Origin, body: &[u8]) -> Result<Answer, ModelError>;

    /// Reads an answer that is streamed.
    fn decoder(&self, origin: &Origin) -> Box<dyn Decoder>;

    /// Reads the body of an HTTP error.
    fn refusal_in(&self, body: &Value) -> Refusal;

    /// Reads the body of an HTTP error; empty, if it is not JSON. The client bounds its size.
    fn refusal(&self, body: &[u8]) -> Refusal {
        serde_json::from_slice(body).map(|body: Value| self.refusal_in(&body)).unwrap_or_default()
    }
}

/// Reads one streamed answer.
pub(crate) trait Decoder: Send {
    /// Reads one event. `Ok(true)`: the answer is whole, and what follows is not read.
    ///
    /// # Errors
    /// The provider reports a failure, the event is malformed, or a bound is reached.
    fn event(&mut self, frame: Frame<'_>, watch: &mut Watch<'_>) -> Result<bool, ModelError>;

    /// The answer, at the end of the stream.
    ///
    /// # Errors
    /// `Cut`, if the format's end marker did not arrive.
    fn finish(self: Box<Self>) -> Result<Answer, ModelError>;
}

/// The wire of a format.
pub(crate) fn of(api: Api) -> &'static dyn Wire {
    match api {
        Api::OpenaiResponses => &openai_responses::OpenaiResponses,
        Api::OpenaiChat => &openai_chat::OpenaiChat,
        Api::Anthropic => &anthropic::Anthropic,
        Api::Gemini => &gemini::Gemini,
        Api::Ollama => &ollama::Ollama,
    }
}
