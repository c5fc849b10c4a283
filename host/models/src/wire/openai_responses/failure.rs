//! Errors of the provider: bodies of HTTP errors, error events, failed responses.

use serde_json::Value;

use crate::bounds::MAX_ID;
use crate::wire::Refusal;
use crate::wire::json::{error_text, text_or_empty};
use crate::{ModelError, ModelErrorKind, Origin};

/// Reads code and message of an error: `{"error": {…}}`, `{"error": "text"}`, `{"detail": "text"}`, or the members
/// themselves.
pub(super) fn refusal(body: &Value) -> Refusal {
    let error = body.get("error").filter(|error| !error.is_null()).unwrap_or(body);
    let message = match error {
        Value::String(text) => text.as_str(),
        _ => [text_or_empty(error, "message"), text_or_empty(error, "detail")]
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or(""),
    };
    // An error event has the type `error`, which says nothing.
    let code = [text_or_empty(error, "code"), text_or_empty(error, "type")]
        .into_iter()
        .find(|code| !code.is_empty() && *code != "error");
    Refusal {
        message: (!message.is_empty()).then(|| message.to_owned()),
        code: code.filter(|code| code.len() <= MAX_ID).map(str::to_owned),
    }
}

/// The error of an error event or a failed response.
pub(super) fn reported(origin: &Origin, body: &Value) -> ModelError {
    let Refusal { message, code } = refusal(body);
    let said = message.as_deref().or(code.as_deref()).unwrap_or("no reason given");
    let kind = kind_of(code.as_deref().unwrap_or_default(), message.as_deref().unwrap_or_default());
    let fault = format!("the provider reports an error: {}", error_text(said));
    ModelError { code, ..ModelError::of(origin, kind, fault) }
}

/// Codes are matched by their words, because providers that speak this format spell them in many ways.
fn kind_of(code: &str, message: &str) -> ModelErrorKind {
    let code = code.to_ascii_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| code.contains(word));
    if has(&["context_length", "context_window"]) || message.contains("context window") {
        ModelErrorKind::ContextWindow
    } else if has(&["quota", "billing", "credit"]) {
        ModelErrorKind::Quota
    } else if has(&["rate_limit", "too_many_requests", "429"]) {
        ModelErrorKind::RateLimited
    } else if has(&["api_key", "authentication", "unauthorized", "permission", "forbidden"]) {
        ModelErrorKind::Unauthorized
    } else if has(&["invalid", "not_found", "unsupported", "policy", "image", "bad_request"]) {
        ModelErrorKind::Invalid
    } else {
        // `server_error`, `server_is_overloaded`, `slow_down`, timeouts, and what nobody knows yet.
        ModelErrorKind::Server
    }
}
