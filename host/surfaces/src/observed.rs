//! Span and log line of a request.

use agent_spaces_http_server::HttpResponse;
use agent_spaces_telemetry::context::{self, TraceContext};
use agent_spaces_telemetry::spans;
use http::{HeaderMap, Method};
use std::time::Instant;
use tracing::Instrument as _;

/// Target of the log of requests.
const LOG_TARGET: &str = "agent_spaces::http";

/// Answers a request in a span of its own, which continues the trace of the client.
pub(crate) async fn observed(
    method: &Method,
    route: &'static str,
    headers: &HeaderMap,
    answering: impl Future<Output = HttpResponse>,
) -> HttpResponse {
    let span = spans::request(method.as_str(), route);
    if !span.is_disabled() {
        let headers = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        if let Some(parent) = TraceContext::from_headers(headers) {
            context::set_parent(&span, &parent);
        }
    }
    let begun = Instant::now();
    let response = answering.instrument(span.clone()).await;
    let status = response.status().as_u16();
    spans::end_request(&span, status);
    let ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    span.in_scope(|| tracing::info!(target: LOG_TARGET, %method, route, status, ms, "request"));
    response
}
