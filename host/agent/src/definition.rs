//! Agent definition.

use crate::model::ModelTarget;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// Agent definition with models, prompt file and schema resolved.
#[derive(Clone, Debug)]
pub struct AgentDefinition {
    /// Name, as callers write it.
    pub name: String,
    /// Description, for the choice among agents.
    pub description: String,
    /// System prompt, without instructions of tools and callers.
    pub prompt: String,
    /// Models in fallback order.
    pub models: Vec<ModelTarget>,
    /// Space whose functions it can call; `None` for the default space.
    pub space: Option<String>,
    /// Tool mode.
    pub tools: ToolMode,
    /// Default output format.
    pub output: OutputFormat,
    /// Sampling parameters.
    pub sampling: Sampling,
    /// Limits of one question.
    pub limits: AgentLimits,
    /// Budgets in tokens and money.
    pub budgets: Budgets,
}

/// Tool mode: mapping of a space's functions to tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolMode {
    /// Code mode, three tools: search, describe, run a program.
    Code,
    /// One tool a function.
    Direct,
    /// Direct for few functions, code for many, or if a module has no JSON Schemas.
    #[default]
    Auto,
    /// No tools.
    Off,
}

/// Output format of an answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OutputFormat {
    /// Plain text.
    #[default]
    Text,
    /// Markdown.
    Markdown,
    /// JSON that matches a JSON Schema.
    Json(Value),
}

/// Sampling parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Sampling {
    /// Temperature.
    pub temperature: Option<f64>,
    /// Nucleus sampling (top-p).
    pub top_p: Option<f64>,
    /// Allows several tool calls in one answer.
    pub parallel_tool_calls: Option<bool>,
    /// Maximum output tokens of one answer.
    pub max_output_tokens: Option<u32>,
}

/// Limits of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AgentLimits {
    /// Maximum number of turns. The last has no tools.
    pub turns: u32,
    /// Timeout of the whole question, approvals included.
    pub time: Duration,
    /// Timeout of one tool call.
    pub tool_timeout: Duration,
    /// Maximum concurrent tool calls. Others of the same turn wait.
    pub parallel_calls: usize,
    /// Attempts per model before the fallback.
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

/// Budgets of an agent, nested agents included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budgets {
    /// Per question.
    pub run: Budget,
    /// Per session.
    pub session: Budget,
    /// Per day (UTC), over all sessions of the agent.
    pub day: Budget,
}

/// Budget. `None` is unlimited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// Input and output tokens.
    pub tokens: Option<u64>,
    /// Money, in the currency of the configured prices. Answers of models without a price cost nothing.
    pub cost: Option<f64>,
}
