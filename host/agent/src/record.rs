//! Steps of a session, as they are kept.

use crate::error::AgentError;
use agent_spaces_models::{Answer, Message, Origin, ToolResult};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// One step. The conversation is made of them alone ([`crate::conversation`]), and so is a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Record {
    /// A question, or results of the caller's own tools: a turn begins.
    Asked {
        /// What is appended to the conversation. Surfaces whose callers send whole conversations append many.
        messages: Vec<Message>,
    },
    /// A model answered.
    Answered {
        /// The model.
        origin: Origin,
        /// SHA-256 of the request, to find the answer in a replay.
        request: String,
        /// What it said.
        answer: Answer,
        /// Its cost, where a price is known.
        cost: Option<f64>,
    },
    /// Calls leave the process. A call that is here and has no result is in doubt after a crash.
    Calling {
        /// Their ids.
        calls: Vec<String>,
    },
    /// A call has a result. The results of one answer come in any order.
    Returned {
        /// The result as the model sees it.
        result: ToolResult,
    },
    /// A result that is too large for the model was put aside; it is read in parts.
    Kept {
        /// Its handle.
        handle: String,
        /// The whole text.
        text: String,
    },
    /// A message of ours to the model, such as the closing message of the last turn.
    Notice {
        /// Its text.
        text: String,
    },
    /// The question is over.
    Finished {
        /// [`crate::Ending::code`] of its end.
        ending: String,
    },
}

/// Where the records of a session go.
pub trait SessionLog: Send + Sync {
    /// Appends a record. When it returns, the record survives the process.
    fn append<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), AgentError>>;
}

/// Keeps nothing, for questions without a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl SessionLog for NoLog {
    fn append<'a>(&'a self, _record: &'a Record) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
