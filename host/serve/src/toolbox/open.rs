//! `open_toolbox`

use super::ToolboxMode;
use super::errors::ToolboxError;
use super::instructions::NOT_ACCEPTED;
use super::open_toolboxes::{OpenTool, OpenToolbox, close};
use crate::cards::{Card, cards};
use agent_spaces_config::Scope;
use agent_spaces_http_server::Client;
use agent_spaces_mcp::lock::LockedServer;
use agent_spaces_mcp::{Listing, Server};
use agent_spaces_project::mcp::{ConfiguredServer, McpClients, brief, locked};
use agent_spaces_project::{
    DefinitionBody, DefinitionFile, Equipment, OpenServer, Outlines, Project, ProjectError, ProjectToolbox,
};
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_secrets::Redactor;
use agent_spaces_space::space::Space;
use agent_spaces_types::limits::Limits;
use futures_util::future::join_all;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Toolboxes of a project, with what is needed to open one. Clones share state.
#[derive(Clone)]
pub struct Toolboxes(Arc<Inner>);

struct Inner {
    project: Project,
    space: Option<String>,
    engine: Engine,
    clients: McpClients,
    equipment: Equipment,
    outlines: Outlines,
    /// Command-line argument that selects the configuration.
    argument: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenArguments {
    toolbox: Option<String>,
}

impl Toolboxes {
    /// Creates the toolboxes of a project. Calls are subject to the policy and limits of `space`.
    pub fn new(
        project: Project,
        space: Option<&str>,
        engine: Engine,
        clients: &McpClients,
        equipment: &Equipment,
        outlines: Outlines,
    ) -> Toolboxes {
        let (space, clients, equipment) = (space.map(str::to_owned), clients.clone(), equipment.clone());
        let argument = String::new();
        Toolboxes(Arc::new(Inner { project, space, engine, clients, equipment, outlines, argument }))
    }

    /// Sets the argument to show in suggested commands: ` --config FILE`. Only the client that started the server sees
    /// it.
    #[must_use]
    pub fn started_with(mut self, argument: String) -> Toolboxes {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.argument = argument;
        }
        self
    }

    /// Returns the project.
    pub fn project(&self) -> &Project {
        &self.0.project
    }

    /// Returns the redactor for responses.
    pub(super) fn redactor(&self) -> Redactor {
        self.0.clients.context().redactor.clone()
    }

    /// Returns all toolboxes if the user has accepted the configuration as it is. Agents see nothing of an unaccepted
    /// one.
    pub(super) fn all(&self) -> Result<&BTreeMap<String, ProjectToolbox>, ToolboxError> {
        let project = &self.0.project;
        let is_accepted = project.acceptance().is_none_or(|acceptance| acceptance.obstacle().is_none());
        is_accepted.then(|| project.toolboxes()).ok_or(ToolboxError::NotAccepted { why: NOT_ACCEPTED })
    }

    pub(super) fn get(&self, toolbox: &str) -> Result<&ProjectToolbox, ToolboxError> {
        let all = self.all()?;
        all.get(toolbox).ok_or_else(|| {
            let known = all.keys().cloned().collect();
            ToolboxError::NoToolbox { toolbox: toolbox.to_owned(), known }
        })
    }

    /// Connects concurrently to all servers of a toolbox that have tools visible to a caller. If one fails, the others
    /// are closed.
    async fn open(&self, name: &str, client: &Client) -> Result<OpenToolbox, ToolboxError> {
        let fail = |message: String| ToolboxError::Opening { toolbox: name.to_owned(), message };
        let (toolboxes, toolbox, caller) = (self.clone(), self.get(name)?.clone(), client.caller().clone());
        let visible = blocking(move || toolboxes.with_visible_tools(toolboxes.candidates(&toolbox)?, &caller));
        let visible = visible.await.map_err(fail)?;
        let mut connecting = Connecting::default();
        // A server shared by all callers is not closed here.
        let own = visible.iter().filter(|candidate| candidate.configured.config.scope != Scope::Host);
        connecting.0.extend(own.map(|candidate| candidate.session.clone()));
        let asked = visible.into_iter().map(|candidate| async move {
            let listed = candidate.session.list().await;
            (candidate, listed)
        });
        let mut found = Vec::new();
        for (candidate, listed) in join_all(asked).await {
            match listed {
                Ok(listing) => found.push(Found { candidate, listing }),
                Err(error) => {
                    let configured = &candidate.configured.name;
                    self.0.clients.context().warn(configured, &error.to_string());
                    // Only the client that started the process sees paths of this machine.
                    let argument = if client.is_process() { self.0.argument.as_str() } else { "" };
                    let message = brief(configured, &error, argument);
                    connecting.close().await;
                    return Err(ToolboxError::Server { toolbox: name.to_owned(), server: candidate.server, message });
                }
            }
        }
        let toolboxes = self.clone();
        match blocking(move || toolboxes.assemble(found)).await {
            Ok((space, tools)) => {
                let limits = self.limits();
                Ok(OpenToolbox { space: Arc::new(space), limits, tools, sessions: connecting.finish() })
            }
            Err(message) => {
                connecting.close().await;
                Err(fail(message))
            }
        }
    }

