//! Spans of requests to a server, and their trace context in `_meta`. Neither has arguments or texts of the server.

use crate::connection::Connection;
use crate::error::CallError;
use crate::settings::Endpoint;
use agent_spaces_telemetry::{context, names, spans};
use rmcp::model::RequestMetaObject;
use serde_json::{Map, Value};
use tracing::Span;
use url::Url;

pub(crate) use agent_spaces_telemetry::spans::McpRequest;

impl Connection {
    /// Opens the span of a request.
    pub(crate) fn request_span(&self, request: McpRequest<'_>) -> Span {
        let (transport, remote) = match &self.settings.endpoint {
            Endpoint::Stdio(_) => ("pipe", None),
            Endpoint::Http(remote) | Endpoint::Sse(remote) | Endpoint::WebSocket(remote) => ("tcp", Some(remote)),
        };
        let span = spans::mcp_request(&self.settings.name, request, transport);
        if span.is_disabled() {
            return span;
        }
        if let Some(info) = self.info() {
            span.record(names::MCP_VERSION, info.protocol_version.as_str());
        }
        let url = remote.and_then(|remote| Url::parse(remote.url.expose()).ok());
        if let Some(host) = url.as_ref().and_then(Url::host_str) {
            span.record(names::SERVER_ADDRESS, &*self.context.redactor.text(host));
        }
        span
    }
}

/// Adds the trace context of a span to the metadata of a request.
pub(crate) fn meta(span: &Span, mut meta: Map<String, Value>) -> Option<RequestMetaObject> {
    if let Some(context) = context::of(span) {
        context.add_to_meta(&mut meta);
    }
    (!meta.is_empty()).then(|| RequestMetaObject::from(meta))
}

/// Ends the span of a request. A tool that reports an error has a result too.
pub(crate) fn end(span: &Span, answer: &Result<Value, CallError>) {
    let error = match answer {
        Ok(result) if result.get("isError") == Some(&Value::Bool(true)) => Some("tool_error"),
        Ok(_) => None,
        Err(error) => Some(kind(error)),
    };
    spans::end_mcp_request(span, error);
}

fn kind(error: &CallError) -> &'static str {
    match error {
        CallError::Tool { .. } => "tool_error",
        CallError::Capability { code, .. } => names::error_type(code),
        CallError::Protocol { .. } => "protocol",
        CallError::Timeout { .. } => "timeout",
        CallError::Lost(_) => "connection_lost",
        CallError::Expired => "session_expired",
        CallError::RateLimited => "rate_limited",
        CallError::TooLarge { .. } => "too_large",
        CallError::Malformed(_) => "malformed",
        CallError::Asks(_) => "not_configured",
        CallError::Changed(_) => "changed",
        CallError::Unavailable(_) => "unavailable",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_without_a_trace_is_what_was_given() {
        assert!(meta(&Span::none(), Map::new()).is_none());
        let given = Map::from_iter([("key".to_owned(), Value::from("value"))]);
        let sent = serde_json::to_value(meta(&Span::none(), given).unwrap()).unwrap();
        assert_eq!(sent, serde_json::json!({ "key": "value" }));
    }
}
