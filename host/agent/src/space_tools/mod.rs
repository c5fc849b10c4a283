//! Tools of a space: an MCP client inside the process, connected to the MCP server of a mode, so that calls of an agent
//! take the same way as those of any other client.
//!
//! - `forms`: the client's side of approvals; `result`: results as a model reads them
//! - `names`: names that providers accept; `catalogue`: descriptions and instructions for the model
//! - `choice`: choice of the tool mode

mod catalogue;
mod choice;
mod forms;
#[cfg(test)]
mod measure;
mod names;
#[cfg(test)]
mod real_space;
mod result;
#[cfg(test)]
mod tests;

pub use choice::{MAX_DIRECT_FUNCTIONS, MAX_DIRECT_TOKENS, choose};

use crate::approver::{Approver, watched};
use crate::definition::ToolMode;
use crate::error::AgentError;
use crate::event::Watcher;
use crate::tools::{Instructions, ToolContext, ToolOutput, ToolRequest, Tools};
use agent_spaces_models::Tool;
use agent_spaces_serve::{Client, Mode, Overview, serve_connection};
use agent_spaces_telemetry::context;
use agent_spaces_types::shown::Shown;
use forms::FormClient;
use futures_util::future::BoxFuture;
use rmcp::model::{CallToolRequestParams, PaginatedRequestParams, RequestMetaObject};
use rmcp::service::{RoleClient, RunningService};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tracing::Instrument as _;

/// Bytes between client and server. Longer messages go through in pieces.
const BUFFER: usize = 64 << 10;

/// Time until the tools are listed. The first project load may have to start servers.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);

/// Pages of a tool list, and tools of a space. Providers accept far fewer.
const MAX_PAGES: usize = 100;
const MAX_TOOLS: usize = 5_000;

/// Longest time that a program is waited for in one call. Longer ones return a handle.
const MAX_PROGRAM_WAIT: Duration = Duration::from_secs(5 * 60);

/// Argument of `run_code`: seconds until it returns a handle.
const WAIT: &str = "wait";

/// Tools of a space for one caller. Dropping it ends the connection; programs and calls that nobody waits for end by
/// themselves some minutes later.
pub struct SpaceTools {
    connection: RunningService<RoleClient, FormClient>,
    tools: Vec<Tool>,
    routes: HashMap<String, Route>,
    instructions: Vec<Instructions>,
    warnings: Vec<String>,
}

/// Target of a tool that a model sees.
struct Route {
    /// Its name at the server.
    name: String,
    /// The capability that answers.
    capability: Option<String>,
    /// True if it takes [`WAIT`].
    waits: bool,
}

impl SpaceTools {
    /// Connects to a mode for a caller. `approver` answers for the people whom its calls need; its answers count, whether
    /// the caller may approve or not. `watcher` is told of approvals.
    ///
    /// # Errors
    /// If the tools cannot be listed.
    pub async fn connect(
        mode: Mode,
        client: Client,
        approver: Arc<dyn Approver>,
        watcher: Watcher,
    ) -> Result<SpaceTools, AgentError> {
        let approver = watched(approver, watcher);
        let connecting = async {
            let client = client.of_host();
            let client = if approver.is_present() { client.approving() } else { client };
            let overview = mode.overview(&client).await;
            let (near, far) = tokio::io::duplex(BUFFER);
            let (input, output) = tokio::io::split(far);
            let is_code = mode.is_code();
            let serving = async move {
                if let Err(error) = serve_connection(mode, client, input, output).await {
                    tracing::debug!(target: "agent_spaces::agent", "the connection to the tools ended: {error}");
                }
            };
            tokio::spawn(serving.in_current_span());
            SpaceTools::over(near, FormClient::new(approver), &overview, is_code).await
        };
        in_time(connecting).await?
    }

    /// Connects to the mode that suits the space: `direct` if it has few functions, else `code`. Both serve the same
    /// space; `direct` exposes all of its functions.
    ///
    /// # Errors
    /// If the tools cannot be listed.
    pub async fn connect_to_either(
        code: Mode,
        direct: Mode,
        client: Client,
        approver: Arc<dyn Approver>,
        watcher: Watcher,
    ) -> Result<SpaceTools, AgentError> {
        let (shown, whole) = overviews(&code, &direct, &client).await?;
        // Many tools are not even listed.
        if choice::without_tools(&shown, &whole).is_empty() && choose(shown.functions(), 0) == ToolMode::Direct {
            let tools = SpaceTools::connect(direct, client.clone(), approver.clone(), watcher.clone()).await?;
            if choose(tools.tools.len(), choice::tokens(&tools.tools)) == ToolMode::Direct {
                return Ok(tools);
            }
        }
        SpaceTools::connect(code, client, approver, watcher).await
    }

