//! Toolbox mode: two tools in front of groups of MCP servers, which are started when a group is opened.
//!
//! - `tools`, `instructions`: what a model is taught
//! - `open`: `open_toolbox`, and the servers behind it; `useful`: which of them a caller has any use for
//! - `opened`: which are open for whom
//! - `use_tool`: a call of one of their tools
//! - `errors`: what is said when something is wrong, in the words of the contract

mod errors;
mod instructions;
mod open;
mod opened;
mod tools;
mod use_tool;
mod useful;

pub use open::Toolboxes;

use super::approvals::ElicitedDecisions;
use super::caller::Client;
use super::calls::Calls;
use crate::concurrency::DEFAULT_CONCURRENCY;
use agent_spaces_mcp::secrets::Redactor;
use errors::ToolboxError;
use opened::Opened;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Tool};
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::Arc;
use tools::{OPEN, USE};

/// Toolboxes, and those of them that are open. Clones are one.
#[derive(Clone)]
pub struct ToolboxMode(Arc<Inner>);

struct Inner {
    toolboxes: Toolboxes,
    opened: Opened,
    calls: Calls,
}

impl ToolboxMode {
    /// Serves these, and lets people decide through the clients.
    pub fn new(toolboxes: Toolboxes, decisions: ElicitedDecisions) -> ToolboxMode {
        ToolboxMode::with_concurrency(toolboxes, decisions, DEFAULT_CONCURRENCY)
    }

    /// As [`ToolboxMode::new`], with so many calls of one client at one time; others wait in line.
    pub fn with_concurrency(toolboxes: Toolboxes, decisions: ElicitedDecisions, most: usize) -> ToolboxMode {
        ToolboxMode(Arc::new(Inner { toolboxes, opened: Opened::default(), calls: Calls::new(decisions, most) }))
    }

    /// The name that the configuration gives the server, once it is accepted.
    pub(super) fn served_name(&self) -> Option<&str> {
        self.0.toolboxes.project().served_name()
    }

    /// What a model is taught.
    pub(super) fn instructions(&self) -> String {
        match self.0.toolboxes.all() {
            Ok(toolboxes) => instructions::instructions(toolboxes),
            Err(_) => instructions::not_accepted(),
        }
    }

    /// What takes secrets out of answers.
    pub(super) fn redactor(&self) -> Redactor {
        self.0.toolboxes.redactor()
    }

    /// The two tools.
    pub(super) fn tools(&self) -> Vec<Tool> {
        tools::list()
    }

    /// Calls a tool for a client; nothing where there is no such tool.
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

    /// Whether something is under way for a client that no request waits for.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        self.0.calls.is_busy(client)
    }

    /// Closes what is open for a client who went away.
    pub(super) async fn end_all(&self, client: &Client) {
        self.0.calls.end_all(client);
        self.0.opened.close_all(client).await;
    }
}

fn read<T: DeserializeOwned>(tool: &'static str, arguments: Value) -> Result<T, ToolboxError> {
    serde_json::from_value(arguments).map_err(|error| ToolboxError::Arguments { tool, message: error.to_string() })
}
