//! Server-sent events: what all streams have in common.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::Stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use std::convert::Infallible;
use std::time::Duration;

/// Interval of comments, which keep proxies from closing a quiet connection.
pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Comment.
pub(crate) const COMMENT: &[u8] = b":\n\n";

/// Bytes after which what was read is sent: a client that does not read keeps them in memory.
pub(crate) const MAX_FRAME: usize = 256 << 10;

/// First line, so that the client knows that it is connected: the time in milliseconds after which one that lost its
/// connection connects again.
pub(crate) const FIRST: &[u8] = b"retry: 500\n\n";

/// Returns the response with these bytes.
pub(crate) fn response(frames: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static) -> Response {
    let mut response = Body::from_stream(frames).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    // Otherwise nginx collects events before it passes them on.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
