//! Errors of Ollama: `{"error": "text"}`, as a body or as a line of a stream.

use serde_json::Value;

use crate::wire::{Refusal, json};
use crate::{ModelError, ModelErrorKind, Origin};

/// Reads code and message of an error. Gateways send an object with a message instead of a text.
pub(super) fn refusal(body: &Value) -> Refusal {
    let Some(error) = body.get("error") else { return Refusal::default() };
    let message = error.as_str().or_else(|| json::text(error, "message"));
    let code = json::text(error, "code").or_else(|| json::text(error, "type"));
    Refusal { message: message.map(json::error_text), code: code.map(json::error_text) }
}

/// The error in a line, if it has one.
pub(super) fn in_line(origin: &Origin, line: &Value) -> Option<ModelError> {
    line.get("error").filter(|error| !error.is_null())?;
    let Refusal { message, code } = refusal(line);
    let words = message.unwrap_or_default();
    let kind = kind(&words.to_lowercase());
    let fault = format!("the provider reports an error: {words}");
    Some(ModelError { code, ..ModelError::of(origin, kind, fault) })
}

/// Kind by the message, since Ollama has no error codes. Most failures in an answer are those of the process that runs the
/// model.
fn kind(words: &str) -> ModelErrorKind {
    let says = |some: &[&str]| some.iter().any(|text| words.contains(text));
    if says(&["context length", "context window", "context size", "exceeds the available context"]) {
        ModelErrorKind::ContextWindow
    } else if says(&["rate limit", "too many requests"]) {
        ModelErrorKind::RateLimited
    } else if says(&["usage limit", "quota"]) {
        ModelErrorKind::Quota
    } else if says(&["unauthorized", "forbidden"]) {
        ModelErrorKind::Unauthorized
    } else if says(&["not found", "does not support", "invalid"]) {
        ModelErrorKind::Invalid
    } else {
        ModelErrorKind::Server
    }
}
