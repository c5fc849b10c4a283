//! What a request hears that reaches no service, and what is said to browsers.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, CONNECTION, CONTENT_TYPE, HeaderValue, VARY,
    WWW_AUTHENTICATE,
};
use http::{Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::json;
use std::convert::Infallible;

/// What is sent back.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// A refusal in plain words.
pub(super) fn refusal(status: StatusCode, text: &str) -> Answer {
    let mut answer = with_body(status, format!("{text}\n"));
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// The token is missing, or is nobody's.
pub(super) fn unauthorized() -> Answer {
    let mut answer = refusal(StatusCode::UNAUTHORIZED, "a token is needed: `Authorization: Bearer …`");
    answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    answer
}

/// The caller has as many connections as they may have.
pub(super) fn too_many_connections() -> Answer {
    let mut answer = refusal(StatusCode::TOO_MANY_REQUESTS, "there are too many connections: close some of them first");
    // Otherwise this one would be one more.
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// A body that is no message.
pub(super) fn no_message(code: i32, message: &str) -> Answer {
    let body = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } });
    let mut answer = with_body(StatusCode::BAD_REQUEST, body.to_string());
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// What a browser asks before it lets a page call.
pub(super) fn preflight() -> Answer {
    let mut answer = with_body(StatusCode::NO_CONTENT, String::new());
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    // `*` would not stand for `Authorization`.
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    answer
}

const REQUEST_HEADERS: &str =
    "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name";

/// Lets a page of this origin read an answer.
pub(super) fn open_to(answer: &mut Answer, origin: HeaderValue) {
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Mcp-Session-Id, WWW-Authenticate"));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}

fn with_body(status: StatusCode, text: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)).boxed());
    *answer.status_mut() = status;
    answer
}
