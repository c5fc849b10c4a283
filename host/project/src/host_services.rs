//! Services that a process provides to the calls of its spaces: MCP sessions, approvals, accounting, audit, notices.

use crate::mcp::McpClients;
use agent_spaces_approvals::Channel;
use agent_spaces_calls::events::Observer;
use agent_spaces_calls::operator_notices::{Operator, notice};
use agent_spaces_pipeline::accounting::Accounting;
use agent_spaces_pipeline::audit_trail::AuditHandle;
use agent_spaces_pipeline::{Histories, ResultObserver};
use agent_spaces_policy::CountStore;
use agent_spaces_providers::Agents;
use agent_spaces_types::event::Event;
use agent_spaces_types::told_once::ToldOnce;
use std::path::PathBuf;
use std::sync::Arc;

/// Services that a process provides to the calls of a project's spaces. By default there are none: no server is
/// started, no approval is asked for, and nothing is recorded.
#[derive(Clone, Default)]
pub struct Equipment {
    /// Sessions with MCP servers; without them calls of server tools fail.
    pub clients: Option<McpClients>,
    /// Asks a person about calls that need approval.
    pub channel: Option<Arc<dyn Channel>>,
    /// Record of every call.
    pub accounting: Accounting,
    /// Receives every event.
    pub observer: Option<Arc<Observer>>,
    /// Audit log that every event is written to.
    pub audit: Option<AuditHandle>,
    /// Receives every result without a declared type, with secrets redacted.
    pub results: Option<Arc<ResultObserver>>,
    /// Receives notices for the operator, such as the details of a refusal.
    pub operator: Option<Arc<Operator>>,
    /// Notices about the configuration that were already sent. Spaces are made again and again.
    pub told: ToldOnce,
    /// Folder of the daily call counts, outside of every project. Without it calls are counted for the life of the
    /// space.
    pub counts: Option<PathBuf>,
    /// Counts of calls that all hosts share, instead of those in the folder.
    pub shared_counts: Option<Arc<dyn CountStore>>,
    /// Folder of the workspace usage counts, shared by all processes and outside of every project. Without it each
    /// space counts for itself.
    pub workspace_counts: Option<PathBuf>,
    /// Call histories that a space keeps when it is rebuilt while in use; without them each space starts with an empty
    /// one.
    pub histories: Option<Histories>,
    /// Workspace folder for `fs`, in place of the configured one.
    pub workspace: Option<PathBuf>,
    /// Agents, which answer the functions of `@capabilities/agents`; without them its calls fail.
    pub agents: Option<Arc<dyn Agents>>,
}

impl Equipment {
    /// MCP sessions and no other service.
    pub fn with_clients(clients: &McpClients) -> Equipment {
        Equipment { clients: Some(clients.clone()), ..Equipment::default() }
    }

    /// Sends the operator a notice about the configuration, unless it was sent before.
    pub fn tell_once(&self, text: &str) {
        if let Some(operator) = &self.operator
            && self.told.is_new(text)
        {
            operator(&notice(text));
        }
    }

    /// Sends every event to an observer.
    #[must_use]
    pub fn with_observer(mut self, observer: impl Fn(&Event) + Send + Sync + 'static) -> Equipment {
        self.observer = Some(Arc::new(observer));
        self
    }
}
