//! HTTP error responses.

use agent_spaces_http_server::{HttpResponse, response, text_response};
use http::StatusCode;
use http::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use serde_json::json;

/// Builds the text of a JSON-RPC error that answers no request.
pub(super) fn json_rpc_error_text(code: i32, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": message } }).to_string()
}

/// Builds a JSON-RPC error for a body that is not an MCP message.
pub(super) fn json_rpc_error(code: i32, message: &str) -> HttpResponse {
    let mut response = response(StatusCode::BAD_REQUEST, json_rpc_error_text(code, message));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// Builds the response to another method than the one that a path has.
pub(super) fn method_not_allowed(allowed: &'static str) -> HttpResponse {
    let mut response = text_response(StatusCode::METHOD_NOT_ALLOWED, &format!("Method not allowed (use {allowed})"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}
