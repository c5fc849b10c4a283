//! Agents by caller.

use crate::commands::serving::agents::ServedAgents;
use crate::commands::serving::source::Source;
use agent_spaces::agent::{AgentDefinition, AgentError, AgentSource, AgentSummary, Approver, Nesting, ToolMode, Tools};
use agent_spaces::config::Config;
use agent_spaces::serve::Client;
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// Agents whose spaces a caller is given. An agent has the functions of its space, so that a caller without the space
/// cannot ask it.
pub(super) struct AllowedAgents {
    pub(super) agents: ServedAgents,
    pub(super) source: Arc<Source>,
}

/// Prefix of the names of callers in Slack. No caller of a configuration has a colon in its name.
const SLACK: &str = "slack:";

/// Returns the spaces that a caller is given; `None` if there is no such caller. People in Slack are given the space of
/// the agent that answers there, also where that agent asks others.
fn of_caller<'a>(config: &'a Config, name: &str, served: Option<&'a str>) -> Option<Vec<Option<&'a str>>> {
    if name.starts_with(SLACK) {
        let agent = config.agents.get(&config.slack.as_ref()?.agent);
        return Some(vec![agent.and_then(|agent| agent.space.as_deref()).or(served)]);
    }
    let spaces = &config.serve.callers.get(name)?.spaces;
    Some(match spaces.is_empty() {
        true => vec![served],
        false => spaces.iter().map(|space| Some(space.as_str())).collect(),
    })
}

impl AgentSource for AllowedAgents {
    fn agents(&self) -> Vec<AgentSummary> {
        self.agents.agents()
    }

    fn definition(&self, name: &str) -> Option<Arc<AgentDefinition>> {
        self.agents.definition(name)
    }

    fn check(&self, agent: &AgentDefinition, client: &Client) -> Result<(), AgentError> {
        let loaded = self.source.loaded();
        let (Some(project), Some(name)) = (loaded.project(), &client.caller().name) else { return Ok(()) };
        let (config, served) = (project.config(), self.source.space());
        let space = match agent.tools {
            // It has no functions, of whatever space.
            ToolMode::Off => None,
            ToolMode::Code | ToolMode::Direct | ToolMode::Auto => Some(agent.space.as_deref().or(served)),
        };
        let is_given = match of_caller(config, name, served) {
            Some(given) => space.is_none_or(|space| given.contains(&space)),
            // A caller that the configuration no longer has is given nothing.
            None => false,
        };
        if is_given {
            return Ok(());
        }
        let fix = match name.starts_with(SLACK) {
            true => "people in Slack have that of `slack.agent` alone",
            false => "the operator can add it to `spaces` of the caller",
        };
        Err(AgentError::Denied(format!("this caller is not given the space of agent {:?}: {fix}", agent.name)))
    }

    fn tools<'a>(
        &'a self,
        agent: &'a AgentDefinition,
        client: &'a Client,
        approver: Arc<dyn Approver>,
        nesting: Nesting,
    ) -> BoxFuture<'a, Result<Arc<dyn Tools>, AgentError>> {
        match self.check(agent, client) {
            Ok(()) => self.agents.tools(agent, client, approver, nesting),
            Err(denied) => Box::pin(std::future::ready(Err(denied))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::of_caller;
    use agent_spaces::config::from_value;
    use serde_json::json;

    #[test]
    fn a_caller_has_its_spaces_and_slack_has_that_of_its_agent() {
        let config = json!({
            "spaces": { "support": {}, "sales": {} },
            "agents": { "planner": { "models": ["a/b"], "space": "support" } },
            "serve": { "callers": {
                "ci": { "token": { "env": "CI" }, "spaces": ["sales"] }, "desk": { "token": { "env": "DESK" } },
            } },
            "slack": { "appToken": "${APP}", "botToken": "${BOT}", "agent": "planner" },
        });
        let mut config = from_value("f", config).unwrap();
        assert_eq!(of_caller(&config, "ci", Some("support")), Some(vec![Some("sales")]));
        assert_eq!(of_caller(&config, "desk", Some("sales")), Some(vec![Some("sales")]));
        assert_eq!(of_caller(&config, "desk", None), Some(vec![None]));
        assert_eq!(of_caller(&config, "gone", None), None);
        assert_eq!(of_caller(&config, "slack:T1", Some("sales")), Some(vec![Some("support")]));
        config.agents.clear();
        assert_eq!(of_caller(&config, "slack:T1", Some("sales")), Some(vec![Some("sales")]));
        config.slack = None;
        assert_eq!(of_caller(&config, "slack:T1", Some("sales")), None);
    }
}
