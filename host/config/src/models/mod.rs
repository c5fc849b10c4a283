//! Providers of language models (`models`): wire format, key, address and models of each.
//!
//! - `api`: wire formats, and what is known of providers by their name
//! - `model`: settings of one model
//!
//! Nothing here reads variables: keys, addresses and headers are expanded when an agent is made.

mod api;
mod model;
#[cfg(test)]
mod tests;

pub use api::ModelApi;
pub use model::{ModelPrice, ModelSettings, ToolChoiceSetting};
pub(super) use model::{check_model, read_output_tokens, read_temperature, read_top_p};

use super::mcp_server::read_headers;
use super::names::check_name;
use super::quantity::read_duration;
use super::raw::Raw;
use super::reader::{Node, Result};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// Maximum number of providers, and of models of one. A person wrote them.
const MAX_PROVIDERS: usize = 100;
const MAX_MODELS: usize = 1_000;

/// Provider of models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelProvider {
    /// Path in the configuration, such as `$.models.openai`.
    pub place: String,
    /// Wire format.
    pub api: ModelApi,
    /// Key, `${VAR}` not yet expanded.
    pub api_key: Option<Raw>,
    /// Base URL, `${VAR}` not yet expanded.
    pub base_url: Raw,
    /// Headers of every request, `${VAR}` not yet expanded.
    pub headers: BTreeMap<String, Raw>,
    /// Timeout of an answer; with streaming, of the time between two chunks.
    pub timeout: Option<Duration>,
    /// True if answers are streamed; the default.
    pub stream: Option<bool>,
    /// Tool choice of its models.
    pub tool_choice: Option<ToolChoiceSetting>,
    /// Members that are added to the body of a request.
    pub options: Map<String, Value>,
    /// Settings of models by their names at the provider.
    pub models: BTreeMap<String, ModelSettings>,
}

const KEYS: &[&str] = &["api", "apiKey", "baseUrl", "headers", "timeout", "stream", "toolChoice", "options", "models"];

impl ModelProvider {
    /// A provider that is known by its name alone, with its usual variable for the key. It is for names that a person
    /// gives on a command line: a configuration says itself which variables it reads.
    pub fn well_known(name: &str) -> Option<ModelProvider> {
        let known = api::known(name)?;
        Some(ModelProvider {
            place: format!("$.models.{name}"),
            api: known.api,
            api_key: known.key_variable.map(|variable| Raw::new(format!("${{{variable}}}"))),
            base_url: Raw::new(known.base_url),
            headers: BTreeMap::new(),
            timeout: None,
            stream: None,
            tool_choice: None,
            options: Map::new(),
            models: BTreeMap::new(),
        })
    }

    pub(super) fn read(name: &str, node: Node<'_>) -> Result<ModelProvider> {
        let object = node.object("a provider of models", KEYS)?;
        let known = api::known(name);
        let given = object.read("api", |node| node.choice("wire format", &api::APIS))?;
        let Some(api) = given.or(known.map(|known| known.api)) else {
            let fix = "write one of \"openai-responses\", \"openai-chat\", \"anthropic\", \"gemini\", \"ollama\"";
            return Err(node.error("the key `api` is missing, and the provider's name implies none").with_fix(fix));
        };
        let base_url = match object.read("baseUrl", read_base_url)? {
            Some(url) => url,
            None => match api::default_base_url(known, api) {
                Some(url) => Raw::new(url),
                None => {
                    let fix = "write the URL that `/chat/completions` is appended to";
                    return Err(node.error("the key `baseUrl` is missing").with_fix(fix));
                }
            },
        };
        Ok(ModelProvider {
            place: node.path.to_string(),
            api,
            api_key: object.read("apiKey", read_key)?,
            base_url,
            headers: object.read("headers", read_headers)?.unwrap_or_default(),
            timeout: object.read("timeout", read_duration)?,
            stream: object.read("stream", |node| node.flag())?,
            tool_choice: object.read("toolChoice", ToolChoiceSetting::read)?,
            options: object.read("options", read_options)?.unwrap_or_default(),
            models: object.read("models", read_models)?.unwrap_or_default(),
        })
    }
}

/// Reads the `models` object.
pub(super) fn read_providers(node: Node<'_>) -> Result<BTreeMap<String, ModelProvider>> {
    let providers = node.map("an object of providers of models", |name, node| {
        check_name(&node.path, "a provider", name)?;
        ModelProvider::read(name, node)
    })?;
    match providers.len() <= MAX_PROVIDERS {
        true => Ok(providers),
        false => Err(node.error(format!("more than {MAX_PROVIDERS} providers"))),
    }
}

fn read_models(node: Node<'_>) -> Result<BTreeMap<String, ModelSettings>> {
    let models = node.map("an object of models", |name, node| {
        check_model(&node, name)?;
        ModelSettings::read(node)
    })?;
    match models.len() <= MAX_MODELS {
        true => Ok(models),
        false => Err(node.error(format!("more than {MAX_MODELS} models"))),
    }
}

/// Reads a key. Errors do not quote it.
fn read_key(node: Node<'_>) -> Result<Raw> {
    let text = node.filled_text("a key, such as \"${OPENAI_API_KEY}\"")?;
    match text.contains(['\r', '\n']) {
        true => Err(node.error("a key must be one line")),
        false => Ok(Raw::new(text)),
    }
}

fn read_base_url(node: Node<'_>) -> Result<Raw> {
    let text = node.filled_text("a URL")?;
    // A scheme in a variable is not known yet.
    let is_http = ["https://", "http://", "${"].iter().any(|start| text.starts_with(start));
    if !is_http {
        return Err(node.error("expected a URL that starts with `https://` or `http://`"));
    }
    if text.contains(|character: char| character.is_ascii_control() || character == ' ') {
        return Err(node.error("a URL cannot contain spaces or control characters"));
    }
    Ok(Raw::new(text))
}

/// Reads options of a provider, which are passed on as they stand.
pub(super) fn read_options(node: Node<'_>) -> Result<Map<String, Value>> {
    node.value.as_object().cloned().ok_or_else(|| node.expected("an object of options"))
}
