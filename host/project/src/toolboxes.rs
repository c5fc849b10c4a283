//! Toolboxes: groups of MCP servers that are opened on demand.
//!
//! Their servers are separate from those of the project: scripts cannot import them, and the lock lists them as
//! `toolbox/server`.

use super::definitions::{check_names, server_definition};
use super::error::ProjectError;
use super::host_services::Equipment;
use super::outline_cache::Outlines;
use super::{DefinitionFile, Project, lock, servers};
use crate::mcp::{ConfiguredServer, Connected};
use crate::trust::Acceptance;
use agent_spaces_config::{Config, McpServer};
use agent_spaces_mcp::Server;
use agent_spaces_mcp::lock::{Lock, LockedServer};
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_space::space::Space;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Group of MCP servers that are opened together.
#[derive(Clone, Debug)]
pub struct ProjectToolbox {
    /// Purpose, by which agents choose a toolbox.
    pub description: String,
    /// Its enabled servers, by name. Each is configured as `toolbox/server`.
    pub servers: BTreeMap<String, Arc<ConfiguredServer>>,
}

/// Open server of a toolbox.
pub struct OpenServer<'a> {
    /// Name within the toolbox.
    pub name: &'a str,
    /// Configuration of the server.
    pub configured: &'a Arc<ConfiguredServer>,
    /// Accepted tools.
    pub accepted: Arc<LockedServer>,
    /// Session with the server.
    pub session: Arc<Server>,
}

/// Toolboxes of a configuration.
pub(super) fn gather(
    folder: &Path,
    config: &Config,
    acceptance: Option<&Acceptance>,
) -> BTreeMap<String, ProjectToolbox> {
    let Some(acceptance) = acceptance else { return BTreeMap::new() };
    let own = servers::own_folder(&acceptance.file).unwrap_or_else(|| folder.to_owned());
    let own = std::path::absolute(&own).unwrap_or(own);
    let toolbox = |(name, toolbox): (&String, &agent_spaces_config::Toolbox)| {
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
    /// All toolboxes, by name.
    pub fn toolboxes(&self) -> &BTreeMap<String, ProjectToolbox> {
        &self.toolboxes
    }

    /// Servers of toolboxes that are in the lock, because they were opened before.
    pub fn accepted_of_toolboxes(&self) -> impl Iterator<Item = &Arc<ConfiguredServer>> {
        let all = self.toolboxes.values().flat_map(|toolbox| toolbox.servers.values());
        all.filter(|server| self.lock.servers.contains_key(&server.name))
    }

    /// Reads the current lock, which may be newer than the one the project was opened with.
    pub fn lock_by_now(&self) -> Result<Lock, ProjectError> {
        lock::read(&self.folder)
    }

    /// Assembles a space of the tools of open servers, under the policy of a space of the project. Also returns their
    /// definitions.
    pub fn assemble_toolbox(
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
