//! Conversation with a model, independent of the provider.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Api, Provider};

/// Author of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// The user, or the program that sends the request.
    User,
    /// The model.
    Assistant,
    /// Tool results. Its parts are all [`Part::ToolResult`].
    Tool,
}

/// One message. Neighbouring messages of one role are allowed; a wire merges them where its provider requires that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Author.
    pub role: Role,
    /// Content, in order.
    pub parts: Vec<Part>,
}

impl Message {
    /// A user message with one text part.
    pub fn user(text: impl Into<String>) -> Self {
        Message { role: Role::User, parts: vec![Part::Text(text.into())] }
    }

    /// An assistant message.
    pub fn assistant(parts: Vec<Part>) -> Self {
        Message { role: Role::Assistant, parts }
    }

    /// A message of tool results, in the order of their calls.
    pub fn results(results: Vec<ToolResult>) -> Self {
        Message { role: Role::Tool, parts: results.into_iter().map(Part::ToolResult).collect() }
    }

    /// All text parts, concatenated.
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
    /// An image in a user message.
    Image(Image),
    /// Reasoning of a model.
    Reasoning(Reasoning),
    /// A tool call.
    ToolCall(ToolCall),
    /// The result of a tool call.
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

impl Image {
    pub(crate) fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.media_type, self.data)
    }
}

/// The model that produced a part of a conversation.
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

impl Origin {
    pub(crate) fn new(provider: &Provider, model: &str) -> Self {
        Origin { provider: provider.name.clone(), model: model.to_owned(), api: provider.api }
    }
}

/// Opaque data of a provider, such as a signature or encrypted reasoning. It is sent back only to the model that produced
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Opaque {
    /// The model that produced it.
    pub from: Origin,
    /// The data, in the form of that wire.
    pub value: Value,
}

/// Reasoning of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reasoning {
    /// Text that people may read; empty where the provider hides it.
    pub text: String,
    /// The model that produced it. Its wire sends the part back to that model alone.
    pub from: Origin,
    /// Data that the wire needs to send it back: signature, id, encrypted content. `None`: it is not sent back, unless
    /// the wire sends back plain text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

/// A tool call of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Id of the call, unique within the conversation. A wire whose provider gives none makes one (`call_0`, …).
    pub id: String,
    /// Name of the tool, as the model wrote it.
    pub name: String,
    /// Arguments.
    pub arguments: Arguments,
    /// Data that the provider requires back with the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Opaque>,
}

/// Arguments of a tool call. Absent arguments are an empty object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Arguments {
    /// A JSON object.
    Object(Map<String, Value>),
    /// Text that is not a JSON object. The tool result reports it to the model; a wire that needs an object sends an empty
    /// one back.
    Broken(String),
}

impl Arguments {
    /// The object; an empty one for broken arguments, whose result reports the fault to the model.
    pub(crate) fn to_object(&self) -> Map<String, Value> {
        match self {
            Arguments::Object(members) => members.clone(),
            Arguments::Broken(_) => Map::new(),
        }
    }
}

/// Result of a tool call.
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
    /// True if the call failed.
    #[serde(default)]
    pub is_error: bool,
}
