//! MCP server with the file that configures it, and the acceptance of that file.

use super::locked_endpoint;
use crate::trust::{Acceptance, Status};
use agent_spaces_config::McpServer;
use agent_spaces_mcp::lock::{Change, LockedEndpoint, LockedServer, compare, package_of};
use agent_spaces_policy::UnknownCapability;
use capability_gen::names;
use std::path::PathBuf;

/// MCP server of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredServer {
    /// Name: `slack`.
    pub name: String,
    /// Configuration of the server.
    pub config: McpServer,
    /// File that configures it.
    pub file: PathBuf,
    /// Folder that its paths are relative to.
    pub folder: PathBuf,
    /// Acceptance that it needs.
    pub acceptance: Acceptance,
}

impl ConfiguredServer {
    /// Reason why the server may not be started, if there is one.
    pub fn obstacle(&self) -> Option<String> {
        let file = self.file.display();
        match &self.config.unsupported {
            Some(reason) => return Some(format!("{file}: {}: {reason}", self.config.place)),
            None if !self.config.enabled => return Some(format!("it is switched off at {}", self.switch())),
            None => {}
        }
        self.acceptance.obstacle()
    }

    /// Position of the setting that switches it off: its own, or the one for all servers.
    pub fn switch(&self) -> String {
        let place = self.config.off_at.as_deref().unwrap_or(&self.config.place);
        // A position in another file already includes the file.
        if place.starts_with('$') { format!("{}: {place}", self.file.display()) } else { place.to_owned() }
    }
}

impl ConfiguredServer {
    /// As [`ConfiguredServer::obstacle`], for agents: without text from the configuration.
    pub fn obstacle_for_agents(&self) -> Option<&'static str> {
        match self.acceptance.status {
            _ if self.config.unsupported.is_some() => Some("it cannot be used; `agent-spaces doctor` says why"),
            _ if !self.config.enabled => Some("it is switched off"),
            Status::Accepted => None,
            Status::New => Some("its user has not accepted it yet: `agent-spaces trust`"),
            Status::Changed => Some("it has changed since its user accepted it: `agent-spaces trust`"),
        }
    }
}

impl ConfiguredServer {
    /// Returns true if its command or address differs from that of its lock entry, so that its tools are refused. Another
    /// package version does not count.
    pub fn differs_from(&self, accepted: &LockedServer) -> bool {
        compare(accepted, &self.moved(accepted)).iter().any(Change::is_breaking)
    }

    /// Returns its lock entry with the command or address that it has now.
    pub fn moved(&self, accepted: &LockedServer) -> LockedServer {
        let endpoint = locked_endpoint(self);
        let package = match &endpoint {
            LockedEndpoint::Stdio { command, args } => package_of(command, args),
            LockedEndpoint::Remote { .. } => None,
        };
        LockedServer { endpoint, package, ..accepted.clone() }
    }

    /// Returns true if this is the same server, possibly with another configuration.
    pub(super) fn is_same(&self, other: &ConfiguredServer) -> bool {
        (&self.name, &self.file, &self.folder) == (&other.name, &other.file, &other.folder)
    }

    /// Specifier that scripts import.
    pub fn specifier(&self) -> String {
        format!("@{}/{}", capability_gen::compile::NAMESPACE, self.module_name())
    }

    /// Label and package of its capability, which are known without its tools.
    pub fn capability(&self) -> UnknownCapability {
        let label = names::js_binding(&names::camel(&self.name));
        let package = format!("{}:{}", capability_gen::compile::NAMESPACE, self.module_name());
        UnknownCapability { label, package }
    }

    fn module_name(&self) -> String {
        names::module_name(&format!("mcp-{}", self.name))
    }
}