    /// Returns the servers of a toolbox, without starting them.
    fn candidates(&self, toolbox: &ProjectToolbox) -> Result<Vec<Candidate>, String> {
        let mut lock = self.0.project.lock_by_now().map_err(|error| error.to_string())?;
        let candidate = |(server, configured): (&String, &Arc<ConfiguredServer>)| {
            if let Some(obstacle) = configured.obstacle_for_agents() {
                return Err(format!("Server '{server}': {obstacle}"));
            }
            let accepted = lock.servers.remove(&configured.name).map(Arc::new);
            let session = self.0.clients.server(configured, accepted.as_ref(), self.0.space.as_deref());
            Ok(Candidate { server: server.clone(), configured: configured.clone(), accepted, session })
        };
        toolbox.servers.iter().map(candidate).collect()
    }

    fn limits(&self) -> Limits {
        self.0.project.limits(self.0.space.as_deref())
    }

    /// Builds a space of the servers' tools, and locks the tools of servers that had no lock entry.
    fn assemble(&self, found: Vec<Found>) -> Result<(Space, BTreeMap<String, Vec<OpenTool>>), String> {
        let accepted = found.iter().map(|found| Ok((&found.candidate, self.accept(found)?)));
        let accepted: Vec<(&Candidate, Arc<LockedServer>)> = accepted.collect::<Result<_, String>>()?;
        let (space, definitions) = self.space_of(&accepted)?;
        let mut tools = BTreeMap::new();
        for (found, (candidate, accepted)) in found.iter().zip(&accepted) {
            let cards = own_cards(&definitions, &candidate.configured).map_err(|error| error.to_string())?;
            tools.insert(candidate.server.clone(), open_tools(cards, accepted, &found.listing));
        }
        Ok((space, tools))
    }

    /// Builds a space of locked servers, with their definitions.
    pub(super) fn space_of(
        &self,
        accepted: &[(&Candidate, Arc<LockedServer>)],
    ) -> Result<(Space, Vec<DefinitionFile>), String> {
        let Inner { project, space, engine, equipment, outlines, .. } = &*self.0;
        let servers: Vec<OpenServer<'_>> = accepted
            .iter()
            .map(|(candidate, accepted)| OpenServer {
                name: &candidate.server,
                configured: &candidate.configured,
                accepted: accepted.clone(),
                session: candidate.session.clone(),
            })
            .collect();
        let assembled = project.assemble_toolbox(space.as_deref(), &servers, engine, equipment, outlines);
        assembled.map_err(|error| error.to_string())
    }

    fn accept(&self, Found { candidate, listing }: &Found) -> Result<Arc<LockedServer>, String> {
        if let Some(accepted) = &candidate.accepted {
            return Ok(accepted.clone());
        }
        let context = self.0.clients.context();
        let recorded = locked(&candidate.configured, listing, &context.redactor).map_err(|error| {
            // The message may quote unaccepted text.
            let name = &candidate.configured.name;
            context.warn(name, &error.to_string());
            format!("the tools of {name} cannot be used; `agent-spaces mcp tools {name}` says why")
        })?;
        let accepted = self.0.project.accept_first(&candidate.configured.name, recorded.clone());
        let accepted = Arc::new(accepted.map_err(|error| error.to_string())?);
        if *accepted != recorded {
            // This connection was not checked against that entry.
            let name = &candidate.configured.name;
            return Err(format!("the accepted tools of {name} have just changed: open the toolbox again"));
        }
        candidate.session.hold_to(&accepted);
        Ok(accepted)
    }
}

