//! Header `Location` of responses.

use axum::response::Response;
use http::header::{HeaderValue, LOCATION};

/// Adds the path of what a response is about.
pub(crate) fn with_location(mut response: Response, path: &str) -> Response {
    // Paths are of ids and names, which fit into a header.
    if let Ok(path) = HeaderValue::from_str(path) {
        response.headers_mut().insert(LOCATION, path);
    }
    response
}
