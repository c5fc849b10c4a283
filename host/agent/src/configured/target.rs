//! Resolution of a model target: base URL, API key, headers, settings.

use super::ConfiguredAgents;
use crate::error::AgentError;
use crate::model::{ModelTarget, Price, Window};
use agent_spaces_config::{Decimal, ModelApi, ModelChoice, ModelProvider, ModelSettings, Raw, ToolChoiceSetting};
use agent_spaces_models::{Api, Header, Provider, ToolChoice, ollama_base_url};
use agent_spaces_secrets::{Expanded, MAX_SECRET, Secret, expand, secret_value, secrets_in_url};
use serde_json::{Map, Value};
use std::time::Duration;
use url::Url;

/// Timeout of providers that set none: long reasoning before the first token is common.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);

/// Resolves the target of a model.
pub(super) fn target(
    agents: &ConfiguredAgents,
    choice: &ModelChoice,
    provider: &ModelProvider,
) -> Result<ModelTarget, AgentError> {
    let usual = ModelSettings::default();
    let model = provider.models.get(&choice.model).unwrap_or(&usual);
    let filling = Filling { agents, place: &provider.place };
    let base_url = filling.base_url(provider)?;
    let is_openrouter = choice.provider == "openrouter" || base_url.host_str() == Some("openrouter.ai");
    let window = Window::default();
    let mut options = provider.options.clone();
    merge(&mut options, &model.options);
    let tokens = match provider.api {
        ModelApi::Ollama => ollama_window(model.context_window, &mut options),
        _ => model.context_window,
    };
    Ok(ModelTarget {
        provider: Provider {
            name: choice.provider.clone(),
            api: api(provider.api),
            base_url,
            key: filling.key(provider)?,
            headers: filling.headers(provider)?,
            timeout: provider.timeout.unwrap_or(DEFAULT_TIMEOUT),
            openrouter: is_openrouter && provider.api == ModelApi::OpenaiChat,
        },
        model: choice.model.clone(),
        window: Window {
            tokens: tokens.unwrap_or(window.tokens),
            buffer: model.context_window_buffer_tokens.unwrap_or(window.buffer),
            tokenizer: model.tokenizer.clone(),
        },
        max_output_tokens: model.max_output_tokens,
        temperature: model.temperature.map(Decimal::get),
        top_p: model.top_p.map(Decimal::get),
        tool_choice: model.tool_choice.or(provider.tool_choice).map(tool_choice),
        options,
        stream: provider.stream.unwrap_or(true),
        price: model.price.map(|price| Price {
            input: price.input.get(),
            output: price.output.get(),
            cached: price.cached.map(Decimal::get),
            cache_write: price.cache_write.map(Decimal::get),
        }),
    })
}

fn api(api: ModelApi) -> Api {
    match api {
        ModelApi::OpenaiResponses => Api::OpenaiResponses,
        ModelApi::OpenaiChat => Api::OpenaiChat,
        ModelApi::Anthropic => Api::Anthropic,
        ModelApi::Gemini => Api::Gemini,
        ModelApi::Ollama => Api::Ollama,
    }
}

fn tool_choice(choice: ToolChoiceSetting) -> ToolChoice {
    match choice {
        ToolChoiceSetting::Auto => ToolChoice::Auto,
        ToolChoiceSetting::Required => ToolChoice::Required,
    }
}

/// Ollama cuts what is longer than `num_ctx` of the request without a word. So that is the window, and a window that is
/// configured is sent as it.
fn ollama_window(configured: Option<u64>, options: &mut Map<String, Value>) -> Option<u64> {
    let given = options.get("options").and_then(|options| options.get("num_ctx")).and_then(Value::as_u64);
    match (configured, given.filter(|given| *given > 0)) {
        (Some(configured), Some(given)) => Some(configured.min(given)),
        (None, given) => given,
        (Some(configured), None) => {
            let options = options.entry("options").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(options) = options {
                options.entry("num_ctx").or_insert(Value::from(configured));
            }
            Some(configured)
        }
    }
}

/// Adds options to others. Objects are merged; the configuration's reader limits their depth.
fn merge(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Object(into)), Value::Object(from)) => merge(into, from),
            _ => drop(into.insert(key.clone(), value.clone())),
        }
    }
}

/// Fills in the variables of a provider.
struct Filling<'a> {
    agents: &'a ConfiguredAgents,
    /// Path of the provider in its file.
    place: &'a str,
}

impl Filling<'_> {
    fn error(&self, member: &str, message: impl std::fmt::Display) -> AgentError {
        AgentError::Configuration(format!("{}: {}.{member}: {message}", self.agents.file, self.place))
    }

    fn expand(&self, member: &str, raw: &Raw) -> Result<Expanded, AgentError> {
        expand(raw.expose(), &self.agents.variables).map_err(|error| self.error(member, error))
    }

    /// The key. An empty one is none.
    fn key(&self, provider: &ModelProvider) -> Result<Option<Secret>, AgentError> {
        let Some(raw) = &provider.api_key else { return Ok(None) };
        let Expanded { text, values, .. } = self.expand("apiKey", raw)?;
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        if text.len() > MAX_SECRET {
            return Err(self.error("apiKey", format!("the key is longer than {MAX_SECRET} bytes")));
        }
        let key = Secret::new(text);
        // The redactor ignores short ones: servers without keys are given words such as `none`.
        values.iter().chain([&key]).for_each(|secret| self.agents.redactor.add(secret));
        Ok(Some(key))
    }

    fn headers(&self, provider: &ModelProvider) -> Result<Vec<Header>, AgentError> {
        let mut headers = Vec::new();
        for (name, raw) in &provider.headers {
            let member = format!("headers.{name}");
            let expanded = self.expand(&member, raw)?;
            if expanded.text.is_empty() {
                continue;
            }
            let resolved = secret_value(name, expanded, &[]).map_err(|error| self.error(&member, error))?;
            resolved.secrets.iter().for_each(|secret| self.agents.redactor.add(secret));
            headers.push(Header { name: name.clone(), value: resolved.value });
        }
        Ok(headers)
    }

    /// The base URL. Errors do not quote it: it may hold a password.
    fn base_url(&self, provider: &ModelProvider) -> Result<Url, AgentError> {
        let Expanded { text, values, .. } = self.expand("baseUrl", &provider.base_url)?;
        values.iter().chain(&secrets_in_url(&text)).for_each(|secret| self.agents.redactor.add(secret));
        if provider.api == ModelApi::Ollama {
            return ollama_base_url(&text).map_err(|error| self.error("baseUrl", error));
        }
        match Url::parse(text.trim()) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
            Ok(_) => Err(self.error("baseUrl", "expected a URL that starts with `https://` or `http://`")),
            Err(error) => Err(self.error("baseUrl", error)),
        }
    }
}
