//! Module of the configured agents: each agent is a capability, whose functions ask it.

use super::recipe::{Naming, Recipe};
use super::{DefinedModule, DefinitionBody, DefinitionFile};
use crate::error::ProjectError;
use crate::outline_cache::Outlines;
use agent_spaces_config::{Agent, Config, Entry};
use agent_spaces_providers::{ASK, AgentFunction, AgentProvider, Agents};
use capability_gen::compile::NAMESPACE;
use capability_gen::sources::Format;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Name of the module in its namespace.
const MODULE: &str = "agents";

/// Functions of agents as the configuration has them, by agent.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentFunctions(BTreeMap<String, BTreeMap<String, AgentFunction>>);

impl AgentFunctions {
    fn of(config: &Config) -> AgentFunctions {
        let function = |function: &agent_spaces_config::AgentFunction| AgentFunction {
            description: function.description.clone().unwrap_or_default(),
            result: function.result.clone(),
        };
        let functions = |agent: &Agent| agent.functions.iter().map(|(name, it)| (name.clone(), function(it))).collect();
        AgentFunctions(config.agents.iter().map(|(name, agent)| (name.clone(), functions(agent))).collect())
    }

    /// Provider of one agent's functions.
    pub(crate) fn provider(&self, agent: &str, agents: Option<Arc<dyn Agents>>) -> AgentProvider {
        AgentProvider::new(agent, self.0.get(agent).cloned().unwrap_or_default(), agents)
    }
}

/// Returns true if an entry grants a space the agents.
pub(super) fn is_named(config: &Config) -> bool {
    let spaces = config.spaces.values().flat_map(|space| &space.capabilities);
    let specifier = specifier();
    config.global.iter().chain(spaces).any(|entry| matches!(entry, Entry::Module(name) if *name == specifier))
}

fn specifier() -> String {
    format!("@{NAMESPACE}/{MODULE}")
}

/// Definition of the module of the configured agents; `None` without agents. A space is given it like any other: an
/// entry of the configuration has to name it.
pub(super) fn definition(config: &Config, outlines: &Outlines) -> Result<Option<DefinitionFile>, ProjectError> {
    if config.agents.is_empty() {
        return Ok(None);
    }
    let specifier = specifier();
    let file = Path::new(&config.file);
    let naming = Naming { specifier: Some(specifier.clone()), format: Some(Format::Tool), ..Naming::default() };
    let text = Value::Array(config.agents.iter().map(|(name, agent)| tool(name, agent)).collect()).to_string();
    let recipe = Recipe {
        // Errors show the agents as a file of their own. They are JSON, whatever the configuration is.
        file: format!("{} (agents)", config.file),
        stem: MODULE.to_owned(),
        package: None,
        ..Recipe::of(file, text, naming, None)
    };
    let Some(outline) = recipe.outline(outlines)? else { return Ok(None) };
    let body = DefinitionBody::Module(Box::new(DefinedModule { outline, is_define_tool: false, recipe }));
    let mut definition = DefinitionFile::new(file, vec![specifier], None, body);
    definition.agents = Some(Arc::new(AgentFunctions::of(config)));
    Ok(Some(definition))
}

/// An agent as a tool definition.
fn tool(name: &str, agent: &Agent) -> Value {
    let mut functions = Map::new();
    if !agent.functions.contains_key(ASK) {
        functions.insert(ASK.to_owned(), ask());
    }
    for (name, function) in &agent.functions {
        let mut members = Map::new();
        members.insert("description".to_owned(), json!(function.description.as_deref().unwrap_or_default()));
        if let Some(parameters) = &function.parameters {
            members.insert("parameters".to_owned(), parameters.clone());
        }
        members.insert("returns".to_owned(), function.result.clone().unwrap_or_else(text_result));
        functions.insert(name.clone(), Value::Object(members));
    }
    json!({ "name": name, "description": agent.description.as_deref().unwrap_or_default(), "functions": functions })
}

/// The function that every agent has.
fn ask() -> Value {
    json!({
        "description": "Asks the agent a question and waits for its answer. It knows nothing of earlier questions.",
        "parameters": {
            "type": "object",
            "properties": {
                "question": { "type": "string", "description": "The question, with everything that the agent must know" },
            },
            "required": ["question"],
            "additionalProperties": false,
        },
        "returns": text_result(),
    })
}

fn text_result() -> Value {
    json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "The answer" } },
        "required": ["text"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::definition;
    use crate::definitions::DefinitionBody;
    use crate::outline_cache::Outlines;
    use agent_spaces_types::provider_kind::ProviderKind;
    use serde_json::json;

    #[test]
    fn agents_are_one_module_with_a_capability_each() {
        let plan = json!({
            "description": "Plans a session",
            "parameters": { "type": "object", "properties": { "topic": { "type": "string" } }, "required": ["topic"] },
            "result": { "type": "object", "properties": { "steps": { "type": "array", "items": { "type": "string" } } } },
        });
        let config = json!({ "agents": {
            "planner": { "models": ["a/b"], "description": "Plans", "functions": { "planSession": plan } },
            "code-review": { "models": ["a/b"] },
        } });
        let config = agent_spaces_config::from_value("project.yaml", config).unwrap();
        let agents = definition(&config, &Outlines::none()).unwrap().unwrap();
        let DefinitionBody::Module(module) = &agents.body else { panic!("no module") };
        assert_eq!(module.outline.specifier, "@capabilities/agents");
        let labels: Vec<String> = module.outline.function_labels().collect();
        assert_eq!(labels, ["codeReview.ask", "planner.ask", "planner.planSession"]);
        let kind = agents.provider_kind(&module.outline.interfaces[0], "ask");
        assert_eq!(kind, Some(ProviderKind::Agent));
        assert_eq!(agents.unanswered(), None);
    }

    #[test]
    fn without_agents_there_is_no_module() {
        let config = agent_spaces_config::from_value("f", json!({})).unwrap();
        assert!(definition(&config, &Outlines::none()).unwrap().is_none());
    }
}
