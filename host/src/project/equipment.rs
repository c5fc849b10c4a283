//! What the calls of a project's spaces need of the process that makes them.

use crate::accounting::Accounting;
use crate::audit_trail::AuditHandle;
use crate::events::{Event, Observer};
use crate::mcp::McpClients;
use crate::pipeline::{Histories, Operator, ResultObserver, notice};
use agent_spaces_approvals::Channel;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Most texts that are remembered: a configuration that changes all the time must not fill the memory.
const MAX_TOLD: usize = 10_000;

/// Texts that were told already. Clones are one.
#[derive(Clone, Debug, Default)]
pub struct ToldOnce(Arc<Mutex<HashSet<String>>>);

impl ToldOnce {
    /// Whether this was never told before; from now on it was.
    pub fn is_new(&self, text: &str) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= MAX_TOLD {
            told.clear();
        }
        told.insert(text.to_owned())
    }
}

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
    /// Is shown every result that has no type, without secrets.
    pub results: Option<Arc<ResultObserver>>,
    /// Is told what only the operator may know of a refusal.
    pub operator: Option<Arc<Operator>>,
    /// What the operator was told of the configuration already: spaces are made again and again.
    pub told: ToldOnce,
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

    /// Tells the operator of something about the configuration, unless they were told before.
    pub(crate) fn tell_once(&self, text: &str) {
        if let Some(operator) = &self.operator
            && self.told.is_new(text)
        {
            operator(&notice(text));
        }
    }

    /// Tells every event to an observer.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Equipment {
        self.observer = Some(Arc::new(observer));
        self
    }
}
