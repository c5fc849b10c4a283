//! Errors of the provider.

use serde_json::Value;

use crate::wire::{Refusal, json};
use crate::{ModelError, ModelErrorKind, Origin};

/// The error in `{"type": "error", "error": {…}}`, which a stream may hold in place of its rest.
pub(super) fn reported(origin: &Origin, body: &Value) -> ModelError {
    let Refusal { message, code } = refusal(body);
    let message = message.unwrap_or_default();
    let kind = kind(code.as_deref().unwrap_or_default(), &message);
    let named = code.as_deref().unwrap_or("error");
    let error = ModelError::of(origin, kind, format_args!("{named}: {message}"));
    ModelError { code, ..error }
}

/// Reads code and message of an error.
pub(super) fn refusal(body: &Value) -> Refusal {
    let text = |name: &str| {
        let text = body.get("error").and_then(|error| error.get(name)).and_then(Value::as_str)?;
        (!text.is_empty()).then(|| json::error_text(text))
    };
    Refusal { message: text("message"), code: text("type") }
}

fn kind(code: &str, message: &str) -> ModelErrorKind {
    match code {
        "invalid_request_error" => invalid(&message.to_lowercase()),
        "not_found_error" => ModelErrorKind::Invalid,
        // A body of more than 32 MB: what helps is what helps against a full window.
        "request_too_large" => ModelErrorKind::ContextWindow,
        "authentication_error" | "permission_error" => ModelErrorKind::Unauthorized,
        "billing_error" => ModelErrorKind::Quota,
        "rate_limit_error" => ModelErrorKind::RateLimited,
        // `overloaded_error`, `api_error`, `timeout_error`, and what is yet to come.
        _ => ModelErrorKind::Server,
    }
}

/// The provider has no code of its own for these; only its words tell.
fn invalid(message: &str) -> ModelErrorKind {
    if message.contains("prompt is too long") || message.contains("context limit") || message.contains("context window")
    {
        ModelErrorKind::ContextWindow
    } else if message.contains("credit balance") {
        ModelErrorKind::Quota
    } else {
        ModelErrorKind::Invalid
    }
}
