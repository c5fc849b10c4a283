//! Responses that are JSON.

use agent_spaces_http_server::{HttpResponse, response};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use serde_json::Value;

/// A whole answer.
pub(crate) fn json_response(body: &Value) -> HttpResponse {
    let mut response = response(StatusCode::OK, body.to_string());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