/// Server of a toolbox, not started yet.
pub(super) struct Candidate {
    pub(super) server: String,
    pub(super) configured: Arc<ConfiguredServer>,
    /// Lock entry, if there is one.
    pub(super) accepted: Option<Arc<LockedServer>>,
    session: Arc<Server>,
}

/// Server that has listed its tools.
struct Found {
    candidate: Candidate,
    listing: Listing,
}

/// Sessions being opened, closed on drop.
#[derive(Default)]
struct Connecting(Vec<Arc<Server>>);

impl Connecting {
    async fn close(mut self) {
        close(&std::mem::take(&mut self.0)).await;
    }

    fn finish(mut self) -> Vec<Arc<Server>> {
        std::mem::take(&mut self.0)
    }
}

impl Drop for Connecting {
    fn drop(&mut self) {
        let sessions = std::mem::take(&mut self.0);
        if let (false, Ok(runtime)) = (sessions.is_empty(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move { close(&sessions).await });
        }
    }
}

/// Runs blocking work, such as compilation and file access, in a thread.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, String> + Send + 'static) -> Result<T, String> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(error.to_string()))
}

/// Returns the functions of a server.
pub(super) fn own_cards(
    definitions: &[DefinitionFile],
    configured: &Arc<ConfiguredServer>,
) -> Result<Vec<Card>, ProjectError> {
    let is_own = |definition: &&DefinitionFile| {
        definition.server.as_ref().is_some_and(|server| server.configured == *configured)
    };
    let mut own = Vec::new();
    for definition in definitions.iter().filter(is_own) {
        if let DefinitionBody::Module(module) = &definition.body {
            own.extend(cards(&module.compile()?));
        }
    }
    Ok(own)
}

/// Returns the tools of a server that became functions, in its own order and as they were accepted.
fn open_tools(cards: Vec<Card>, accepted: &LockedServer, listing: &Listing) -> Vec<OpenTool> {
    let mut known: BTreeMap<String, Card> = cards.into_iter().map(|card| (card.name.clone(), card)).collect();
    let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let tools = listing.tools.iter().filter_map(|tool| {
        let name = text(tool, "name");
        let tool = accepted.tools.iter().find(|tool| text(tool, "name") == name)?;
        let input_schema = tool.get("inputSchema").cloned().unwrap_or_else(|| json!({ "type": "object" }));
        Some(OpenTool { description: text(tool, "description"), input_schema, card: known.remove(&name)?, name })
    });
    tools.collect()
}

impl ToolboxMode {
    pub(super) async fn open(&self, client: &Client, arguments: Value) -> Result<CallToolResult, ToolboxError> {
        let name = self.asked_for(arguments)?;
        let toolbox = self.0.toolboxes.get(&name)?;
        let opened = self.0.opened.get_or_open(client, &name, self.0.toolboxes.open(&name, client)).await?;
        let is_visible = |tool: &&OpenTool| opened.space.is_open(&tool.card.known(), client.caller());
        let mut tools = Vec::new();
        for (server, own) in &opened.tools {
            tools.extend(own.iter().filter(is_visible).map(|tool| {
                json!({
                    "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema,
                    "server": server, "toolbox": name,
                })
            }));
        }
        let answer = json!({
            "toolbox": name, "description": toolbox.description, "servers_connected": opened.tools.len(),
            "tools": tools,
        });
        let mut result = CallToolResult::success(vec![ContentBlock::text(answer.to_string())]);
        result.structured_content = Some(answer);
        result.is_error = None;
        Ok(result)
    }

    /// Parses the toolbox name of a request. The error lists the known names.
    fn asked_for(&self, arguments: Value) -> Result<String, ToolboxError> {
        let message = match serde_json::from_value(arguments) {
            Ok(OpenArguments { toolbox: Some(name) }) if !name.is_empty() => return Ok(name),
            Ok(OpenArguments { toolbox: Some(_) }) => "`toolbox` must not be empty".to_owned(),
            Ok(OpenArguments { toolbox: None }) => "`toolbox` is missing".to_owned(),
            Err(error) => error.to_string(),
        };
        let known = self.0.toolboxes.all()?.keys().cloned().collect();
        Err(ToolboxError::OpenArguments { message, known })
    }
}
