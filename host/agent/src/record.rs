//! Records of the session log.

use crate::definition::{AgentDefinition, OutputFormat, Sampling};
use crate::error::AgentError;
use agent_spaces_models::{Answer, Message, Origin, Tool, ToolChoice, ToolResult};
use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

/// Record of one step. The conversation is built from records alone (`conversation`), and so is a replay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Record {
    /// Settings of the questions after it, if they changed. A question that goes on after a crash, and a
    /// replay, need it for the same requests.
    Settings {
        /// The settings.
        settings: Box<QuestionSettings>,
    },
    /// A question, or results of the caller's own tools: a turn begins.
    Asked {
        /// Messages that are appended to the conversation. Surfaces whose callers send whole conversations append many.
        messages: Vec<Message>,
    },
    /// A model answered.
    Answered {
        /// The model.
        origin: Origin,
        /// SHA-256 of the request, to find the answer in a replay.
        request: String,
        /// The answer.
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
    /// Spending of nested agents since the last such record, for the budgets of session and question.
    Nested {
        /// Input and output tokens.
        tokens: u64,
        /// Money, where prices are known.
        cost: f64,
    },
    /// The question is over.
    Finished {
        /// [`crate::Ending::code`] of its end.
        ending: String,
    },
}

/// Settings of a question, besides its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct QuestionSettings {
    /// Appended to the system prompt.
    pub system: Option<String>,
    /// Tools of the caller.
    pub caller_tools: Vec<Tool>,
    /// Tool choice of the first answer.
    pub tool_choice: ToolChoice,
    /// Output format; overrides the agent's.
    pub output: Option<OutputFormat>,
    /// Sampling parameters; override the agent's.
    pub sampling: Sampling,
}

impl QuestionSettings {
    /// The agent with the caller's sampling parameters.
    pub(crate) fn applied_to(&self, agent: &AgentDefinition) -> AgentDefinition {
        let (own, wished) = (agent.sampling, self.sampling);
        let sampling = Sampling {
            temperature: wished.temperature.or(own.temperature),
            top_p: wished.top_p.or(own.top_p),
            parallel_tool_calls: wished.parallel_tool_calls.or(own.parallel_tool_calls),
            max_output_tokens: wished.max_output_tokens.or(own.max_output_tokens),
        };
        AgentDefinition { sampling, ..agent.clone() }
    }

    /// Output format of this agent's answer.
    pub(crate) fn output_of(&self, agent: &AgentDefinition) -> OutputFormat {
        self.output.clone().unwrap_or_else(|| agent.output.clone())
    }

    /// The settings of the last question of a session.
    pub(crate) fn last_of(records: &[Record]) -> QuestionSettings {
        let settings = |record: &Record| match record {
            Record::Settings { settings } => Some(QuestionSettings::clone(settings)),
            _ => None,
        };
        records.iter().rev().find_map(settings).unwrap_or_default()
    }
}

/// Append-only log of a session's records.
pub trait SessionLog: Send + Sync {
    /// Appends a record. When it returns, the record survives the process.
    fn append<'a>(&'a self, record: &'a Record) -> BoxFuture<'a, Result<(), AgentError>>;
}

/// Log that discards records, for questions without a session.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl SessionLog for NoLog {
    fn append<'a>(&'a self, _record: &'a Record) -> BoxFuture<'a, Result<(), AgentError>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
