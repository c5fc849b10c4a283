//! Model targets and the model interface.

use agent_spaces_models::{Answer, Client, ModelError, Provider, Request, ToolChoice, Watch};
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

/// Model at a provider, with its settings.
#[derive(Clone, Debug)]
pub struct ModelTarget {
    /// Provider.
    pub provider: Provider,
    /// Name of the model at the provider.
    pub model: String,
    /// Its context window.
    pub window: Window,
    /// Maximum output tokens; the agent's own setting takes precedence.
    pub max_output_tokens: Option<u32>,
    /// Temperature; overrides the agent's.
    pub temperature: Option<f64>,
    /// Nucleus sampling (top-p); overrides the agent's.
    pub top_p: Option<f64>,
    /// Tool choice, if it is configured.
    pub tool_choice: Option<ToolChoice>,
    /// Options of the provider, added verbatim to the request body.
    pub options: Map<String, Value>,
    /// True if answers are streamed.
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

/// Context window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Tokens of request and answer together.
    pub tokens: u64,
    /// Safety margin in tokens.
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

/// Price per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Output tokens.
    pub output: f64,
    /// Input tokens read from the provider's cache; defaults to `input`.
    pub cached: Option<f64>,
    /// Input tokens written to that cache; defaults to `input`.
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
