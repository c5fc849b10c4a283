//! Agents (`agents`): models, prompt, tools, form of answers, limits and budgets of each.
//!
//! - `names`: names that agents may have
//! - `choice`: models in the order in which they are tried
//! - `bounds`: limits and budgets
//! - `functions`: functions by which scripts and other agents call one

mod bounds;
mod choice;
mod functions;
mod names;
#[cfg(test)]
mod tests;

pub use bounds::{AgentBudget, AgentBudgets, AgentLimits};
pub use choice::ModelChoice;
pub use functions::AgentFunction;
pub use names::RESERVED_AGENT_NAMES;

use super::config_path::ConfigPath;
use super::decimal::Decimal;
use super::error::quoted;
use super::models::{read_output_tokens, read_temperature, read_top_p};
use super::reader::{Node, Object, Result};
use super::space::Space;
use agent_spaces_types::nearest::nearest;
use serde_json::Value;
use std::collections::BTreeMap;

/// Maximum number of agents: each is a route, a tool and an entry of lists.
const MAX_AGENTS: usize = 100;

/// Maximum size of a description, in bytes: it is shown in lists, and to agents that choose among others.
const MAX_DESCRIPTION: usize = 4 << 10;

/// An agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agent {
    /// Path in the configuration, such as `$.agents.planner`.
    pub place: String,
    /// Description, for people and for agents that choose among others.
    pub description: Option<String>,
    /// Models, in the order in which they are tried.
    pub models: Vec<ModelChoice>,
    /// System prompt.
    pub prompt: Option<AgentPrompt>,
    /// Space whose functions it can call; `None` for the one that is served.
    pub space: Option<String>,
    /// Form of its tools; `None` for the default.
    pub tools: Option<AgentTools>,
    /// Form of its answers.
    pub output: AgentOutput,
    /// Sampling temperature.
    pub temperature: Option<Decimal>,
    /// Nucleus sampling (`top_p`).
    pub top_p: Option<Decimal>,
    /// Bound on the tokens of one answer of a model.
    pub max_output_tokens: Option<u32>,
    /// True if a model may ask for several calls at once.
    pub parallel_tool_calls: Option<bool>,
    /// Limits of one question.
    pub limits: AgentLimits,
    /// Budgets.
    pub budgets: AgentBudgets,
    /// Functions of its capability, beside `ask`.
    pub functions: BTreeMap<String, AgentFunction>,
}

/// System prompt of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentPrompt {
    /// In the configuration.
    Text(String),
    /// In a file, relative to the configuration.
    File(String),
}

/// Form in which the functions of a space are tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentTools {
    /// Search, describe, run a program.
    Code,
    /// One tool a function.
    Direct,
    /// Direct for few functions, code for many.
    Auto,
    /// None.
    Off,
}

const TOOLS: [(&str, AgentTools); 4] =
    [("code", AgentTools::Code), ("direct", AgentTools::Direct), ("auto", AgentTools::Auto), ("off", AgentTools::Off)];

/// Form of answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AgentOutput {
    /// As the model likes.
    #[default]
    Text,
    /// Markdown.
    Markdown,
    /// JSON that a schema allows.
    Schema(Value),
}

const KEYS: &[&str] = &[
    "description",
    "models",
    "prompt",
    "promptFile",
    "space",
    "tools",
    "output",
    "temperature",
    "topP",
    "maxOutputTokens",
    "parallelToolCalls",
    "limits",
    "budgets",
    "functions",
];

impl Agent {
    fn read(node: Node<'_>) -> Result<Agent> {
        let object = node.object("an agent", KEYS)?;
        Ok(Agent {
            place: node.path.to_string(),
            description: object.read("description", read_description)?,
            models: object.need("models", ModelChoice::read_list)?,
            prompt: read_prompt(&object)?,
            space: object.read("space", |node| node.filled_text("the name of a space").map(str::to_owned))?,
            tools: object.read("tools", |node| node.choice("form of tools", &TOOLS))?,
            output: object.read("output", AgentOutput::read)?.unwrap_or_default(),
            temperature: object.read("temperature", read_temperature)?,
            top_p: object.read("topP", read_top_p)?,
            max_output_tokens: object.read("maxOutputTokens", read_output_tokens)?,
            parallel_tool_calls: object.read("parallelToolCalls", |node| node.flag())?,
            limits: object.read("limits", AgentLimits::read)?.unwrap_or_default(),
            budgets: object.read("budgets", AgentBudgets::read)?.unwrap_or_default(),
            functions: object.read("functions", functions::read_functions)?.unwrap_or_default(),
        })
    }
}

impl AgentOutput {
    fn read(node: Node<'_>) -> Result<AgentOutput> {
        if node.value.is_object() {
            let object = node.object("an object with a `schema`", &["schema"])?;
            return object.need("schema", |node| match node.value {
                Value::Object(_) => Ok(AgentOutput::Schema(node.value.clone())),
                _ => Err(node.expected("a JSON Schema, which is an object")),
            });
        }
        let is_markdown =
            node.choice("form of answers, or object with a `schema`,", &[("text", false), ("markdown", true)])?;
        Ok(if is_markdown { AgentOutput::Markdown } else { AgentOutput::Text })
    }
}

/// Reads the `agents` object.
pub(super) fn read_agents(node: Node<'_>) -> Result<BTreeMap<String, Agent>> {
    let agents = node.map("an object of agents", |name, node| {
        names::check(&node.path, name)?;
        Agent::read(node)
    })?;
    match agents.len() <= MAX_AGENTS {
        true => Ok(agents),
        false => Err(node.error(format!("more than {MAX_AGENTS} agents"))),
    }
}

/// Refuses agents with a space that is not configured.
pub(super) fn check_spaces(
    root: &ConfigPath<'_>,
    agents: &BTreeMap<String, Agent>,
    spaces: &BTreeMap<String, Space>,
) -> Result<()> {
    let place = root.key("agents");
    for (name, agent) in agents {
        let Some(unknown) = agent.space.as_ref().filter(|space| !spaces.contains_key(*space)) else { continue };
        let error = place.key(name).key("space").error(format!("unknown space {}", quoted(unknown)));
        return Err(error.with_fix(match nearest(unknown, spaces.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add it to `spaces`".to_owned(),
        }));
    }
    Ok(())
}

fn read_description(node: Node<'_>) -> Result<String> {
    let text = node.text("a description")?;
    match text.len() <= MAX_DESCRIPTION {
        true => Ok(text.to_owned()),
        false => Err(node.error(format!("the description has more than {MAX_DESCRIPTION} bytes"))),
    }
}

fn read_prompt(object: &Object<'_>) -> Result<Option<AgentPrompt>> {
    let text = object.read("prompt", |node| node.text("a prompt").map(str::to_owned))?;
    let file = object.read("promptFile", |node| node.filled_text("a path").map(str::to_owned))?;
    match (text, file) {
        (Some(_), Some(_)) => {
            let error = object.path.error("an agent has a `prompt` or a `promptFile`, and this one has both");
            Err(error.with_fix("keep one"))
        }
        (Some(text), None) => Ok(Some(AgentPrompt::Text(text))),
        (None, Some(file)) => Ok(Some(AgentPrompt::File(file))),
        (None, None) => Ok(None),
    }
}
