//! Code mode as an MCP server speaks it.

use super::caller::Client;
use super::code_mode::{self, CodeMode};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

/// Most resources of one answer.
const PAGE: usize = 200;

/// One connection, or all requests of one client.
#[derive(Clone)]
pub(super) struct CodeModeHandler {
    mode: CodeMode,
    client: Client,
}

impl CodeModeHandler {
    pub(super) fn new(mode: CodeMode, client: Client) -> CodeModeHandler {
        CodeModeHandler { mode, client }
    }
}

impl ServerHandler for CodeModeHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let server = Implementation::new("agent-spaces", env!("CARGO_PKG_VERSION")).with_title("Agent Spaces");
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(self.mode.instructions(&self.client))
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(code_mode::list_tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        code_mode::list_tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let unknown = format!("there is no tool `{}`", request.name);
        tokio::select! {
            answer = self.mode.call(&self.client, request, &context) => {
                answer.ok_or_else(|| ErrorData::invalid_params(unknown, None))
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
            Some(cursor) => cursor.parse().map_err(|_| ErrorData::invalid_params("no such cursor", None))?,
            None => 0,
        };
        let offered = self.mode.known().await;
        let mut all = code_mode::resources(&offered, &self.client);
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
        let offered = self.mode.known().await;
        let (client, uri) = (self.client.clone(), request.uri.clone());
        // A module of many functions takes a while to compile.
        let read = tokio::task::spawn_blocking(move || code_mode::read_resource(&offered, &client, &uri)).await;
        let read = read.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        match read.map_err(|error| ErrorData::internal_error(error, None))? {
            Some(contents) => Ok(ReadResourceResult::new(vec![contents]).into()),
            None => {
                let named = serde_json::json!({ "uri": request.uri });
                Err(ErrorData::resource_not_found(format!("there is no resource {}", request.uri), Some(named)))
            }
        }
    }
}
