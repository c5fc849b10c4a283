//! Models and defaults of `.ai-agent.json`. Its `mcpServers` are read like those of any other program.
//!
//! A provider is translated into ours and then read as ours is. What only its program knows is a warning.

use super::super::config_path::ConfigPath;
use super::super::decimal::Decimal;
use super::super::error::{ConfigError, quoted};
use super::super::json_text;
use super::super::models::{ModelProvider, read_temperature, read_top_p};
use super::super::names::is_name;
use super::super::reader::{Node, Result};
use super::{MAX_BYTES, jsonc};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// File name, in a project and in the home folder.
pub const AI_AGENT_FILE: &str = ".ai-agent.json";

/// Maximum number of providers and of warnings.
const MAX_PROVIDERS: usize = 100;
const MAX_WARNINGS: usize = 100;

/// Longest timeout, in milliseconds: a day.
const MAX_MILLISECONDS: u64 = 24 * 60 * 60 * 1_000;

/// Models and defaults of such a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AiAgent {
    /// Providers of models.
    pub models: BTreeMap<String, ModelProvider>,
    /// Timeout of one call of a tool.
    pub tool_timeout: Option<Duration>,
    /// Sampling temperature.
    pub temperature: Option<Decimal>,
    /// Nucleus sampling (`top_p`).
    pub top_p: Option<Decimal>,
    /// True if a model may ask for several calls at once.
    pub parallel_tool_calls: Option<bool>,
    /// Skipped providers and unknown settings.
    pub warnings: Vec<ConfigError>,
}

/// Reads the providers and defaults of an `.ai-agent.json`. `${VAR}` stays as written. Timeouts are in milliseconds.
pub fn read_ai_agent(file: &str, text: &str) -> Result<AiAgent> {
    if text.len() > MAX_BYTES {
        let message = format!("the file has {} bytes (limit {MAX_BYTES})", text.len());
        return Err(ConfigError::of_text(file, None, message));
    }
    let text = jsonc::to_json(text.strip_prefix('\u{feff}').unwrap_or(text));
    let value = json_text::read(file, &text)?;
    let root = Node { path: ConfigPath::root(file), value: &value };
    let members = value.as_object().ok_or_else(|| root.expected("an object with `providers`"))?;
    let mut found = AiAgent::default();
    let defaults = members.get("defaults").and_then(Value::as_object).cloned().unwrap_or_default();
    found.read_defaults(&root.path, &defaults);
    let path = root.path.key("providers");
    for (name, value) in members.get("providers").and_then(Value::as_object).into_iter().flatten() {
        let node = Node { path: path.key(name), value };
        match read_provider(name, node, &defaults, &mut found.warnings) {
            Ok(_) if found.models.len() >= MAX_PROVIDERS => {
                found.warnings.push(node.error(format!("provider skipped: there are more than {MAX_PROVIDERS}")));
            }
            Ok(provider) => drop(found.models.insert(name.clone(), provider)),
            Err(error) => {
                let message = format!("provider skipped: {}", error.message);
                found.warnings.push(ConfigError { message, ..error });
            }
        }
    }
    found.warnings.truncate(MAX_WARNINGS);
    Ok(found)
}

impl AiAgent {
    fn read_defaults(&mut self, root: &ConfigPath<'_>, defaults: &Map<String, Value>) {
        let path = root.key("defaults");
        let warnings = &mut self.warnings;
        let mut read = |key: &str, read: &mut dyn FnMut(Node<'_>) -> Result<()>| {
            let value = defaults.get(key).filter(|value| !value.is_null());
            if let Some(value) = value
                && let Err(error) = read(Node { path: path.key(key), value })
            {
                let message = format!("ignored: {}", error.message);
                warnings.push(ConfigError { message, ..error });
            }
        };
        read("toolTimeout", &mut |node| {
            self.tool_timeout = Some(Duration::from_millis(milliseconds(&node)?));
            Ok(())
        });
        read("temperature", &mut |node| {
            self.temperature = Some(read_temperature(node)?);
            Ok(())
        });
        read("topP", &mut |node| {
            self.top_p = Some(read_top_p(node)?);
            Ok(())
        });
        read("parallelToolCalls", &mut |node| {
            self.parallel_tool_calls = Some(node.flag()?);
            Ok(())
        });
    }
}

