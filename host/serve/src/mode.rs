//! Server modes: code, toolbox and proxy.

use super::code_mode::{self, CodeMode};
use super::proxy::{ProxyMode, ToolChanges};
use super::toolbox::ToolboxMode;
use agent_spaces_durable::{DurableError, State};
use agent_spaces_http_server::Client;
use agent_spaces_secrets::Redactor;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Resource, ResourceContents, ServerCapabilities, Tool};
use rmcp::service::{Peer, RequestContext};

/// Server mode. Clones share state.
#[derive(Clone)]
pub enum Mode {
    /// Three tools: search, describe, run a program.
    Code(CodeMode),
    /// Two tools: open a toolbox, use a tool of it.
    Toolbox(ToolboxMode),
    /// Each selected function is an MCP tool.
    Proxy(ProxyMode),
}

impl Mode {
    pub(super) fn capabilities(&self) -> ServerCapabilities {
        let tools = ServerCapabilities::builder().enable_tools();
        match self {
            Mode::Code(_) => tools.enable_resources().build(),
            Mode::Toolbox(_) => tools.build(),
            Mode::Proxy(_) => tools.enable_tool_list_changed().build(),
        }
    }

    /// Returns the configured server name.
    pub(super) fn served_name(&self) -> Option<&str> {
        match self {
            Mode::Code(mode) => mode.served_name(),
            Mode::Toolbox(mode) => mode.served_name(),
            Mode::Proxy(mode) => mode.served_name(),
        }
    }

    pub(super) fn instructions(&self, client: &Client) -> String {
        match self {
            Mode::Code(mode) => mode.instructions(client),
            Mode::Toolbox(mode) => mode.instructions(),
            Mode::Proxy(mode) => mode.instructions(),
        }
    }

    /// Lists the tools that a client may call.
    pub(super) async fn tools(&self, client: &Client) -> Vec<Tool> {
        match self {
            Mode::Code(_) => code_mode::list_tools(),
            Mode::Toolbox(mode) => mode.tools(),
            Mode::Proxy(mode) => mode.tools(client).await,
        }
    }

    /// Returns one of the tools, if it is already known.
    pub(super) fn tool(&self, client: &Client, name: &str) -> Option<Tool> {
        let named = |tools: Vec<Tool>| tools.into_iter().find(|tool| tool.name == name);
        match self {
            Mode::Code(_) => named(code_mode::list_tools()),
            Mode::Toolbox(mode) => named(mode.tools()),
            Mode::Proxy(mode) => mode.tool(client, name),
        }
    }

    /// Calls a tool for a client. Returns `None` if there is no such tool.
    pub(super) async fn call(
        &self,
        client: &Client,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResponse> {
        match self {
            Mode::Code(mode) => mode.call(client, request, context).await,
            Mode::Toolbox(mode) => mode.call(client, request, context).await,
            Mode::Proxy(mode) => mode.call(client, request, context).await,
        }
    }

    /// Returns the redactor for responses, once a space is served.
    pub(super) fn redactor(&self) -> Option<Redactor> {
        match self {
            Mode::Code(mode) => mode.redactor(),
            Mode::Toolbox(mode) => Some(mode.redactor()),
            Mode::Proxy(mode) => mode.redactor(),
        }
    }

    /// Lists the resources that a client may read.
    pub(super) async fn resources(&self, client: &Client) -> Vec<Resource> {
        match self {
            Mode::Code(mode) => code_mode::resources(&*mode.known().await, client),
            Mode::Toolbox(_) | Mode::Proxy(_) => Vec::new(),
        }
    }

    /// Reads a resource, limited to the functions that a client may see.
    pub(super) async fn read_resource(&self, client: &Client, uri: &str) -> Result<Option<ResourceContents>, String> {
        let Mode::Code(mode) = self else { return Ok(None) };
        let (served, client, uri) = (mode.known().await, client.clone(), uri.to_owned());
        // A module of many functions takes a while to compile.
        let read = tokio::task::spawn_blocking(move || code_mode::read_resource(&served, &client, &uri)).await;
        read.map_err(|error| error.to_string())?
    }

    /// Notifies a client of tool list changes until it disconnects.
    pub(super) fn announce(&self, client: &Client, peer: Peer<RoleServer>) {
        if let Mode::Proxy(mode) = self {
            mode.announce(client, peer);
        }
    }

    /// Subscribes to changes of a client's tool list, in modes where it can change.
    pub(super) fn tool_changes(&self, client: &Client) -> Option<ToolChanges> {
        match self {
            Mode::Proxy(mode) => Some(mode.changes(client)),
            Mode::Code(_) | Mode::Toolbox(_) => None,
        }
    }

    /// Returns true if a client has runs or calls that may be without a request.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        match self {
            Mode::Code(mode) => mode.is_busy(client),
            Mode::Toolbox(mode) => mode.is_busy(client),
            Mode::Proxy(mode) => mode.is_busy(client),
        }
    }

    /// Continues the durable runs of the served space until [`Mode::close`]. `report` is told how each execution ended.
    pub async fn continue_runs(&self, report: impl Fn(&str, Result<&State, &DurableError>) + Send + Sync + 'static) {
        if let Mode::Code(mode) = self {
            mode.continue_runs(report).await;
        }
    }

    /// Makes durable runs leave memory. Requests that wait for them return.
    pub fn stop_runs(&self) {
        if let Mode::Code(mode) = self {
            mode.stop_runs();
        }
    }

    /// Waits until durable runs have left memory, before the process ends.
    pub async fn close(&self) {
        if let Mode::Code(mode) = self {
            mode.close().await;
        }
    }

    /// Ends all runs, calls and servers of a client that disconnected.
    pub(super) async fn end_all(&self, client: &Client) {
        match self {
            Mode::Code(mode) => mode.end_all(client),
            Mode::Toolbox(mode) => mode.end_all(client).await,
            Mode::Proxy(mode) => mode.end_all(client),
        }
    }
}
