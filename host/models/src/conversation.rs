//! A conversation with a model, in a form that no provider owns.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Api;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The person, or the program that asks.
    User,
    /// The model.
    Assistant,
    /// Results of tools. Its parts are all [`Part::ToolResult`].
    Tool,
}

/// One message. Neighbouring messages of one role are allowed; a wire merges them where its provider wants that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// A user's text.
    pub fn user(text: impl Into<String>) -> Self {
        Message { role: Role::User, parts: vec![Part::Text(text.into())] }
    }

    /// What a model said.
    pub fn assistant(parts: Vec<Part>) -> Self {
        Message { role: Role::Assistant, parts }
    }

    /// Results of tools, in the order of their calls.
    pub fn results(results: Vec<ToolResult>) -> Self {
        Message { role: Role::Tool, parts: results.into_iter().map(Part::ToolResult).collect() }
    }

    /// The text of all text parts.
    pub fn text(&self) -> String {
        self.parts
            .iter()
            .filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None })
            .collect()
    }
}

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// Text.
    Text(String),
    /// An image that a user gives.
    Image(Image),
    /// What a model thought before it spoke.
    Reasoning(Reasoning),
    /// A call that a model asks for.
    ToolCall(ToolCall),
    /// The result of such a call.
    ToolResult(ToolResult),
}

/// An image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// Media type, such as `image/png`.
    pub media_type: String,
    /// Bytes in base64 (standard alphabet, padded).
    pub data: String,
}

/// The model that something came from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// Name of the provider in the configuration.
    pub provider: String,
    /// Name of the model in the request.
    pub model: String,
    /// Wire format.
    pub api: Api,
}

/// Data of one provider that means nothing to others: a signature, an encrypted thought. It is given back only to the
/// model that it came from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Opaque {
    /// Where it came from.
    pub from: Origin,
    /// As that wire wrote it.
    pub value: Value,
}

/// Reasoning of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reasoning {
    /// Text that people may read; empty where the provider hides it.
    pub text: String,
    /// The model that thought it. Its wire gives the part back to that model alone.
    pub from: Origin,
    /// What the wire needs to give it back: signature, id, encrypted content. `None`: it is not given back, unless the
    /// wire gives back plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// A call that a model asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Id of the call, unique within the conversation. A wire whose provider gives none makes one (`call_0`, …).
    pub id: String,
    /// Name of the tool, as the model wrote it.
    pub name: String,
    /// Arguments.
    pub arguments: Arguments,
    /// What the provider wants back with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

/// Arguments of a call. No arguments at all are an empty object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Arguments {
    /// A JSON object.
    Object(Map<String, Value>),
    /// Text that is not a JSON object. The model is told; a wire that needs an object gives back an empty one.
    Broken(String),
}

/// Result of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    /// Id of the call.
    pub call_id: String,
    /// Name of the tool.
    pub name: String,
    /// Text for the model.
    pub text: String,
    /// Images for the model. A wire whose results hold text alone puts them into a user message after the results.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Whether the call failed.
    #[serde(default)]
    pub is_error: bool,
}
