//! What a model is asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Message;

/// A request. The same value can be sent to any provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Request {
    /// Name of the model at its provider.
    pub model: String,
    /// System prompt.
    pub system: Option<String>,
    /// Conversation so far.
    pub messages: Vec<Message>,
    /// Tools that the model may call.
    pub tools: Vec<Tool>,
    /// Whether the model has to call one. Without tools nothing is sent.
    pub tool_choice: ToolChoice,
    /// Whether the model may ask for several calls at once. `None`: as the provider does by itself.
    pub parallel_tool_calls: Option<bool>,
    /// Bound on what the model writes. A wire whose provider demands one has a default.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Texts at which the model stops.
    pub stop: Vec<String>,
    /// JSON Schema that the answer's text has to obey.
    pub output: Option<OutputSchema>,
    /// Members that are added to the body last, as they stand (objects are merged): options of the provider.
    pub options: Map<String, Value>,
    /// Whether the answer is streamed.
    pub stream: bool,
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments; an object.
    pub parameters: Value,
}

/// Whether a model has to call a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// It may not.
    None,
    /// Some tool.
    Required,
    /// This tool.
    Tool(String),
}

/// Schema of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputSchema {
    /// Name that some providers demand: letters, digits, `_` and `-`.
    pub name: String,
    /// The schema.
    pub schema: Value,
}