fn milliseconds(node: &Node<'_>) -> Result<u64> {
    let number = node.value.as_u64().filter(|number| (1..=MAX_MILLISECONDS).contains(number));
    number.ok_or_else(|| node.error(format!("expected milliseconds from 1 to {MAX_MILLISECONDS}")))
}

/// Reads a provider through its translation into ours.
fn read_provider(
    name: &str,
    node: Node<'_>,
    defaults: &Map<String, Value>,
    warnings: &mut Vec<ConfigError>,
) -> Result<ModelProvider> {
    if !is_name(name) {
        return Err(node.error(format!("{} cannot be the name of a provider", quoted(name))));
    }
    let given = node.value.as_object().ok_or_else(|| node.expected("a provider of models"))?;
    let mut ours = Map::new();
    if let Some(api) = api(name, given) {
        ours.insert("api".to_owned(), json!(api));
    }
    if let Some(timeout) = defaults.get("llmTimeout").and_then(Value::as_u64)
        && (1..=MAX_MILLISECONDS).contains(&timeout)
    {
        ours.insert("timeout".to_owned(), json!(format!("{timeout}ms")));
    }
    for (key, value) in given.iter().filter(|(_, value)| !value.is_null()) {
        match key.as_str() {
            // An empty value counts as absent.
            "apiKey" | "baseUrl" if value == "" => {}
            "apiKey" | "baseUrl" | "headers" | "toolChoice" => drop(ours.insert(key.clone(), value.clone())),
            "type" | "openaiMode" => {}
            "custom" => custom(name, value, &mut ours),
            "models" => drop(ours.insert("models".to_owned(), models(&node, value, defaults, warnings))),
            _ => warnings.push(node.path.key(key).error(format!("unknown key {}; it is ignored", quoted(key)))),
        }
    }
    ModelProvider::read(name, Node { path: node.path, value: &Value::Object(ours) })
}

/// Wire format of a provider, where its name does not imply it.
fn api(name: &str, given: &Map<String, Value>) -> Option<&'static str> {
    let text = |key: &str| given.get(key).and_then(Value::as_str);
    match text("type").unwrap_or(name) {
        "openai" if text("openaiMode") == Some("chat") => Some("openai-chat"),
        "openai" => Some("openai-responses"),
        "anthropic" => Some("anthropic"),
        "google" => Some("gemini"),
        "openrouter" | "openai-compatible" => Some("openai-chat"),
        "ollama" => Some("ollama"),
        // Whoever has another name and an address speaks chat completions.
        _ => given.contains_key("baseUrl").then_some("openai-chat"),
    }
}

/// Translates `custom`: whether answers are streamed, and Ollama's own options.
fn custom(name: &str, value: &Value, ours: &mut Map<String, Value>) {
    if let Some(stream @ Value::Bool(_)) = value.get("stream") {
        ours.insert("stream".to_owned(), stream.clone());
    }
    let options = value.get("providerOptions").and_then(|options| options.get(name));
    if let (true, Some(options @ Value::Object(_))) = (name == "ollama", options) {
        ours.insert("options".to_owned(), options.clone());
    }
}

/// Translates models: `overrides` are settings like the others, and the buffer has a default.
fn models(node: &Node<'_>, value: &Value, defaults: &Map<String, Value>, warnings: &mut Vec<ConfigError>) -> Value {
    let Some(models) = value.as_object() else { return value.clone() };
    let place = node.path.key("models");
    let translated = models.iter().map(|(name, given)| {
        let Some(given) = given.as_object() else { return (name.clone(), given.clone()) };
        let path = place.key(name);
        let mut ours = Map::new();
        let has_window = given.get("contextWindow").is_some_and(|window| !window.is_null());
        if let Some(buffer) = defaults.get("contextWindowBufferTokens").filter(|buffer| buffer.is_u64() && has_window) {
            ours.insert("contextWindowBufferTokens".to_owned(), buffer.clone());
        }
        let overrides = given.get("overrides").and_then(Value::as_object);
        for (key, value) in given.iter().chain(overrides.into_iter().flatten()).filter(|(_, value)| !value.is_null()) {
            match key.as_str() {
                "contextWindow"
                | "contextWindowBufferTokens"
                | "tokenizer"
                | "toolChoice"
                | "temperature"
                | "topP"
                | "maxOutputTokens" => drop(ours.insert(key.clone(), value.clone())),
                "top_p" => drop(ours.insert("topP".to_owned(), value.clone())),
                "overrides" => {}
                _ => warnings.push(path.key(key).error(format!("unknown key {}; it is ignored", quoted(key)))),
            }
        }
        (name.clone(), Value::Object(ours))
    });
    Value::Object(translated.collect())
}

