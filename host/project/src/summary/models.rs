//! Summary of where conversations with models go, for the user who accepts a file.

use super::startup::{MAX_LINE, address, note, variables};
use agent_spaces_config::{Agent, AgentPrompt, ModelProvider, Raw};
use agent_spaces_types::command_line::{cut, word};
use std::collections::BTreeMap;

/// Lists the hosts that conversations are sent to, one line a provider, with the variables that are read for its key.
/// Values are never shown.
pub fn opens_models(models: &BTreeMap<String, ModelProvider>) -> Vec<String> {
    models.iter().map(|(name, provider)| cut(line(name, provider), MAX_LINE)).collect()
}

fn line(name: &str, provider: &ModelProvider) -> String {
    let texts = provider.headers.values().chain(&provider.api_key).chain([&provider.base_url]);
    let read = note("reads", variables(texts.map(Raw::expose)));
    let sent = note("sends headers", provider.headers.keys().map(|name| word(name)));
    let notes = read.into_iter().chain(sent).collect::<Vec<_>>().join("; ");
    let notes = if notes.is_empty() { notes } else { format!(" ({notes})") };
    format!("models of {}: conversations are sent to {}{notes}", word(name), address(provider.base_url.expose()))
}

/// Lists the files that are sent to models as prompts.
pub(super) fn prompt_files(agents: &BTreeMap<String, Agent>) -> Vec<String> {
    let line = |(name, agent): (&String, &Agent)| match &agent.prompt {
        Some(AgentPrompt::File(file)) => Some(format!("agent {}: {} is sent as its prompt", word(name), word(file))),
        Some(AgentPrompt::Text(_)) | None => None,
    };
    agents.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use crate::summary::opens;
    use agent_spaces_config::from_value;
    use serde_json::json;

    #[test]
    fn hosts_and_variables_of_models_are_listed_without_values() {
        let config = from_value(
            "f",
            json!({
                "models": {
                    "anthropic": { "apiKey": "${ANTHROPIC_API_KEY}" },
                    "ollama": {},
                    "work": {
                        "api": "openai-chat", "baseUrl": "https://user:hunter2@models.example/v1?key=hunter2",
                        "apiKey": "hunter2hunter2", "headers": { "X-Team": "${TEAM}" },
                    },
                },
                "agents": {
                    "planner": { "models": ["anthropic/x"], "promptFile": "~/notes.md" },
                    "writer": { "models": ["anthropic/x"], "prompt": "Write." },
                },
            }),
        )
        .unwrap();
        assert_eq!(
            opens(&config),
            [
                "models of anthropic: conversations are sent to https://api.anthropic.com/v1 (reads ANTHROPIC_API_KEY)",
                "models of ollama: conversations are sent to http://127.0.0.1:11434/api",
                "models of work: conversations are sent to https://models.example/v1 (reads TEAM; sends headers X-Team)",
                "agent planner: ~/notes.md is sent as its prompt",
            ]
        );
    }
}
