//! Server modes: code, toolbox and proxy.

use super::code_mode::{self, CodeMode};
use super::extra_tools::ExtraTools;
use super::overview::Overview;
use super::proxy::{ProxyMode, ToolChanges};
use super::toolbox::ToolboxMode;
use agent_spaces_durable::{DurableError, State};
use agent_spaces_http_server::Client;
use agent_spaces_secrets::Redactor;
use rmcp::RoleServer;
use rmcp::model::{CallToolRequestParams, CallToolResponse, Resource, ResourceContents, ServerCapabilities, Tool};
use rmcp::service::{Peer, RequestContext};
use std::sync::Arc;

/// Server mode. Clones share state.
#[derive(Clone)]
pub enum Mode {
    /// Three tools: search, describe, run a program.
    Code(CodeMode),
    /// Two tools: open a toolbox, use a tool of it.
    Toolbox(ToolboxMode),
    /// Each selected function is an MCP tool.
    Proxy(ProxyMode),
    /// Another mode, with tools of the host.
    Extended(Extended),
}

/// Mode with tools of the host beside its own: see [`Mode::with_tools`].
#[derive(Clone)]
pub struct Extended {
    mode: Box<Mode>,
    tools: Arc<dyn ExtraTools>,
}

/// Mode without the tools of the host.
enum Own<'a> {
    Code(&'a CodeMode),
    Toolbox(&'a ToolboxMode),
    Proxy(&'a ProxyMode),
}

impl Mode {
    /// Adds tools of the host.
    #[must_use]
    pub fn with_tools(self, tools: Arc<dyn ExtraTools>) -> Mode {
        Mode::Extended(Extended { mode: Box::new(self), tools })
    }

    fn own(&self) -> Own<'_> {
        match self {
            Mode::Code(mode) => Own::Code(mode),
            Mode::Toolbox(mode) => Own::Toolbox(mode),
            Mode::Proxy(mode) => Own::Proxy(mode),
            Mode::Extended(extended) => extended.mode.own(),
        }
    }

    /// Returns the tools of the host, those that were added last first.
    fn extra(&self) -> impl Iterator<Item = &Arc<dyn ExtraTools>> {
        std::iter::successors(self.extended(), |outer| outer.mode.extended()).map(|extended| &extended.tools)
    }

    fn extended(&self) -> Option<&Extended> {
        match self {
            Mode::Extended(extended) => Some(extended),
            Mode::Code(_) | Mode::Toolbox(_) | Mode::Proxy(_) => None,
        }
    }

    pub(super) fn capabilities(&self) -> ServerCapabilities {
        let tools = ServerCapabilities::builder().enable_tools();
        match self.own() {
            Own::Code(_) => tools.enable_resources().build(),
            Own::Toolbox(_) => tools.build(),
            Own::Proxy(_) => tools.enable_tool_list_changed().build(),
        }
    }

    /// Returns the configured server name.
    pub(super) fn served_name(&self) -> Option<&str> {
        match self.own() {
            Own::Code(mode) => mode.served_name(),
            Own::Toolbox(mode) => mode.served_name(),
            Own::Proxy(mode) => mode.served_name(),
        }
    }

    pub(super) fn instructions(&self, client: &Client) -> String {
        match self.own() {
            Own::Code(mode) => mode.instructions(client),
            Own::Toolbox(mode) => mode.instructions(),
            Own::Proxy(mode) => mode.instructions(),
        }
    }

    /// Returns true if it runs programs: code mode.
    pub fn is_code(&self) -> bool {
        matches!(self.own(), Own::Code(_))
    }

    /// Says what a client can call, for a host that shows it to a model itself. Waits for servers shortly after startup.
    pub async fn overview(&self, client: &Client) -> Overview {
        match self.own() {
            Own::Code(mode) => mode.overview(client).await,
            Own::Toolbox(_) => Overview::default(),
            Own::Proxy(mode) => mode.overview(client).await,
        }
    }

    /// Lists the tools that a client may call.
    pub(super) async fn tools(&self, client: &Client) -> Vec<Tool> {
        let mut tools = match self.own() {
            Own::Code(_) => code_mode::list_tools(),
            Own::Toolbox(mode) => mode.tools(),
            Own::Proxy(mode) => mode.tools(client).await,
        };
        for tool in self.extra().flat_map(|extra| extra.list(client)) {
            if tools.iter().all(|known| known.name != tool.name) {
                tools.push(tool);
            }
        }
        tools
    }

    /// Returns one of the tools, if it is already known.
    pub(super) fn tool(&self, client: &Client, name: &str) -> Option<Tool> {
        let named = |tools: Vec<Tool>| tools.into_iter().find(|tool| tool.name == name);
        let own = match self.own() {
            Own::Code(_) => named(code_mode::list_tools()),
            Own::Toolbox(mode) => named(mode.tools()),
            Own::Proxy(mode) => mode.tool(client, name),
        };
        own.or_else(|| self.extra().find_map(|extra| named(extra.list(client))))
    }

    /// Calls a tool for a client. Returns `None` if there is no such tool.
    pub(super) async fn call(
        &self,
        client: &Client,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Option<CallToolResponse> {
        // Copied only if another may have to answer it.
        let mut again = self.extended().map(|_| request.clone());
        let answer = match self.own() {
            Own::Code(mode) => mode.call(client, request, context).await,
            Own::Toolbox(mode) => mode.call(client, request, context).await,
            Own::Proxy(mode) => mode.call(client, request, context).await,
        };
        if answer.is_some() {
            return answer;
        }
        let is_named = |tool: &Tool| again.as_ref().is_some_and(|request| tool.name == request.name);
        let extra = self.extra().find(|extra| extra.list(client).iter().any(is_named))?;
        extra.call(client, again.take()?, context).await
    }

    /// Returns the redactor for responses, once a space is served.
    pub(super) fn redactor(&self) -> Option<Redactor> {
        match self.own() {
            Own::Code(mode) => mode.redactor(),
            Own::Toolbox(mode) => Some(mode.redactor()),
            Own::Proxy(mode) => mode.redactor(),
        }
    }

    /// Lists the resources that a client may read.
    pub(super) async fn resources(&self, client: &Client) -> Vec<Resource> {
        match self.own() {
            Own::Code(mode) => code_mode::resources(&*mode.known().await, client),
            Own::Toolbox(_) | Own::Proxy(_) => Vec::new(),
        }
    }

    /// Reads a resource, limited to the functions that a client may see.
    pub(super) async fn read_resource(&self, client: &Client, uri: &str) -> Result<Option<ResourceContents>, String> {
        let Own::Code(mode) = self.own() else { return Ok(None) };
        let (served, asked, uri) = (mode.known().await, client.clone(), uri.to_owned());
        // A module of many functions takes a while to compile.
        let read = mode.compute(client, move || code_mode::read_resource(&served, &asked, &uri)).await;
        read.ok_or("the resource could not be made")?
    }

    /// Notifies a client of tool list changes until it disconnects.
    pub(super) fn announce(&self, client: &Client, peer: Peer<RoleServer>) {
        if let Own::Proxy(mode) = self.own() {
            mode.announce(client, peer);
        }
    }

    /// Returns true if the tool list can change.
    pub(super) fn has_tool_changes(&self) -> bool {
        matches!(self.own(), Own::Proxy(_))
    }

    /// Subscribes to changes of a client's tool list, in modes where it can change.
    pub(super) fn tool_changes(&self, client: &Client) -> Option<ToolChanges> {
        match self.own() {
            Own::Proxy(mode) => Some(mode.changes(client)),
            Own::Code(_) | Own::Toolbox(_) => None,
        }
    }

    /// Returns true if a client has runs or calls that may be without a request.
    pub(super) fn is_busy(&self, client: &Client) -> bool {
        match self.own() {
            Own::Code(mode) => mode.is_busy(client),
            Own::Toolbox(mode) => mode.is_busy(client),
            Own::Proxy(mode) => mode.is_busy(client),
        }
    }

    /// Continues the durable runs of the served space until [`Mode::close`]. `report` is told how each execution ended.
    pub async fn continue_runs(&self, report: impl Fn(&str, Result<&State, &DurableError>) + Send + Sync + 'static) {
        if let Own::Code(mode) = self.own() {
            mode.continue_runs(report).await;
        }
    }

    /// Makes durable runs leave memory. Requests that wait for them return.
    pub fn stop_runs(&self) {
        if let Own::Code(mode) = self.own() {
            mode.stop_runs();
        }
    }

    /// Waits until durable runs have left memory, before the process ends.
    pub async fn close(&self) {
        if let Own::Code(mode) = self.own() {
            mode.close().await;
        }
    }

    /// Ends all runs, calls and servers of a client that disconnected.
    pub(super) async fn end_all(&self, client: &Client) {
        match self.own() {
            Own::Code(mode) => mode.end_all(client),
            Own::Toolbox(mode) => mode.end_all(client).await,
            Own::Proxy(mode) => mode.end_all(client),
        }
    }
}
