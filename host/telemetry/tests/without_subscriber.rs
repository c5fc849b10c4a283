//! A process without a subscriber. It has no other test: whether a span is enabled is cached for the whole process.

use agent_spaces_telemetry::spans::{self, McpRequest};
use tracing::Span;

#[test]
fn spans_are_disabled_without_a_subscriber() {
    let spans = [
        spans::request("GET", "/v1/runs"),
        spans::run("run_1", false, false),
        spans::call("time.now", "run_1", 1),
        spans::approval("apr_1", false),
        spans::mcp_request("time", McpRequest::ReadResource, "pipe"),
    ];
    assert!(spans.iter().all(Span::is_disabled));
}
