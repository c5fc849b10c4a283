//! Errors in Anthropic's form.

use super::request::THREAD;
use crate::failure::{Failure, FailureKind};
use agent_spaces_http_server::HttpResponse;
use serde_json::{Value, json};

/// The error object.
pub(super) fn body(failure: &Failure) -> Value {
    let kind = match failure.kind {
        FailureKind::Invalid
        | FailureKind::Late
        | FailureKind::Method
        | FailureKind::Media
        | FailureKind::Conflict
        | FailureKind::ContextLimit => "invalid_request_error",
        FailureKind::TooLarge => "request_too_large",
        FailureKind::Token => "authentication_error",
        FailureKind::Denied => "permission_error",
        FailureKind::NotFound => "not_found_error",
        FailureKind::Busy => "rate_limit_error",
        FailureKind::Budget => "billing_error",
        FailureKind::Time => "timeout_error",
        FailureKind::Model | FailureKind::Output | FailureKind::Stopping | FailureKind::Internal => "api_error",
    };
    let message = match failure.kind {
        // Coding agents shorten their conversation when they read these words.
        FailureKind::ContextLimit => format!("prompt is too long: {}", failure.message),
        FailureKind::Token => {
            "Missing or unknown token (send it as `x-api-key` or `Authorization: Bearer …`)".to_owned()
        }
        _ => failure.message.clone(),
    };
    let mut body = json!({ "type": "error", "error": { "type": kind, "message": message } });
    if failure.param.as_deref() == Some(THREAD) {
        // With this code SDKs send the whole conversation instead.
        body["error"]["details"] = json!({ "error_code": "thread_unsupported_request", "unsupported": [THREAD] });
    }
    body
}

/// The response.
pub(crate) fn response(failure: &Failure) -> HttpResponse {
    failure.response("application/json", &body(failure))
}
