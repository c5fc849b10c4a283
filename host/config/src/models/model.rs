//! Settings of one model.

use super::super::decimal::Decimal;
use super::super::error::quoted;
use super::super::quantity::{Measure, Quantity, read_count};
use super::super::reader::{Node, Result};
use serde_json::{Map, Value};

/// Maximum length of a model's name.
const MAX_NAME: usize = 256;

/// Largest context window and largest bound of an answer, in tokens: above all that exist.
const MAX_TOKENS: u64 = 1 << 30;

/// Highest price of a million tokens.
const MAX_PRICE: f64 = 1e9;

/// Settings of one model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSettings {
    /// Tokens of request and answer together.
    pub context_window: Option<u64>,
    /// Tokens of the window that are left free.
    pub context_window_buffer_tokens: Option<u64>,
    /// Name of its tokenizer.
    pub tokenizer: Option<String>,
    /// Bound on the tokens of an answer.
    pub max_output_tokens: Option<u32>,
    /// Tool choice.
    pub tool_choice: Option<ToolChoiceSetting>,
    /// Sampling temperature, instead of the agent's.
    pub temperature: Option<Decimal>,
    /// Nucleus sampling (`top_p`), instead of the agent's.
    pub top_p: Option<Decimal>,
    /// Members that are added to the body of a request, over those of the provider.
    pub options: Map<String, Value>,
    /// Price of its tokens.
    pub price: Option<ModelPrice>,
}

/// Tool choice: whether a model must call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolChoiceSetting {
    /// As it likes.
    Auto,
    /// Some tool in the first turn.
    Required,
}

const TOOL_CHOICES: [(&str, ToolChoiceSetting); 2] =
    [("auto", ToolChoiceSetting::Auto), ("required", ToolChoiceSetting::Required)];

impl ToolChoiceSetting {
    pub(super) fn read(node: Node<'_>) -> Result<ToolChoiceSetting> {
        node.choice("tool choice", &TOOL_CHOICES)
    }
}

/// Price of a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelPrice {
    /// Of the request.
    pub input: Decimal,
    /// Of the answer.
    pub output: Decimal,
    /// Of the request, read from the provider's cache.
    pub cached: Option<Decimal>,
    /// Of the request, written into that cache.
    pub cache_write: Option<Decimal>,
}

const KEYS: &[&str] = &[
    "contextWindow",
    "contextWindowBufferTokens",
    "tokenizer",
    "maxOutputTokens",
    "toolChoice",
    "temperature",
    "topP",
    "options",
    "price",
];

impl ModelSettings {
    pub(super) fn read(node: Node<'_>) -> Result<ModelSettings> {
        let object = node.object("an object of settings of a model", KEYS)?;
        let settings = ModelSettings {
            context_window: object.read("contextWindow", |node| read_count(node, MAX_TOKENS))?,
            context_window_buffer_tokens: object.read("contextWindowBufferTokens", read_buffer)?,
            tokenizer: object.read("tokenizer", |node| node.filled_text("a tokenizer").map(str::to_owned))?,
            max_output_tokens: object.read("maxOutputTokens", read_output_tokens)?,
            tool_choice: object.read("toolChoice", ToolChoiceSetting::read)?,
            temperature: object.read("temperature", read_temperature)?,
            top_p: object.read("topP", read_top_p)?,
            options: object.read("options", super::read_options)?.unwrap_or_default(),
            price: object.read("price", ModelPrice::read)?,
        };
        let buffer = settings.context_window_buffer_tokens.unwrap_or_default();
        match settings.context_window {
            Some(window) if buffer >= window => {
                let error =
                    object.path.key("contextWindowBufferTokens").error("the buffer leaves nothing of the window");
                Err(error.with_fix(format!("write less than {window}")))
            }
            _ => Ok(settings),
        }
    }
}

impl ModelPrice {
    fn read(node: Node<'_>) -> Result<ModelPrice> {
        let keys = ["input", "output", "cached", "cacheWrite"];
        let object = node.object("prices of a million tokens: `input`, `output`, `cached`, `cacheWrite`", &keys)?;
        let price = |node: Node<'_>| Decimal::read(node, 0.0..=MAX_PRICE);
        Ok(ModelPrice {
            input: object.need("input", price)?,
            output: object.need("output", price)?,
            cached: object.read("cached", price)?,
            cache_write: object.read("cacheWrite", price)?,
        })
    }
}

fn read_buffer(node: Node<'_>) -> Result<u64> {
    match Measure::CountOrNone.read(node)? {
        Quantity::Count(tokens) if tokens <= MAX_TOKENS => Ok(tokens),
        _ => Err(node.error(format!("the maximum is {MAX_TOKENS}"))),
    }
}

/// Reads a bound on the tokens of an answer.
pub(crate) fn read_output_tokens(node: Node<'_>) -> Result<u32> {
    read_count(node, MAX_TOKENS as u32)
}

/// Reads a sampling temperature.
pub(crate) fn read_temperature(node: Node<'_>) -> Result<Decimal> {
    Decimal::read(node, 0.0..=2.0)
}

/// Reads a probability for nucleus sampling (`top_p`).
pub(crate) fn read_top_p(node: Node<'_>) -> Result<Decimal> {
    Decimal::read(node, 0.0..=1.0)
}

/// Refuses a name that no provider has.
pub(crate) fn check_model(node: &Node<'_>, name: &str) -> Result<()> {
    let is_fine = |character: char| !character.is_control() && !character.is_whitespace();
    match (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_fine) {
        true => Ok(()),
        false => Err(node
            .error(format!("{} cannot be the name of a model", quoted(name)))
            .with_fix(format!("use at most {MAX_NAME} bytes without spaces"))),
    }
}
