//! What the calls of a project's spaces need of the process that makes them.

use crate::accounting::Accounting;
use crate::audit_trail::AuditHandle;
use crate::events::{Event, Observer};
use crate::mcp::McpClients;
use crate::pipeline::{Histories, Operator};
use agent_spaces_approvals::Channel;
use std::path::PathBuf;
use std::sync::Arc;

/// What the calls of a project's spaces need of the process that makes them. By default there is nothing: no server is
/// started, nobody is asked, and nothing is written down.
#[derive(Clone, Default)]
pub struct Equipment {
    /// Connections to MCP servers; without them nobody answers for servers.
    pub clients: Option<McpClients>,
    /// Asks a person about calls that need approval.
    pub channel: Option<Arc<dyn Channel>>,
    /// Where every call is written down.
    pub accounting: Accounting,
    /// Is told of every event.
    pub observer: Option<Arc<Observer>>,
    /// Where every event is written.
    pub audit: Option<AuditHandle>,
    /// Is told what only the operator may know of a refusal.
    pub operator: Option<Arc<Operator>>,
    /// The folder in which calls of a day are counted, outside of every project. Without it they are counted for as
    /// long as the space lives.
    pub counts: Option<PathBuf>,
    /// The folder in which what workspaces hold is counted, for all processes together and outside of every project.
    /// Without it each space counts for itself.
    pub workspace_counts: Option<PathBuf>,
    /// The calls that spaces had before, where they are made anew while they are in use; otherwise each begins anew.
    pub histories: Option<Histories>,
    /// The folder that `fs` sees, in place of the one that the configuration names.
    pub workspace: Option<PathBuf>,
}

impl Equipment {
    /// Connections to MCP servers and nothing else.
    pub fn with_clients(clients: &McpClients) -> Equipment {
        Equipment { clients: Some(clients.clone()), ..Equipment::default() }
    }

    /// Tells every event to an observer.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Equipment {
        self.observer = Some(Arc::new(observer));
        self
    }
}
