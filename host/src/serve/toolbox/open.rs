//! `open_toolbox`

use super::ToolboxMode;
use super::errors::ToolboxError;
use super::opened::{OpenTool, OpenToolbox, close};
use crate::config::Scope;
use crate::engine::Engine;
use crate::limits::Limits;
use crate::mcp::{ConfiguredServer, McpClients, brief, locked};
use crate::project::{
    DefinitionBody, DefinitionFile, Equipment, OpenServer, Outlines, Project, ProjectError, ProjectToolbox,
};
use crate::serve::caller::Client;
use crate::serve::cards::cards;
use crate::space::Space;
use agent_spaces_mcp::lock::LockedServer;
use agent_spaces_mcp::{Listing, Server};
use futures_util::future::join_all;
use rmcp::model::{CallToolResult, ContentBlock};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The toolboxes of a project, and what opening one takes. Clones are one.
#[derive(Clone)]
pub struct Toolboxes(Arc<Parts>);

struct Parts {
    project: Project,
    space: Option<String>,
    engine: Engine,
    clients: McpClients,
    equipment: Equipment,
    outlines: Outlines,
    /// The lock is written by one at a time.
    writing: Mutex<()>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenArguments {
    toolbox: String,
}

impl Toolboxes {
    /// Those of a project, whose calls are under the policy and the limits of this space of it.
    pub fn new(
        project: Project,
        space: Option<&str>,
        engine: Engine,
        clients: &McpClients,
        equipment: &Equipment,
        outlines: Outlines,
    ) -> Toolboxes {
        let (space, clients, equipment) = (space.map(str::to_owned), clients.clone(), equipment.clone());
        Toolboxes(Arc::new(Parts { project, space, engine, clients, equipment, outlines, writing: Mutex::default() }))
    }

    /// The project that they are of.
    pub fn project(&self) -> &Project {
        &self.0.project
    }

    pub(super) fn all(&self) -> &BTreeMap<String, ProjectToolbox> {
        self.0.project.toolboxes()
    }

    pub(super) fn get(&self, toolbox: &str) -> Result<&ProjectToolbox, ToolboxError> {
        self.all().get(toolbox).ok_or_else(|| {
            let known = self.all().keys().cloned().collect();
            ToolboxError::NoToolbox { toolbox: toolbox.to_owned(), known }
        })
    }

