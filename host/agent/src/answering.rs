//! Context and outcome of a question.

use crate::definition::OutputFormat;
use crate::event::Watcher;
use crate::guard::Guard;
use crate::handles::Handles;
use crate::model::LanguageModel;
use crate::record::SessionLog;
use crate::spending::Spending;
use crate::tools::Tools;
use agent_spaces_models::{ToolCall, ToolChoice, Usage};
use agent_spaces_pipeline::accounting::Accounting;
use serde_json::Value;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Context of one question: models, tools, log, budgets. [`crate::turns::answer`] is the agent loop.
pub(crate) struct AnswerContext {
    /// Models.
    pub(crate) models: Arc<dyn LanguageModel>,
    /// Tools of the agent.
    pub(crate) tools: Arc<dyn Tools>,
    /// Tools of the caller: a call of one ends the question with [`Ending::CallerTools`].
    pub(crate) caller_tools: Vec<agent_spaces_models::Tool>,
    /// Tool choice of the caller, for the first turn.
    pub(crate) tool_choice: ToolChoice,
    /// Output format.
    pub(crate) output: OutputFormat,
    /// System message of the caller, appended to the system prompt.
    pub(crate) system: Option<String>,
    /// Session log.
    pub(crate) log: Arc<dyn SessionLog>,
    /// Large results of this session.
    pub(crate) handles: Handles,
    /// Context window guard.
    pub(crate) guard: Guard,
    /// Spending and budgets.
    pub(crate) spending: Spending,
    /// Usage log.
    pub(crate) accounting: Accounting,
    /// Name of the caller, for the usage log.
    pub(crate) caller: Option<String>,
    /// Event callback.
    pub(crate) watcher: Watcher,
    /// Cancels the question.
    pub(crate) cancel: CancellationToken,
    /// Id of the session, for accounting and telemetry.
    pub(crate) session: String,
}

/// Outcome of a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Id of the session; empty if there is none.
    pub session: String,
    /// Text of the last answer.
    pub text: String,
    /// Structured output, if a JSON Schema was given and the answer is valid.
    pub value: Option<Value>,
    /// Kind of the outcome.
    pub ending: Ending,
    /// Reason for people, unless it is [`Ending::Done`].
    pub message: Option<String>,
    /// Calls of the caller's tools, with [`Ending::CallerTools`].
    pub calls: Vec<ToolCall>,
    /// Number of turns.
    pub turns: u32,
    /// Token usage of all answers, without nested agents.
    pub usage: Usage,
    /// Cost of all answers, where prices are known, without nested agents.
    pub cost: Option<f64>,
    /// Model of the last answer, `provider/model`.
    pub model: Option<String>,
}

impl Outcome {
    /// Outcome of a question that was cancelled before its first turn.
    pub(crate) fn cancelled() -> Outcome {
        Outcome {
            session: String::new(),
            text: String::new(),
            value: None,
            ending: Ending::Cancelled,
            message: Some("The question was cancelled before its tools were ready.".to_owned()),
            calls: Vec::new(),
            turns: 0,
            usage: Usage::default(),
            cost: None,
            model: None,
        }
    }
}

/// Outcome kind of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Answered.
    Done,
    /// Turn limit reached: answered in the last turn, without tools.
    TurnLimit,
    /// The model called tools of the caller.
    CallerTools,
    /// Output token limit reached; the answer is cut.
    Length,
    /// The model or its provider refused.
    Refused,
    /// The answer does not match its JSON Schema after all corrections.
    InvalidOutput,
    /// Context window exceeded.
    ContextLimit,
    /// Budget exhausted.
    Budget,
    /// All models failed.
    ModelFailed,
    /// Time limit exceeded.
    Time,
    /// Cancelled.
    Cancelled,
    /// The session log cannot be written.
    Store,
}

impl Ending {
    /// Stable code, for programs.
    pub fn code(self) -> &'static str {
        match self {
            Ending::Done => "done",
            Ending::TurnLimit => "turn-limit",
            Ending::CallerTools => "caller-tools",
            Ending::Length => "length",
            Ending::Refused => "refused",
            Ending::InvalidOutput => "invalid-output",
            Ending::ContextLimit => "EXIT-TOKEN-LIMIT",
            Ending::Budget => "budget",
            Ending::ModelFailed => "model-failed",
            Ending::Time => "time-limit",
            Ending::Cancelled => "cancelled",
            Ending::Store => "store-failed",
        }
    }

    /// Returns true if the outcome has an answer to show.
    pub fn is_answer(self) -> bool {
        matches!(self, Ending::Done | Ending::TurnLimit | Ending::CallerTools | Ending::Length)
    }
}
