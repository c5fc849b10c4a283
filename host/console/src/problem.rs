//! Errors as problem documents (RFC 9457), as the REST API has them.

use agent_spaces_http_server::body::BodyFault;
use agent_spaces_http_server::{HttpResponse, Refusal, response};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde_json::json;

/// Builds the answer of an error.
pub(crate) fn problem(status: StatusCode, code: &str, detail: &str) -> HttpResponse {
    let body = json!({
        "type": format!("urn:agent-spaces:problem:{code}"),
        "title": status.canonical_reason().unwrap_or("Error"),
        "status": status.as_u16(),
        "code": code,
        "detail": detail,
    });
    let mut answer = response(status, body.to_string());
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

/// Builds the answer of a refusal by the server.
pub(crate) fn refused(refusal: &Refusal) -> HttpResponse {
    let code = match refusal {
        Refusal::HeadTooLarge | Refusal::Body(BodyFault::TooLarge(_)) => "request.too_large",
        Refusal::Host | Refusal::Origin | Refusal::Operator => "auth.denied",
        Refusal::NotFound => "not_found",
        Refusal::Token => "auth.token",
        Refusal::Connections => "request.connections",
        Refusal::Attempts(_) => "request.busy",
        Refusal::Body(BodyFault::Incomplete) => "request.incomplete",
        Refusal::Body(BodyFault::TimedOut) => "request.timeout",
    };
    problem(refusal.status(), code, &refusal.to_string())
}