#[cfg(test)]
mod tests {
    use super::{AiAgent, read_ai_agent};
    use crate::ModelApi;
    use serde_json::{Value, json};
    use std::time::Duration;

    fn found(value: Value) -> AiAgent {
        read_ai_agent("f", &value.to_string()).unwrap()
    }

    #[test]
    fn providers_become_models() {
        let found = found(json!({
            "providers": {
                "openai": { "apiKey": "${OPENAI_API_KEY}", "models": {
                    "gpt-5": { "contextWindow": 400_000, "tokenizer": "tiktoken:o200k_base", "overrides": { "temperature": null, "top_p": 0.5 } }
                } },
                "openrouter": { "apiKey": "${OPENROUTER_API_KEY}", "toolChoice": "auto" },
                "ollama": { "baseUrl": "http://localhost:11434/v1", "custom": {
                    "stream": false, "providerOptions": { "ollama": { "think": true, "options": { "num_ctx": 8192 } } }
                } },
                "vllm": { "baseUrl": "http://localhost:8000/v1" },
            },
            "mcpServers": { "x": { "command": "y" } },
            "defaults": { "llmTimeout": 30_000, "toolTimeout": 5_000, "temperature": 0.3, "parallelToolCalls": true, "contextWindowBufferTokens": 256 },
        }));
        assert!(found.warnings.is_empty(), "{:?}", found.warnings);
        let openai = &found.models["openai"];
        assert_eq!((openai.api, openai.timeout), (ModelApi::OpenaiResponses, Some(Duration::from_secs(30))));
        assert_eq!(openai.api_key.as_ref().unwrap().expose(), "${OPENAI_API_KEY}");
        let model = &openai.models["gpt-5"];
        assert_eq!((model.context_window, model.context_window_buffer_tokens), (Some(400_000), Some(256)));
        assert_eq!((model.temperature, model.top_p.unwrap().get()), (None, 0.5));
        assert_eq!(found.models["openrouter"].api, ModelApi::OpenaiChat);
        let ollama = &found.models["ollama"];
        assert_eq!((ollama.api, ollama.stream), (ModelApi::Ollama, Some(false)));
        assert_eq!(ollama.options["options"]["num_ctx"], 8192);
        assert_eq!(found.models["vllm"].api, ModelApi::OpenaiChat);
        assert_eq!((found.tool_timeout, found.temperature.unwrap().get()), (Some(Duration::from_secs(5)), 0.3));
        assert_eq!(found.parallel_tool_calls, Some(true));
    }

    #[test]
    fn what_cannot_be_read_is_a_warning_without_keys() {
        let found = found(json!({
            "providers": {
                "openai": { "apiKey": "hunter2", "future": 1, "models": { "m": { "odd": 1 } } },
                "elsewhere": { "apiKey": "hunter2" }, "google": { "apiKey": ["hunter2"] }, "a b": {}, "x": 1,
            },
            "defaults": { "toolTimeout": "soon", "temperature": 9 },
        }));
        assert_eq!(found.models.keys().collect::<Vec<_>>(), ["openai"]);
        assert_eq!(found.warnings.len(), 8, "{:?}", found.warnings);
        assert!(!format!("{found:?}").contains("hunter2"));
        assert!(read_ai_agent("f", "{").is_err() && read_ai_agent("f", "[]").is_err());
        assert_eq!(read_ai_agent("f", "{} // nothing").unwrap(), AiAgent::default());
    }
}
