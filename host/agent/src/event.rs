//! Progress events of a question.

use serde::Serialize;
use serde_json::Value;

/// Progress event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentEvent {
    /// A turn starts.
    Turn {
        /// Its number, from 1.
        number: u32,
    },
    /// A request is sent to a model.
    Asking {
        /// `provider/model`.
        model: String,
    },
    /// Text delta of the answer.
    Text {
        /// The delta.
        text: String,
    },
    /// Reasoning delta of the model.
    Reasoning {
        /// The delta.
        text: String,
    },
    /// A model failed; text since the last `asking` is void.
    ModelFailed {
        /// `provider/model`.
        model: String,
        /// Reason.
        message: String,
        /// Retry or fallback that follows: the same model after a wait, or the next model. `None` if the question fails.
        next: Option<String>,
    },
    /// A model's answer is complete.
    Answered {
        /// `provider/model`.
        model: String,
        /// Input tokens.
        input_tokens: u64,
        /// Output tokens.
        output_tokens: u64,
    },
    /// A tool call starts.
    CallStarted {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// Arguments, written by the model: a surface redacts and bounds them.
        arguments: Value,
    },
    /// A tool call ended.
    CallFinished {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// True if it failed.
        is_error: bool,
        /// Size of its text in bytes.
        bytes: usize,
    },
    /// A call needs approval.
    ApprovalRequired {
        /// Id of the approval.
        id: String,
        /// Text for the person.
        message: String,
        /// The call, as it will be made.
        call: Value,
    },
    /// An approval was decided.
    ApprovalDecided {
        /// Id of the approval.
        id: String,
        /// True if the call was approved.
        approved: bool,
    },
    /// Notice for people: a result that became a handle, the context guard, a configuration warning.
    Note {
        /// Its text.
        text: String,
    },
}

/// Event callback. It is called from the task that answers: it must not block.
pub type Watcher = std::sync::Arc<dyn Fn(AgentEvent) + Send + Sync>;

/// Event callback that ignores everything.
pub fn unwatched() -> Watcher {
    std::sync::Arc::new(|_| {})
}