    /// Starts or reaches all servers of a toolbox at the same time. Where one fails, nothing is left of the others.
    async fn open(&self, name: &str) -> Result<OpenToolbox, ToolboxError> {
        let toolbox = self.get(name)?;
        let fail = |message: String| ToolboxError::Opening { toolbox: name.to_owned(), message };
        let mut connecting = Connecting::default();
        let mut asked = Vec::new();
        for (server, configured) in &toolbox.servers {
            if let Some(obstacle) = configured.obstacle() {
                return Err(fail(obstacle));
            }
            let accepted = self.0.project.accepted(&configured.name).map_err(|error| fail(error.to_string()))?;
            let accepted = accepted.map(Arc::new);
            let session = self.0.clients.server(configured, accepted.as_ref(), self.0.space.as_deref());
            // One that all share is not ours to end.
            if configured.config.scope != Scope::Host {
                connecting.0.push(session.clone());
            }
            asked.push(async move {
                let listed = session.list().await;
                (server, configured, accepted, listed, session)
            });
        }
        let mut found = Vec::new();
        for (server, configured, accepted, listed, session) in join_all(asked).await {
            match listed {
                Ok(listing) => {
                    let (server, configured) = (server.clone(), configured.clone());
                    found.push(Found { server, configured, accepted, listing, session });
                }
                Err(error) => {
                    self.0.clients.context().warn(&configured.name, &error.to_string());
                    let (toolbox, server) = (name.to_owned(), server.clone());
                    let message = brief(&configured.name, &error);
                    connecting.close().await;
                    return Err(ToolboxError::Server { toolbox, server, message });
                }
            }
        }
        let toolboxes = self.clone();
        // Tools are compiled, which takes a while of many.
        let assembled = tokio::task::spawn_blocking(move || toolboxes.assemble(found)).await;
        let assembled = assembled.unwrap_or_else(|error| Err(error.to_string()));
        match assembled {
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

    fn limits(&self) -> Limits {
        self.0.project.limits(self.0.space.as_deref())
    }

    /// A space of what the servers have; what they are held to is written down where nothing was before.
    fn assemble(&self, found: Vec<Found>) -> Result<(Space, BTreeMap<String, Vec<OpenTool>>), String> {
        let Parts { project, space, engine, equipment, outlines, .. } = &*self.0;
        let found = found.into_iter().map(|found| Ok((self.accept(&found)?, found)));
        let found: Vec<(Arc<LockedServer>, Found)> = found.collect::<Result<_, String>>()?;
        let servers: Vec<OpenServer<'_>> = found
            .iter()
            .map(|(accepted, found)| OpenServer {
                name: &found.server,
                configured: &found.configured,
                accepted: accepted.clone(),
                session: found.session.clone(),
            })
            .collect();
        let assembled = project.assemble_toolbox(space.as_deref(), &servers, engine, equipment, outlines);
        let (space, definitions) = assembled.map_err(|error| error.to_string())?;
        let mut tools = BTreeMap::new();
        for (accepted, found) in &found {
            let own = definitions.iter().filter(|definition| {
                definition.server.as_ref().is_some_and(|server| server.configured == found.configured)
            });
            tools.insert(
                found.server.clone(),
                open_tools(own, accepted, &found.listing).map_err(|error| error.to_string())?,
            );
        }
        Ok((space, tools))
    }

    fn accept(&self, found: &Found) -> Result<Arc<LockedServer>, String> {
        if let Some(accepted) = &found.accepted {
            return Ok(accepted.clone());
        }
        let recorded = locked(&found.configured, &found.listing, &self.0.clients.context().redactor);
        let recorded = recorded.map_err(|error| error.to_string())?;
        let _one_at_a_time = self.0.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let accepted = self.0.project.accept(&found.configured.name, recorded.clone());
        accepted.map_err(|error| error.to_string())?;
        let recorded = Arc::new(recorded);
        found.session.hold_to(&recorded);
        Ok(recorded)
    }
}

/// A server that listed its tools.
struct Found {
    server: String,
    configured: Arc<ConfiguredServer>,
    /// What was accepted of it before.
    accepted: Option<Arc<LockedServer>>,
    listing: Listing,
    session: Arc<Server>,
}

/// Sessions that are being opened. What was started for them ends if nobody waits for it any more.
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

/// The tools of a server that are functions here, in its own order and as they were accepted.
fn open_tools<'a>(
    definitions: impl Iterator<Item = &'a DefinitionFile>,
    accepted: &LockedServer,
    listing: &Listing,
) -> Result<Vec<OpenTool>, ProjectError> {
    let mut known = BTreeMap::new();
    for definition in definitions {
        if let DefinitionBody::Module(module) = &definition.body {
            known.extend(cards(&module.compile()?).into_iter().map(|card| (card.name.clone(), card)));
        }
    }
    let text = |tool: &Value, key: &str| tool.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let tools = listing.tools.iter().filter_map(|tool| {
        let name = text(tool, "name");
        let tool = accepted.tools.iter().find(|tool| text(tool, "name") == name)?;
        let input_schema = tool.get("inputSchema").cloned().unwrap_or_else(|| json!({ "type": "object" }));
        Some(OpenTool { description: text(tool, "description"), input_schema, card: known.remove(&name)?, name })
    });
    Ok(tools.collect())
}

impl ToolboxMode {
    pub(super) async fn open(
        &self,
        client: &Client,
        OpenArguments { toolbox: name }: OpenArguments,
    ) -> Result<CallToolResult, ToolboxError> {
        if name.is_empty() {
            let message = "`toolbox` must not be empty".to_owned();
            return Err(ToolboxError::Arguments { tool: super::OPEN, message });
        }
        let toolbox = self.0.toolboxes.get(&name)?;
        let opened = self.0.opened.get_or_open(client, &name, self.0.toolboxes.open(&name)).await?;
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
}
