//! Agents as a list of models.

use agent_spaces_agent::AgentSummary;
use serde_json::{Value, json};

/// Time at which models are said to be made: clients want one, and agents have none.
const CREATED: u64 = 1_735_689_600;

/// One agent.
pub(super) fn one(agent: &AgentSummary) -> Value {
    json!({ "id": agent.name, "object": "model", "created": CREATED, "owned_by": "agent-spaces" })
}

/// All agents.
pub(super) fn all(agents: &[AgentSummary]) -> Value {
    json!({ "object": "list", "data": agents.iter().map(one).collect::<Vec<_>>() })
}
