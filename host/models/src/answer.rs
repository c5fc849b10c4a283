//! Answer of a model.

use serde::{Deserialize, Serialize};

use crate::Part;

/// A complete answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Text, reasoning and tool calls, in order of arrival.
    pub parts: Vec<Part>,
    /// Finish reason.
    pub finish: Finish,
    /// Token counts of the provider.
    pub usage: Usage,
    /// The model that answered, where the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Finish reason of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Finish {
    /// The model ended its turn or reached a stop sequence.
    Stop,
    /// The model calls tools.
    ToolCalls,
    /// The answer reached the limit of output tokens.
    Length,
    /// The provider or the model refused, with the reason where it is known.
    Refused(String),
    /// The provider wants the same request again with this answer appended (a pause of a long turn).
    Pause,
    /// Another reason, as the provider spells it.
    Other(String),
}

/// Token counts of a request and its answer. Absent counts are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// Input tokens, cached ones included.
    pub input_tokens: u64,
    /// Output tokens, reasoning included.
    pub output_tokens: u64,
    /// Input tokens read from the provider's prompt cache.
    pub cached_tokens: u64,
    /// Input tokens written into it.
    pub cache_write_tokens: u64,
    /// Output tokens of reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Input and output tokens.
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// A piece of a streamed answer. Deltas of an answer that fails later are void.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// More text.
    Text(&'a str),
    /// More reasoning.
    Reasoning(&'a str),
    /// A tool call begins.
    CallStarted {
        /// Its id.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
    },
    /// More text of a tool call's arguments.
    CallArguments {
        /// Id of the call.
        id: &'a str,
        /// The piece.
        text: &'a str,
    },
}

/// Callback for the deltas of an answer.
pub type Watch<'a> = dyn FnMut(Delta<'_>) + Send + 'a;
