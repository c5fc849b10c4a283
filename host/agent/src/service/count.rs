//! Token count of a request, for surfaces that offer it.

use super::AgentService;
use crate::error::AgentError;
use crate::prompt::system_prompt;
use agent_spaces_models::{Message, Request, Tool};

impl AgentService {
    /// About how many tokens the first model of an agent has for a conversation. The agent's own tools are not counted:
    /// what they are is known when a question is asked. It takes time in proportion to the conversation.
    ///
    /// # Errors
    /// [`AgentError::UnknownAgent`], [`AgentError::Configuration`].
    pub fn count_tokens(
        &self,
        agent: &str,
        messages: Vec<Message>,
        system: Option<String>,
        tools: Vec<Tool>,
    ) -> Result<u64, AgentError> {
        let agent = self.agent(agent)?;
        let no_model =
            || AgentError::Configuration(format!("agent {:?} has no model: name one in `models`", agent.name));
        let target = agent.models.first().ok_or_else(no_model)?;
        let system = system_prompt(&agent.prompt, &[], system.as_deref(), &agent.output);
        let request = Request { system: Some(system), messages, tools, ..Request::default() };
        Ok(self.0.guard.for_question().request(target, &request))
    }
}
