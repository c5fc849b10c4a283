//! Source of agents and their tools.

use super::AgentService;
use super::question::Nesting;
use crate::approver::Approver;
use crate::definition::AgentDefinition;
use crate::error::AgentError;
use crate::tools::Tools;
use agent_spaces_http_server::Client;
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;

/// The agents of a project and the tools that they have.
pub trait AgentSource: Send + Sync {
    /// All agents, sorted by name.
    fn agents(&self) -> Vec<AgentSummary>;

    /// One agent.
    fn definition(&self, name: &str) -> Option<Arc<AgentDefinition>>;

    /// Refuses a caller that may not ask an agent. Every caller may ask every agent, unless a source says otherwise.
    ///
    /// # Errors
    /// [`AgentError::Denied`].
    fn check(&self, _agent: &AgentDefinition, _client: &Client) -> Result<(), AgentError> {
        Ok(())
    }

    /// The tools of an agent for a caller. Calls that need a person ask `approver`, which tells whoever watches the
    /// question. Tools that ask other agents ask with a parent of `nesting`, so that agents that call one another end.
    fn tools<'a>(
        &'a self,
        agent: &'a AgentDefinition,
        client: &'a Client,
        approver: Arc<dyn Approver>,
        nesting: Nesting,
    ) -> BoxFuture<'a, Result<Arc<dyn Tools>, AgentError>>;
}

/// Name and description of an agent, for the choice among agents.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgentSummary {
    /// Its name.
    pub name: String,
    /// Description.
    pub description: String,
    /// JSON Schema of its answers, if they are JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

impl AgentService {
    /// Agents that a caller may ask, sorted by name.
    pub fn agents_of(&self, client: &Client) -> Vec<AgentSummary> {
        let mut agents = self.agents();
        agents.retain(|agent| {
            let definition = self.0.source.definition(&agent.name);
            definition.is_some_and(|definition| self.0.source.check(&definition, client).is_ok())
        });
        agents
    }
}
