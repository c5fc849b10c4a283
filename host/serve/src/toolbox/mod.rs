//! Toolbox mode: two tools in front of groups of MCP servers, which are started when a group is opened.
//!
//! - `tools`, `instructions`: tool definitions and server instructions
//! - `open`: `open_toolbox` and the start of servers; `visible_servers`: servers with tools that a caller may call
//! - `open_toolboxes`: open toolboxes by caller
//! - `use_tool`: calls of their tools
//! - `errors`: error texts, which clients rely on

mod errors;
mod instructions;
mod open;
mod open_toolboxes;
mod tools;
mod use_tool;
mod visible_servers;

pub use open::Toolboxes;

use super::approvals::ElicitedDecisions;
use super::calls::Calls;
use crate::concurrency::DEFAULT_CONCURRENCY;
use agent_spaces_http_server::Client;
use agent_spaces_secrets::Redactor;
use errors::ToolboxError;
use open_toolboxes::OpenToolboxes;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Tool};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use tools::{OPEN, USE};

/// Toolbox mode server. Clones share state.
#[derive(Clone)]
pub struct ToolboxMode(Arc<Inner>);

struct Inner {
    toolboxes: Toolboxes,
    opened: OpenToolboxes,
    calls: Calls,
}

impl ToolboxMode {
    /// Serves `toolboxes`; approvals come through the clients.
    pub fn new(toolboxes: Toolboxes, decisions: ElicitedDecisions) -> ToolboxMode {
        ToolboxMode::with_concurrency(toolboxes, decisions, DEFAULT_CONCURRENCY)
    }

    /// As [`ToolboxMode::new`], with `most` concurrent calls per client; others queue.
    pub fn with_concurrency(toolboxes: Toolboxes, decisions: ElicitedDecisions, most: usize) -> ToolboxMode {
        ToolboxMode(Arc::new(Inner { toolboxes, opened: OpenToolboxes::default(), calls: Calls::new(decisions, most) }))
    }

    /// Returns the server name of the configuration, once it is accepted.
    pub(super) fn served_name(&self) -> Option<&str> {
        self.0.toolboxes.project().served_name()
    }

    /// Returns the server instructions.
    pub(super) fn instructions(&self) -> String {
        match self.0.toolboxes.all() {
            Ok(toolboxes) => instructions::instructions(toolboxes),
            Err(_) => instructions::not_accepted(),
        }
    }

    /// Returns the redactor for responses.
    pub(super) fn redactor(&self) -> Redactor {
        self.0.toolboxes.redactor()
    }

    /// Lists the two tools.
    pub(super) fn tools(&self) -> Vec<Tool> {
        tools::list()
    }

    /// Calls a tool for a client. Returns `None` if there is no such tool.
    pub(super) async fn call(
        &self,
        client: &Client,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResponse> {
        let arguments = Value::Object(request.arguments.clone().unwrap_or_default());
        let answer = match &*request.name {
            OPEN => self.open(client, arguments).await.map(CallToolResponse::from),
            USE => match read(USE, arguments) {
                Ok(arguments) => self.use_tool(client, arguments, &request, context).await,
                Err(error) => Err(error),
            },
            _ => return None,
        };
        Some(answer.unwrap_or_else(|error| error.result().into()))
    }

    /// Returns true if a client has a detached call.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        self.0.calls.is_busy(client)
    }

    /// Closes the toolboxes and calls of a client that disconnected.
    pub(super) async fn end_all(&self, client: &Client) {
        self.0.calls.end_all(client);
        self.0.opened.close_all(client).await;
    }
}

fn read<T: DeserializeOwned>(tool: &'static str, arguments: Value) -> Result<T, ToolboxError> {
    serde_json::from_value(arguments).map_err(|error| ToolboxError::Arguments { tool, message: error.to_string() })
}
