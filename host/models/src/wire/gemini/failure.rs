//! Errors of Gemini: `{"error": {"code": 429, "message": "…", "status": "RESOURCE_EXHAUSTED"}}`.

use serde_json::Value;

use crate::wire::{Refusal, json};
use crate::{ModelError, ModelErrorKind, Origin};

/// Reads code and message of an error. Without `alt=sse` a stream is an array, and so is its error.
pub(super) fn refusal(body: &Value) -> Refusal {
    let body = body.get(0).unwrap_or(body);
    let Some(error) = body.get("error") else { return Refusal::default() };
    if let Some(message) = error.as_str() {
        return Refusal { message: Some(json::error_text(message)), code: None };
    }
    let code = json::text(error, "status")
        .map(str::to_owned)
        .or_else(|| json::count(error, "code").map(|code| code.to_string()));
    let message = json::text(error, "message").map(json::error_text);
    Refusal { message, code: code.map(|code| json::error_text(&code)) }
}

/// The error in an event, if it has one.
pub(super) fn in_event(origin: &Origin, event: &Value) -> Option<ModelError> {
    let error = event.get("error").filter(|error| !error.is_null())?;
    let refusal = refusal(event);
    let status = json::count(error, "code").and_then(|code| u16::try_from(code).ok()).filter(|code| *code >= 400);
    let words = refusal.message.unwrap_or_default();
    let kind = kind(status, refusal.code.as_deref().unwrap_or_default(), &words);
    let fault = format!("the provider reports an error: {words}");
    Some(ModelError { status, code: refusal.code, ..ModelError::of(origin, kind, fault) })
}

fn kind(status: Option<u16>, code: &str, words: &str) -> ModelErrorKind {
    match (code, status) {
        ("INVALID_ARGUMENT", _) if words.contains("token count") && words.contains("exceeds") => {
            ModelErrorKind::ContextWindow
        }
        ("INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "NOT_FOUND" | "OUT_OF_RANGE", _) => ModelErrorKind::Invalid,
        ("UNAUTHENTICATED" | "PERMISSION_DENIED", _) => ModelErrorKind::Unauthorized,
        ("RESOURCE_EXHAUSTED", _) => ModelErrorKind::RateLimited,
        (_, Some(401 | 403)) => ModelErrorKind::Unauthorized,
        (_, Some(429)) => ModelErrorKind::RateLimited,
        (_, Some(400..=499)) => ModelErrorKind::Invalid,
        // UNAVAILABLE, INTERNAL, DEADLINE_EXCEEDED and what is new.
        _ => ModelErrorKind::Server,
    }
}
