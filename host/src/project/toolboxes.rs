//! Toolboxes: groups of MCP servers that are opened on demand.
//!
//! Their servers are apart from those of the project: no script imports them, and the lock knows them as
//! `toolbox/server`.

use super::definitions::{check_names, server_definition};
use super::equipment::Equipment;
use super::error::ProjectError;
use super::outlines::Outlines;
use super::{DefinitionFile, Project, lock, servers};
use crate::config::{Config, McpServer};
use crate::engine::Engine;
use crate::mcp::{Acceptance, ConfiguredServer, Connected};
use crate::space::Space;
use agent_spaces_mcp::Server;
use agent_spaces_mcp::lock::{Lock, LockedServer};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// A group of servers.
#[derive(Clone, Debug)]
pub struct ProjectToolbox {
    /// What it is for; agents choose by this.
    pub description: String,
    /// Its servers that are switched on, by name. Each is configured as `toolbox/server`.
    pub servers: BTreeMap<String, Arc<ConfiguredServer>>,
}

/// A server of a toolbox, open, and what was accepted of it.
pub(crate) struct OpenServer<'a> {
    pub(crate) name: &'a str,
    pub(crate) configured: &'a Arc<ConfiguredServer>,
    pub(crate) accepted: Arc<LockedServer>,
    pub(crate) session: Arc<Server>,
}

/// Those of a configuration.
pub(super) fn gather(
    folder: &Path,
    config: &Config,
    acceptance: Option<&Acceptance>,
) -> BTreeMap<String, ProjectToolbox> {
    let Some(acceptance) = acceptance else { return BTreeMap::new() };
    let own = servers::own_folder(&acceptance.file).unwrap_or_else(|| folder.to_owned());
    let own = std::path::absolute(&own).unwrap_or(own);
    let toolbox = |(name, toolbox): (&String, &crate::config::Toolbox)| {
        let is_on = |server: &McpServer| server.enabled && config.mcp.client_off.is_none();
        let enabled = toolbox.mcp_servers.iter().filter(|(_, server)| is_on(server));
        let servers = enabled.map(|(server, settings)| {
            let mut settings = settings.clone();
            settings.timeout = settings.timeout.or(config.defaults.tool_timeout);
            settings.confine = settings.confine.take().or_else(|| config.confine_of_servers());
            let configured = ConfiguredServer {
                name: format!("{name}/{server}"),
                config: settings,
                file: acceptance.file.clone(),
                folder: own.clone(),
                acceptance: acceptance.clone(),
            };
            (server.clone(), Arc::new(configured))
        });
        (name.clone(), ProjectToolbox { description: toolbox.description.clone(), servers: servers.collect() })
    };
    config.toolboxes.iter().map(toolbox).collect()
}

impl Project {
    /// The toolboxes, by name.
    pub fn toolboxes(&self) -> &BTreeMap<String, ProjectToolbox> {
        &self.toolboxes
    }

    /// The servers of toolboxes of which something was accepted already: those that were opened once.
    pub fn accepted_of_toolboxes(&self) -> impl Iterator<Item = &Arc<ConfiguredServer>> {
        let all = self.toolboxes.values().flat_map(|toolbox| toolbox.servers.values());
        all.filter(|server| self.lock.servers.contains_key(&server.name))
    }

    /// What is accepted of servers by now, whenever the project was opened.
    pub(crate) fn lock_by_now(&self) -> Result<Lock, ProjectError> {
        lock::read(&self.folder)
    }

    /// A space of the tools of servers that are open, under the policy of a space of the project; and their definitions.
    pub(crate) fn assemble_toolbox(
        &self,
        space: Option<&str>,
        servers: &[OpenServer<'_>],
        engine: &Engine,
        equipment: &Equipment,
        outlines: &Outlines,
    ) -> Result<(Space, Vec<DefinitionFile>), ProjectError> {
        let mut definitions = Vec::new();
        for OpenServer { name, configured, accepted, session } in servers {
            let entry = format!("mcp:{}", configured.name);
            let made = server_definition(&self.lock_file(), configured, (entry, name), accepted, outlines)?;
            definitions.extend(made.map(|mut definition| {
                if let Some(server) = &mut definition.server {
                    server.connected = Some(Connected(session.clone()));
                }
                definition
            }));
        }
        check_names(&definitions)?;
        let space = self.part_of_space(space, &definitions).assemble_with(engine, equipment)?;
        Ok((space, definitions))
    }
}
