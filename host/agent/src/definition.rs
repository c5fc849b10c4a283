//! What an agent is.

use crate::model::ModelTarget;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// An agent, with everything resolved that its configuration names.
#[derive(Clone, Debug)]
pub struct AgentDefinition {
    /// Its name, as callers write it.
    pub name: String,
    /// What it is for, for those who choose among agents.
    pub description: String,
    /// System prompt, without what is appended to it.
    pub prompt: String,
    /// Models in the order in which they are tried.
    pub models: Vec<ModelTarget>,
    /// The space whose functions it can call; `None` for the default space.
    pub space: Option<String>,
    /// How it is given them.
    pub tools: ToolMode,
    /// Form of its answers, unless a question asks for another.
    pub output: OutputFormat,
    /// Sampling temperature and nucleus.
    pub sampling: Sampling,
    /// Limits of one question.
    pub limits: AgentLimits,
    /// What it may spend.
    pub budgets: Budgets,
}

/// How the functions of a space become tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolMode {
    /// Three tools: search, describe, run a program.
    Code,
    /// One tool a function.
    Direct,
    /// Direct for few functions, code for many.
    #[default]
    Auto,
    /// None.
    Off,
}

/// Form of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OutputFormat {
    /// As the model likes.
    #[default]
    Text,
    /// Markdown.
    Markdown,
    /// JSON that a schema allows.
    Json(Value),
}

/// Sampling of a model's tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Sampling {
    /// Temperature.
    pub temperature: Option<f64>,
    /// Nucleus.
    pub top_p: Option<f64>,
    /// Whether a model may ask for several calls at once.
    pub parallel_tool_calls: Option<bool>,
    /// Bound on the tokens of one answer of a model.
    pub max_output_tokens: Option<u32>,
}

/// Limits of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// Turns. The last has no tools.
    pub turns: u32,
    /// Time for the whole question, approvals included.
    pub time: Duration,
    /// Time for one call of a tool.
    pub tool_timeout: Duration,
    /// Calls side by side. Others of the same turn wait.
    pub parallel_calls: usize,
    /// Attempts at one model before the next is tried.
    pub attempts: u32,
}

impl Default for AgentLimits {
    fn default() -> Self {
        AgentLimits {
            // Enough for long tasks; a model that loops costs at most this many answers.
            turns: 30,
            // Approvals by people take minutes.
            time: Duration::from_secs(30 * 60),
            // A program may wait for a person's approval too.
            tool_timeout: Duration::from_secs(10 * 60),
            parallel_calls: 8,
            attempts: 3,
        }
    }
}

/// What may be spent, each in tokens and in money.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budgets {
    /// For one question.
    pub run: Budget,
    /// For all questions of a session.
    pub session: Budget,
    /// For all sessions of the agent in one day (UTC).
    pub day: Budget,
}

/// One budget. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Money, in the currency of the configured prices. Answers of models without a price cost nothing.
    pub cost: Option<f64>,
}
