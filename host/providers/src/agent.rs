//! Agent provider: an agent that answers calls of its functions.
//!
//! Agents are above this crate, and their spaces have this provider: so they are behind the trait [`Agents`], which the
//! host fills in once both exist. Calls that an agent makes are of its own runs; the calling run sees one call and one
//! answer.

use agent_spaces_calls::call::Call;
use agent_spaces_calls::provider::{Answering, Provider};
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::provider_kind::ProviderKind;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum depth of agents that call one another. Each level costs tokens of its own.
pub const MAX_AGENT_DEPTH: u8 = 8;

/// Function that every agent has.
pub const ASK: &str = "ask";

/// Host interface that answers the questions of calls.
pub trait Agents: Send + Sync + 'static {
    /// Asks an agent. The answer is `{ text }`, or what the schema allows. Dropping the future cancels the question.
    fn ask(&self, question: AgentQuestion) -> Answering;
}

/// Question that a call asks an agent.
#[derive(Debug)]
pub struct AgentQuestion {
    /// Name of the agent.
    pub agent: String,
    /// Text of the question.
    pub text: String,
    /// JSON Schema of the answer, if the function has a result of its own.
    pub schema: Option<Value>,
    /// The call. Its caller's depth is that of the run that makes it.
    pub call: Call,
}

/// Function of an agent, as the configuration has it.
#[derive(Clone, Debug, Default)]
pub struct AgentFunction {
    /// Description, for the agent.
    pub description: String,
    /// JSON Schema of its result; `None` for `{ text }`.
    pub result: Option<Value>,
}

/// Provider of one agent's functions.
pub struct AgentProvider {
    agent: String,
    /// By name. [`ASK`] is there only if the configuration has its own.
    functions: BTreeMap<String, AgentFunction>,
    /// `None` if the host has no agents.
    agents: Option<Arc<dyn Agents>>,
}

impl AgentProvider {
    /// Creates the provider of an agent's functions.
    pub fn new(
        agent: &str,
        functions: BTreeMap<String, AgentFunction>,
        agents: Option<Arc<dyn Agents>>,
    ) -> AgentProvider {
        AgentProvider { agent: agent.to_owned(), functions, agents }
    }

    async fn answer(&self, call: Call) -> Answer {
        let Some(agents) = &self.agents else {
            let why = "Agents are not available in this command: use `agent-spaces serve`, `mcp serve` or `agent`";
            return Err(CapabilityError::new(Code::CallUnavailable, why));
        };
        if call.caller.agent_depth >= MAX_AGENT_DEPTH {
            let why = format!("Agents nested too deep: more than {MAX_AGENT_DEPTH} would call one another");
            return Err(CapabilityError::new(Code::CallDenied, why));
        }
        let (text, schema) = self.question(&call)?;
        agents.ask(AgentQuestion { agent: self.agent.clone(), text, schema, call }).await
    }

    /// Returns the question of a call and the schema of its answer.
    fn question(&self, call: &Call) -> Result<(String, Option<Value>), CapabilityError> {
        let name = &*call.source_name;
        let Some(function) = self.functions.get(name) else {
            let text = call.params.get("question").and_then(Value::as_str).filter(|_| name == ASK);
            let unknown = || CapabilityError::new(Code::CallUnavailable, "The agent has no such function");
            return Ok((text.ok_or_else(unknown)?.to_owned(), None));
        };
        let params = serde_json::to_string_pretty(&call.params).unwrap_or_default();
        let purpose = match function.description.trim() {
            "" => String::new(),
            description => format!(" It is described as: {description}"),
        };
        let text = format!(
            "A program calls your function `{name}`.{purpose}\n\nDo what it asks for with these parameters, and answer \
             with its result:\n\n```json\n{params}\n```"
        );
        Ok((text, function.result.clone()))
    }
}

impl Provider for AgentProvider {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Agent
    }

    fn description(&self) -> String {
        format!("the agent {}", self.agent)
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        Box::pin(async move { self.answer(call).await })
    }
}
