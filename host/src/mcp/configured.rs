//! A server with the file it came from, and whether that file was accepted.

use crate::config::McpServer;
use crate::trust::Status;
use agent_spaces_policy::UnknownCapability;
use capability_gen::names;
use std::path::PathBuf;
use std::sync::Arc;

/// What is said of a server that is not used at all.
pub(crate) const SWITCHED_OFF: &str = "is switched off";

/// One MCP server of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfiguredServer {
    /// Its name: `slack`.
    pub name: String,
    /// How it is configured.
    pub config: McpServer,
    /// The file that configures it.
    pub file: PathBuf,
    /// The folder that its paths are relative to.
    pub folder: PathBuf,
    /// What its user must have accepted.
    pub acceptance: Acceptance,
}

/// A file that its user must accept, and whether that was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptance {
    /// The file.
    pub file: PathBuf,
    /// What was read from it: what is accepted is what was shown.
    pub text: Arc<str>,
    /// What its user has said of it.
    pub status: Status,
}

impl ConfiguredServer {
    /// Why nothing of it may be started, where that is so.
    pub fn obstacle(&self) -> Option<String> {
        let file = self.file.display();
        match &self.config.unsupported {
            Some(reason) => return Some(format!("{file}: {}: {reason}", self.config.place)),
            None if !self.config.enabled => return Some(format!("it is switched off at {}", self.switch())),
            None => {}
        }
        self.acceptance.obstacle()
    }

    /// Where it is switched off, if it is: its own switch, or one for all.
    pub fn switch(&self) -> String {
        let place = self.config.off_at.as_deref().unwrap_or(&self.config.place);
        // One that stands in another file says so itself.
        if place.starts_with('$') { format!("{}: {place}", self.file.display()) } else { place.to_owned() }
    }
}

impl ConfiguredServer {
    /// The same in words of ours alone: what a file says is for its user, and no agent's.
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

impl Acceptance {
    /// Why nothing of the file may be started, where that is so, and what its user can do.
    pub fn obstacle(&self) -> Option<String> {
        let file = self.file.display();
        match self.status {
            Status::Accepted => None,
            Status::New => Some(format!("{file} is not accepted yet: read it, then run `agent-spaces trust {file}`")),
            Status::Changed => {
                Some(format!("{file} has changed since it was accepted: read it, then run `agent-spaces trust {file}`"))
            }
        }
    }
}

impl ConfiguredServer {
    /// Whether this is the same server, however it is configured.
    pub(super) fn is_same(&self, other: &ConfiguredServer) -> bool {
        (&self.name, &self.file, &self.folder) == (&other.name, &other.file, &other.folder)
    }

    /// What scripts import it as.
    pub fn specifier(&self) -> String {
        format!("@{}/{}", capability_gen::compile::NAMESPACE, self.module_name())
    }

    /// What is known of its capability without its tools: what scripts call it, and its package.
    pub(crate) fn capability(&self) -> UnknownCapability {
        let label = names::js_binding(&names::camel(&self.name));
        let package = format!("{}:{}", capability_gen::compile::NAMESPACE, self.module_name());
        UnknownCapability { label, package }
    }

    fn module_name(&self) -> String {
        names::module_name(&format!("mcp-{}", self.name))
    }
}
