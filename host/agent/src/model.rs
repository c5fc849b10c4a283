//! A model that an agent can ask.

use agent_spaces_models::{Answer, Client, ModelError, Provider, Request, ToolChoice, Watch};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

/// A model at a provider, with what is known of it.
#[derive(Clone, Debug)]
pub struct ModelTarget {
    /// Where it is.
    pub provider: Provider,
    /// Its name there.
    pub model: String,
    /// Its context window.
    pub window: Window,
    /// Bound on the tokens of an answer; the agent's own bound comes first.
    pub max_output_tokens: Option<u32>,
    /// Temperature and nucleus, where they override the agent's.
    pub temperature: Option<f64>,
    /// See `temperature`.
    pub top_p: Option<f64>,
    /// Whether tools are `auto` or `required`, where the configuration says.
    pub tool_choice: Option<ToolChoice>,
    /// Options of the provider, added to the body as they stand.
    pub options: Map<String, Value>,
    /// Whether answers are streamed.
    pub stream: bool,
    /// Price of its tokens.
    pub price: Option<Price>,
}

impl ModelTarget {
    /// `provider/model`, for people and telemetry.
    pub fn label(&self) -> String {
        format!("{}/{}", self.provider.name, self.model)
    }
}

/// A context window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens of request and answer together.
    pub tokens: u64,
    /// Tokens that are left free.
    pub buffer: u64,
    /// Name of the tokenizer: `tiktoken:…`, `anthropic`, `gemini`; others are estimated.
    pub tokenizer: Option<String>,
}

impl Default for Window {
    fn default() -> Self {
        // The smallest window of common large models. A smaller one has to be configured.
        Window { tokens: 131_072, buffer: 256, tokenizer: None }
    }
}

/// Price of a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Of the request.
    pub input: f64,
    /// Of the answer.
    pub output: f64,
    /// Of the request, read from the provider's cache; as `input` where absent.
    pub cached: Option<f64>,
    /// Of the request, written into that cache; as `input` where absent.
    pub cache_write: Option<f64>,
}

/// Asks models. [`Client`] does; tests and replays have their own.
pub trait LanguageModel: Send + Sync {
    /// Asks the model of a target. Dropping the future cancels the request.
    fn answer<'a>(
        &'a self,
        target: &'a ModelTarget,
        request: &'a Request,
        watch: &'a mut Watch<'_>,
    ) -> BoxFuture<'a, Result<Answer, ModelError>>;
}

impl LanguageModel for Client {
    fn answer<'a>(
        &'a self,
        target: &'a ModelTarget,
        request: &'a Request,
        watch: &'a mut Watch<'_>,
    ) -> BoxFuture<'a, Result<Answer, ModelError>> {
        Box::pin(Client::answer(self, &target.provider, request, watch))
    }
}
