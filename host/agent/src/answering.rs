//! What a question needs, and what comes of it.

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

/// Everything that one question is answered with. [`crate::turns::answer`] is the loop.
pub(crate) struct AnswerContext {
    /// Models.
    pub(crate) models: Arc<dyn LanguageModel>,
    /// Tools of the agent.
    pub(crate) tools: Arc<dyn Tools>,
    /// Tools of the caller: a call of one ends the question with [`Ending::CallerTools`].
    pub(crate) caller_tools: Vec<agent_spaces_models::Tool>,
    /// The caller's wish.
    pub(crate) tool_choice: ToolChoice,
    /// Form of the answer.
    pub(crate) output: OutputFormat,
    /// Appended to the system prompt: what the caller says as system.
    pub(crate) system: Option<String>,
    /// Where steps go.
    pub(crate) log: Arc<dyn SessionLog>,
    /// Large results of this session.
    pub(crate) handles: Handles,
    /// Counts tokens.
    pub(crate) guard: Guard,
    /// Counts what is spent.
    pub(crate) spending: Spending,
    /// Usage log.
    pub(crate) accounting: Accounting,
    /// Name of the caller, for the usage log.
    pub(crate) caller: Option<String>,
    /// Told of events.
    pub(crate) watcher: Watcher,
    /// Ends the question.
    pub(crate) cancel: CancellationToken,
    /// Id of the session, for accounting and telemetry.
    pub(crate) session: String,
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Session that it was asked in.
    pub session: String,
    /// The text of the last answer.
    pub text: String,
    /// The text as JSON, if that was asked for and is there.
    pub value: Option<Value>,
    /// How it ended.
    pub ending: Ending,
    /// Why, for people, unless it is done.
    pub message: Option<String>,
    /// Calls of the caller's tools, with [`Ending::CallerTools`].
    pub calls: Vec<ToolCall>,
    /// Turns.
    pub turns: u32,
    /// Tokens of all answers together.
    pub usage: Usage,
    /// Their cost, where prices are known.
    pub cost: Option<f64>,
    /// The model of the last answer, `provider/model`.
    pub model: Option<String>,
}

impl Outcome {
    /// A question that was cancelled before it was asked.
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

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Answered.
    Done,
    /// Answered in the last turn, whose tools were taken away.
    TurnLimit,
    /// The model calls tools of the caller.
    CallerTools,
    /// The answer reached its bound of tokens.
    Length,
    /// The model or its provider refused.
    Refused,
    /// The answer is not what its schema allows, and the model did not correct it.
    InvalidOutput,
    /// The context window is full.
    ContextLimit,
    /// A budget is spent.
    Budget,
    /// Every model failed.
    ModelFailed,
    /// The time is over.
    Time,
    /// It was cancelled.
    Cancelled,
    /// The session cannot be kept.
    Store,
}

impl Ending {
    /// Its code, for programs.
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

    /// Whether there is an answer to show.
    pub fn is_answer(self) -> bool {
        matches!(self, Ending::Done | Ending::TurnLimit | Ending::CallerTools | Ending::Length)
    }
}
