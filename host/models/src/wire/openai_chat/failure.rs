//! Errors of a server: in the body of an HTTP error, in a whole answer with status 200, in a chunk of a stream.

use serde_json::Value;

use crate::wire::Refusal;
use crate::wire::json::error_text;
use crate::{ModelError, ModelErrorKind, Origin};

/// An error as a server reports it.
#[derive(Debug)]
pub(super) struct Failure {
    message: Option<String>,
    code: Option<String>,
    /// A code that is a number is an HTTP status.
    status: Option<u64>,
    /// Codes and types, in lower case.
    names: String,
}

impl Failure {
    /// The error in a body or a chunk, if it has one.
    pub(super) fn in_body(body: &Value) -> Option<Failure> {
        // Google's compatible server wraps it in an array.
        let body = body.as_array().and_then(|items| items.first()).unwrap_or(body);
        if let Some(failure) = Failure::in_member(body) {
            return Some(failure);
        }
        // vLLM writes the error without a wrapper.
        (body.get("object").and_then(Value::as_str) == Some("error")).then(|| Failure::of(body))
    }

    /// The error in the member `error`. Servers without an error may write `null`, `false` or an empty text.
    pub(super) fn in_member(value: &Value) -> Option<Failure> {
        match value.get("error") {
            None | Some(Value::Null | Value::Bool(false)) => None,
            Some(Value::String(text)) if text.is_empty() => None,
            Some(error) => Some(Failure::of(error)),
        }
    }

    /// Reads an error: an object or a text.
    pub(super) fn of(error: &Value) -> Failure {
        let said = |pointer: &str| error.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
        let status = error.get("code").and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
        let named = [said("/code"), said("/type"), said("/metadata/error_type")];
        let message = match (said("/message").or(error.as_str()), said("/metadata/raw")) {
            // OpenRouter's own words are no more than "Provider returned error"; these are the provider's.
            (Some(message), Some(raw)) => Some(format!("{}: {}", error_text(message), error_text(raw))),
            (message, raw) => message.or(raw).map(error_text),
        };
        Failure {
            message,
            code: named
                .into_iter()
                .flatten()
                .next()
                .map(error_text)
                .or_else(|| status.map(|status| status.to_string())),
            status,
            names: named
                .into_iter()
                .flatten()
                .map(|word| error_text(word).to_lowercase())
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    /// As the content of an HTTP error.
    pub(super) fn into_refusal(self) -> Refusal {
        Refusal { message: self.message, code: self.code }
    }

    /// As the error of an answer.
    pub(super) fn into_error(self, origin: &Origin) -> ModelError {
        let kind = self.kind();
        let what = self.message.or_else(|| self.code.clone()).unwrap_or_else(|| "no reason given".to_owned());
        let error = ModelError::of(origin, kind, format_args!("the provider reports an error: {what}"));
        ModelError { code: self.code, ..error }
    }

    fn kind(&self) -> ModelErrorKind {
        use ModelErrorKind::{ContextWindow, Invalid, Quota, RateLimited, Server, Timeout, Unauthorized};
        let message = self.message.as_deref().unwrap_or_default().to_lowercase();
        let is_named = |names: &[&str]| names.iter().any(|name| self.names.contains(name));
        let is_told = |texts: &[&str]| texts.iter().any(|text| message.contains(text));
        if is_named(&["context_length", "context_window", "exceed_context_size"])
            || is_told(&["context length", "context window", "context size"])
        {
            return ContextWindow;
        }
        if is_named(&["insufficient_quota", "insufficient_credits", "billing", "payment_required"]) {
            return Quota;
        }
        match self.status {
            Some(402) => return Quota,
            Some(429) => return RateLimited,
            Some(401 | 403) => return Unauthorized,
            Some(408 | 504) => return Timeout,
            Some(500..=599) => return Server,
            Some(400..=499) => return Invalid,
            _ => {}
        }
        if is_named(&["rate_limit", "too_many_requests"]) {
            RateLimited
        } else if is_named(&["invalid_api_key", "authentication", "permission", "unauthorized"]) {
            Unauthorized
        } else if is_named(&["timeout"]) {
            Timeout
        } else if is_named(&["server_error", "overloaded", "unavailable", "internal"]) {
            Server
        } else if is_named(&["invalid", "not_found", "unsupported", "bad_request", "badrequest"]) {
            Invalid
        } else {
            // The request had been taken when the answer failed.
            Server
        }
    }
}

/// More than a bound allows.
pub(super) fn too_large(origin: &Origin, what: &str) -> ModelError {
    ModelError::of(origin, ModelErrorKind::TooLarge, format_args!("the answer is too large: {what}"))
}
