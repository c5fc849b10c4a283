//! What happens while a question is answered, for those who watch.

use serde::Serialize;
use serde_json::Value;

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AgentEvent {
    /// A turn begins.
    Turn {
        /// Its number, from 1.
        number: u32,
    },
    /// A model is asked.
    Asking {
        /// `provider/model`.
        model: String,
    },
    /// More of the answer's text.
    Text {
        /// The piece.
        text: String,
    },
    /// More of the model's reasoning.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// A model failed; text since the last `asking` is void.
    ModelFailed {
        /// `provider/model`.
        model: String,
        /// Why.
        message: String,
        /// What happens next: the same model after a wait, or the next model. `None`: nothing, the question fails.
        next: Option<String>,
    },
    /// A model's answer is whole.
    Answered {
        /// `provider/model`.
        model: String,
        /// Tokens of the request.
        input_tokens: u64,
        /// Tokens of the answer.
        output_tokens: u64,
    },
    /// A call begins.
    CallStarted {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// Arguments. They are the model's words: redacted and bounded by whoever shows them.
        arguments: Value,
    },
    /// A call ended.
    CallFinished {
        /// Its id.
        id: String,
        /// The tool.
        name: String,
        /// Whether it failed.
        is_error: bool,
        /// Bytes of its text.
        bytes: usize,
    },
    /// A person has to decide about a call.
    ApprovalRequired {
        /// Id of the approval.
        id: String,
        /// The question that the person is asked.
        message: String,
        /// The call that it is about, as it will be made.
        call: Value,
    },
    /// A person decided.
    ApprovalDecided {
        /// Id of the approval.
        id: String,
        /// Whether the call may be made.
        approved: bool,
    },
    /// A step that people may want to know of: a result that became a handle, the guard, a budget.
    Note {
        /// Its text.
        text: String,
    },
}

/// Told of events. It is called from the task that answers: it must not block.
pub type Watcher = std::sync::Arc<dyn Fn(AgentEvent) + Send + Sync>;

/// A watcher that ignores everything.
pub fn unwatched() -> Watcher {
    std::sync::Arc::new(|_| {})
}
