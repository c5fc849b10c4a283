//! Errors in OpenAI's form.

use crate::failure::{Failure, FailureKind};
use agent_spaces_http_server::HttpResponse;
use serde_json::{Value, json};

/// The error object.
pub(super) fn body(failure: &Failure) -> Value {
    let (kind, code) = match failure.kind {
        FailureKind::Invalid | FailureKind::Late | FailureKind::Method | FailureKind::Media => {
            ("invalid_request_error", None)
        }
        FailureKind::TooLarge => ("invalid_request_error", Some("request_too_large")),
        FailureKind::Conflict => ("invalid_request_error", Some("conflict")),
        FailureKind::Token => ("authentication_error", Some("invalid_api_key")),
        FailureKind::Denied => ("permission_error", None),
        FailureKind::NotFound => ("invalid_request_error", Some("model_not_found")),
        FailureKind::Busy => ("rate_limit_error", Some("rate_limit_exceeded")),
        FailureKind::ContextLimit => ("invalid_request_error", Some("context_length_exceeded")),
        FailureKind::Budget => ("insufficient_quota", Some("insufficient_quota")),
        FailureKind::Model => ("server_error", Some("model_failed")),
        FailureKind::Output => ("server_error", Some("invalid_output")),
        FailureKind::Time => ("server_error", Some("timeout")),
        FailureKind::Stopping => ("server_error", Some("cancelled")),
        FailureKind::Internal => ("server_error", None),
    };
    json!({ "error": { "message": failure.message, "type": kind, "param": failure.param, "code": code } })
}

/// The response.
pub(super) fn response(failure: &Failure) -> HttpResponse {
    failure.response("application/json", &body(failure))
}
