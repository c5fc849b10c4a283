//! Request to a model.

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
    /// Tool choice. Not sent without tools.
    pub tool_choice: ToolChoice,
    /// True if the model may make several tool calls in one answer. `None`: the provider's default.
    pub parallel_tool_calls: Option<bool>,
    /// Limit of output tokens. A wire whose provider requires one has a default.
    pub max_output_tokens: Option<u32>,
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    pub top_p: Option<f64>,
    /// Stop sequences.
    pub stop: Vec<String>,
    /// JSON Schema of the answer's text (structured output).
    pub output: Option<OutputSchema>,
    /// Provider options: members that are merged into the body last.
    pub options: Map<String, Value>,
    /// True if the answer is streamed.
    pub stream: bool,
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// Name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of its arguments; an object.
    pub parameters: Value,
}

/// Tool choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No tool calls.
    None,
    /// At least one tool call.
    Required,
    /// A call of this tool.
    Tool(String),
}

/// Schema of a structured answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputSchema {
    /// Name, which some providers require: letters, digits, `_` and `-`.
    pub name: String,
    /// The schema.
    pub schema: Value,
}
