//! MCP request handler of a mode.

use super::mode::Mode;
use crate::redacted_response;
use agent_spaces_http_server::Client;
use agent_spaces_telemetry::context::{self, TraceContext};
use agent_spaces_telemetry::spans;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerConfig,
    SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::Instrument as _;

/// Maximum number of resources per page.
const PAGE: usize = 200;

/// Handler of one connection, or of all requests of one client without a session.
#[derive(Clone)]
pub(super) struct ModeHandler {
    mode: Mode,
    client: Client,
    /// True once change notifications are set up: a client may send `initialized` repeatedly.
    is_announced: Arc<AtomicBool>,
}

impl ModeHandler {
    pub(super) fn new(mode: Mode, client: Client) -> ModeHandler {
        ModeHandler { mode, client, is_announced: Arc::default() }
    }
}

/// Returns the trace that a request belongs to: that of its `_meta`, or of the HTTP request that it came in.
fn trace_context(context: &RequestContext<RoleServer>) -> Option<TraceContext> {
    TraceContext::from_meta(&context.meta).or_else(|| {
        let headers = &context.extensions.get::<http::request::Parts>()?.headers;
        TraceContext::from_headers(headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())))
    })
}

/// Returns the error of an answer, as spans name it.
fn error_type(answer: Option<&CallToolResponse>) -> Option<&'static str> {
    match answer {
        Some(CallToolResponse::Complete(result)) if result.is_error == Some(true) => Some("tool_error"),
        Some(_) => None,
        None => Some("unknown_tool"),
    }
}

impl ServerHandler for ModeHandler {
    fn get_info(&self) -> ServerConfig {
        let (name, title) = self.mode.served_name().map_or(("agent-spaces", "Agent Spaces"), |name| (name, name));
        let server = Implementation::new(name, env!("CARGO_PKG_VERSION")).with_title(title);
        let config = ServerConfig::new(self.mode.capabilities()).with_server_info(server);
        config.with_instructions(self.mode.instructions(&self.client))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if !self.is_announced.swap(true, Ordering::Relaxed) {
            self.mode.announce(&self.client, context.peer);
        }
    }

    /// Returns the notifications that a client without a session may subscribe to.
    fn accepted_subscription_filter(&self, _requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.mode.has_tool_changes().then(|| SubscriptionFilter::builder().tools_list_changed().build())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let is_wanted = context.accepted().tools_list_changed == Some(true);
        let Some(mut changes) = self.mode.tool_changes(&self.client).filter(|_| is_wanted) else {
            context.cancelled().await;
            return Ok(());
        };
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                is_changed = changes.next() => {
                    if !is_changed || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.mode.tools(&self.client).await))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.mode.tool(&self.client, name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = format!("unknown tool `{}`", request.name);
        let span = spans::mcp_served(&request.name);
        if !span.is_disabled()
            && let Some(parent) = trace_context(&context)
        {
            context::set_parent(&span, &parent);
        }
        tokio::select! {
            answer = self.mode.call(&self.client, request, &context).instrument(span.clone()) => {
                spans::end_mcp_request(&span, error_type(answer.as_ref()));
                let redactor = self.mode.redactor().unwrap_or_default();
                let unknown = || ErrorData::invalid_params(redactor.text(&unknown).into_owned(), None);
                let mut answer = answer.ok_or_else(unknown)?;
                redacted_response::redact(&redactor, &mut answer);
                Ok(answer)
            }
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the request was cancelled", None)),
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let from = match request.and_then(|request| request.cursor) {
            Some(cursor) => cursor.parse().map_err(|_| ErrorData::invalid_params("invalid cursor", None))?,
            None => 0,
        };
        let mut all = self.mode.resources(&self.client).await;
        let is_more = all.len().saturating_sub(from) > PAGE;
        let page = all.drain(from.min(all.len())..).take(PAGE).collect();
        let mut result = ListResourcesResult::with_all_items(page);
        result.next_cursor = is_more.then(|| (from + PAGE).to_string());
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.mode.read_resource(&self.client, &request.uri).await;
        match read.map_err(|error| ErrorData::internal_error(error, None))? {
            Some(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            None => {
                let named = serde_json::json!({ "uri": request.uri });
                Err(ErrorData::resource_not_found(format!("unknown resource {}", request.uri), Some(named)))
            }
        }
    }
}