    /// Connects to `direct`, and warns of modules that only programs can call. `code` serves the same space.
    ///
    /// # Errors
    /// If the tools cannot be listed.
    pub async fn connect_direct(
        code: &Mode,
        direct: Mode,
        client: Client,
        approver: Arc<dyn Approver>,
        watcher: Watcher,
    ) -> Result<SpaceTools, AgentError> {
        let (shown, whole) = overviews(code, &direct, &client).await?;
        let mut tools = SpaceTools::connect(direct, client, approver, watcher).await?;
        tools.warnings.extend(choice::warning(&choice::without_tools(&shown, &whole)));
        Ok(tools)
    }

    /// Connects to a server at the other end of a stream.
    async fn over(
        stream: tokio::io::DuplexStream,
        handler: FormClient,
        overview: &Overview,
        is_code: bool,
    ) -> Result<SpaceTools, AgentError> {
        let failed = |error: &dyn std::fmt::Display| AgentError::Tools(Shown::line(&error.to_string(), 500).into());
        let connection = rmcp::serve_client(handler, tokio::io::split(stream)).await.map_err(|error| failed(&error))?;
        let mut listed = Vec::new();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor.take());
            let page = connection.list_tools(Some(page)).await.map_err(|error| failed(&error))?;
            listed.extend(page.tools);
            cursor = page.next_cursor;
            if cursor.is_none() || listed.len() >= MAX_TOOLS {
                break;
            }
        }
        listed.truncate(MAX_TOOLS);
        let given: Vec<&str> = listed.iter().map(|tool| &*tool.name).collect();
        let names = names::for_models(&given);
        let mut tools = Vec::new();
        let mut routes = HashMap::new();
        for (name, tool) in names.into_iter().zip(&listed) {
            let known = overview.tools.get(&*tool.name);
            let waits = is_code && tool.input_schema.get("properties").is_some_and(|all| all.get(WAIT).is_some());
            let capability = known.map(|known| known.capability.clone());
            routes.insert(name.clone(), Route { name: tool.name.to_string(), capability, waits });
            let parameters = Value::Object((*tool.input_schema).clone());
            tools.push(Tool { name, description: catalogue::description(tool, known), parameters });
        }
        let info = connection.peer().peer_info();
        let instructions = catalogue::instructions(info.as_deref(), overview, is_code);
        Ok(SpaceTools { connection, tools, routes, instructions, warnings: Vec::new() })
    }

    async fn make(&self, route: &Route, mut arguments: Map<String, Value>, timeout: Duration) -> ToolOutput {
        if route.waits && !arguments.contains_key(WAIT) {
            // Ends before the call does, so that the model gets the handle of a long program.
            let seconds = timeout.mul_f64(0.9).min(MAX_PROGRAM_WAIT).as_secs_f64();
            arguments.insert(WAIT.to_owned(), json!(seconds));
        }
        let mut params = CallToolRequestParams::new(route.name.clone()).with_arguments(arguments);
        params.meta = trace();
        // Dropping the request cancels it at the server.
        match self.connection.peer().call_tool_once(params).await {
            Ok(response) => result::output(response),
            Err(error) => result::failure(&error),
        }
    }
}

/// Overviews of `direct` and of `code`.
async fn overviews(code: &Mode, direct: &Mode, client: &Client) -> Result<(Overview, Overview), AgentError> {
    in_time(async { (direct.overview(client).await, code.overview(client).await) }).await
}

/// Waits for the tools for at most [`CONNECT_TIMEOUT`].
async fn in_time<T>(work: impl Future<Output = T>) -> Result<T, AgentError> {
    let late = |_| AgentError::Tools(format!("they were not listed within {} s", CONNECT_TIMEOUT.as_secs()));
    tokio::time::timeout(CONNECT_TIMEOUT, work).await.map_err(late)
}

/// The current trace, so that the spans of the server belong to it.
fn trace() -> Option<RequestMetaObject> {
    let mut meta = Map::new();
    context::current()?.add_to_meta(&mut meta);
    Some(RequestMetaObject::from(meta))
}

impl Tools for SpaceTools {
    fn list(&self) -> Vec<Tool> {
        self.tools.clone()
    }

    fn instructions(&self) -> Vec<Instructions> {
        self.instructions.clone()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn call<'a>(&'a self, call: ToolRequest, context: &'a ToolContext) -> BoxFuture<'a, ToolOutput> {
        Box::pin(async move {
            let Some(route) = self.routes.get(&call.name) else {
                return ToolOutput::error(format!("There is no tool {}.", Shown::line(&call.name, 100)));
            };
            let making = tokio::time::timeout(context.timeout, self.make(route, call.arguments, context.timeout));
            let output = tokio::select! {
                biased;
                () = context.cancel.cancelled() => ToolOutput::error("The call was cancelled. It may have taken effect."),
                made = making => made.unwrap_or_else(|_| {
                    ToolOutput::error(format!("Tool execution timed out after {:?}.", context.timeout))
                }),
            };
            ToolOutput { server: route.capability.clone(), ..output }
        })
    }
}
