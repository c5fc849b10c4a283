//! What a model answers.

use serde::{Deserialize, Serialize};

use crate::Part;

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// Text, reasoning and calls, in the order in which they came.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub finish: Finish,
    /// Tokens, as the provider counted them.
    pub usage: Usage,
    /// The model that answered, where the provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Finish {
    /// The model had said all, or reached a stop text.
    Stop,
    /// It asks for calls.
    ToolCalls,
    /// It reached its bound of output tokens.
    Length,
    /// The provider or the model refused. The text says why, where it is known.
    Refused(String),
    /// The provider wants the same request again with this answer appended (a pause of a long turn).
    Pause,
    /// Another reason, in the provider's word.
    Other(String),
}

/// Tokens of an answer. Absent counts are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Usage {
    /// All tokens of the request, cached ones included.
    pub input_tokens: u64,
    /// All tokens of the answer, reasoning included.
    pub output_tokens: u64,
    /// Tokens of the request that were read from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens of the request that were written into it.
    pub cache_write_tokens: u64,
    /// Tokens of the answer that were reasoning.
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Input and output.
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// A piece of a stream, told as it arrives. A failed answer may have told deltas: they are void then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delta<'a> {
    /// More text.
    Text(&'a str),
    /// More reasoning.
    Reasoning(&'a str),
    /// A call begins.
    CallStarted {
        /// Its id.
        id: &'a str,
        /// The tool's name.
        name: &'a str,
    },
    /// More text of a call's arguments.
    CallArguments {
        /// Id of the call.
        id: &'a str,
        /// The piece.
        text: &'a str,
    },
}

/// Told of the deltas of an answer.
pub type Watch<'a> = dyn FnMut(Delta<'_>) + Send + 'a;
