//! Agents from the configuration. [`ConfiguredAgents`] resolves the definition of an agent on demand, so that a missing
//! key disables only the agents that need it.
//!
//! - `target`: resolution of a model target

mod target;
#[cfg(test)]
mod tests;

use crate::definition::{AgentDefinition, AgentLimits, Budget, Budgets, OutputFormat, Sampling, ToolMode};
use crate::error::AgentError;
use crate::model::ModelTarget;
use agent_spaces_config::{
    Agent, AgentBudget, AgentOutput, AgentPrompt, AgentTools, Decimal, ModelChoice, ModelProvider,
};
use agent_spaces_secrets::{Redactor, Variables};
use agent_spaces_types::nearest::nearest;
use capability_gen::validate::Validator;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the default agent, used if the configuration has no agents.
pub const DEFAULT_AGENT: &str = "agent";

/// Prompt of agents without one.
const DEFAULT_PROMPT: &str = "You are a helpful assistant. Use your tools where they help. Answer briefly, and say what \
                              you do not know.";

/// Maximum size of a prompt, in bytes. It is a part of every request.
const MAX_PROMPT: u64 = 256 << 10;

/// Configured agents and models, with the variables that they use.
#[derive(Clone, Debug)]
pub struct ConfiguredAgents {
    /// Configuration file, for errors.
    pub file: String,
    /// Base folder of relative paths.
    pub folder: PathBuf,
    /// Providers by name.
    pub models: BTreeMap<String, ModelProvider>,
    /// Agents by name.
    pub agents: BTreeMap<String, Agent>,
    /// Defaults for agents.
    pub defaults: AgentDefaults,
    /// Variables for `${VAR}`.
    pub variables: Variables,
    /// Masks API keys; each key that is read is added.
    pub redactor: Redactor,
}

/// Defaults for agents.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentDefaults {
    /// Sampling.
    pub sampling: Sampling,
    /// Timeout of one call of a tool.
    pub tool_timeout: Option<Duration>,
}

impl ConfiguredAgents {
    /// Creates an empty configuration.
    pub fn new(file: String, folder: PathBuf, variables: Variables, redactor: Redactor) -> ConfiguredAgents {
        let (models, agents, defaults) = (BTreeMap::new(), BTreeMap::new(), AgentDefaults::default());
        ConfiguredAgents { file, folder, models, agents, defaults, variables, redactor }
    }

    /// Names and descriptions of all agents, sorted; with none, the default agent.
    pub fn names(&self) -> Vec<(String, String)> {
        if self.agents.is_empty() {
            return vec![(DEFAULT_AGENT.to_owned(), "Answers questions with the configured tools.".to_owned())];
        }
        let described = |agent: &Agent| agent.description.clone().unwrap_or_default();
        self.agents.iter().map(|(name, agent)| (name.clone(), described(agent))).collect()
    }

    /// Name of the default agent: the only one, or [`DEFAULT_AGENT`].
    ///
    /// # Errors
    /// If there are several.
    pub fn only(&self) -> Result<&str, AgentError> {
        match self.agents.keys().next() {
            None => Ok(DEFAULT_AGENT),
            Some(name) if self.agents.len() == 1 => Ok(name),
            Some(_) if self.agents.contains_key(DEFAULT_AGENT) => Ok(DEFAULT_AGENT),
            Some(_) => Err(AgentError::Invalid(format!("which agent? {}", self.known()))),
        }
    }

    /// Resolves an agent. `models` override its own, unless they are empty.
    ///
    /// # Errors
    /// If there is no such agent, or its settings cannot be used. The message names file, place and fix.
    pub fn definition(&self, name: &str, models: &[ModelChoice]) -> Result<AgentDefinition, AgentError> {
        let standard = Agent { place: "$.models".to_owned(), ..Agent::default() };
        let agent = match self.agents.get(name) {
            Some(agent) => agent,
            None if self.agents.is_empty() && name == DEFAULT_AGENT => &standard,
            None => return Err(AgentError::UnknownAgent { name: name.to_owned(), known: self.known() }),
        };
        let choices = match (models, agent.models.as_slice()) {
            ([], []) => vec![self.only_model()?],
            ([], own) => own.to_vec(),
            (given, _) => given.to_vec(),
        };
        let given = !models.is_empty();
        let models =
            choices.iter().map(|choice| self.target(agent, choice, given)).collect::<Result<Vec<ModelTarget>, _>>()?;
        let budgets = agent.budgets;
        let is_cost_bounded = [budgets.run, budgets.session, budgets.day].iter().any(|budget| budget.cost.is_some());
        if is_cost_bounded && !given && models.iter().all(|model| model.price.is_none()) {
            let fix = "add `price` to its models, or set `tokens`";
            return Err(AgentError::Configuration(format!(
                "{}: {}.budgets: no model of the agent has a price, so `cost` would never be reached; {fix}",
                self.file, agent.place
            )));
        }
        let limits = AgentLimits::default();
        let tool_timeout = agent.limits.tool_timeout.or(self.defaults.tool_timeout);
        let sampling = self.defaults.sampling;
        Ok(AgentDefinition {
            name: name.to_owned(),
            description: agent.description.clone().unwrap_or_default(),
            prompt: self.prompt(agent)?,
            models,
            space: agent.space.clone(),
            tools: agent.tools.map_or(ToolMode::Auto, tool_mode),
            output: self.output(agent)?,
            sampling: Sampling {
                temperature: agent.temperature.map(Decimal::get).or(sampling.temperature),
                top_p: agent.top_p.map(Decimal::get).or(sampling.top_p),
                parallel_tool_calls: agent.parallel_tool_calls.or(sampling.parallel_tool_calls),
                max_output_tokens: agent.max_output_tokens.or(sampling.max_output_tokens),
            },
            limits: AgentLimits {
                turns: agent.limits.turns.unwrap_or(limits.turns),
                time: agent.limits.time.unwrap_or(limits.time),
                tool_timeout: tool_timeout.unwrap_or(limits.tool_timeout),
                parallel_calls: agent.limits.parallel_calls.map_or(limits.parallel_calls, |calls| calls as usize),
                attempts: agent.limits.attempts.unwrap_or(limits.attempts),
            },
            budgets: Budgets {
                run: budget(agent.budgets.run),
                session: budget(agent.budgets.session),
                day: budget(agent.budgets.day),
            },
        })
    }

    fn target(&self, agent: &Agent, choice: &ModelChoice, is_given: bool) -> Result<ModelTarget, AgentError> {
        let well_known;
        let provider = match self.models.get(&choice.provider) {
            Some(provider) => provider,
            // Whoever writes a command line chooses which of their own keys is read; a file says so itself.
            None if is_given => match ModelProvider::well_known(&choice.provider) {
                Some(provider) => {
                    well_known = provider;
                    &well_known
                }
                None => return Err(self.unknown_provider("--model", choice)),
            },
            None => return Err(self.unknown_provider(&format!("{}: {}.models", self.file, agent.place), choice)),
        };
        target::target(self, choice, provider)
    }

    fn unknown_provider(&self, place: &str, choice: &ModelChoice) -> AgentError {
        let fix = match nearest(&choice.provider, self.models.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "add it to `models` of the configuration".to_owned(),
        };
        AgentError::Configuration(format!("{place}: there is no provider {:?}; {fix}", choice.provider))
    }

    /// The only configured model.
    fn only_model(&self) -> Result<ModelChoice, AgentError> {
        let mut all = self.models.iter().flat_map(|(provider, settings)| {
            settings.models.keys().map(move |model| ModelChoice { provider: provider.clone(), model: model.clone() })
        });
        let fix = "name one with --model provider/model, or configure an agent in `agents`";
        match (all.next(), all.next()) {
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => {
                let message = format!("{}: $.models: several models are configured; {fix}", self.file);
                Err(AgentError::Configuration(message))
            }
            (None, _) => Err(AgentError::Configuration(format!("no model is configured; {fix}"))),
        }
    }

    fn known(&self) -> String {
        let names = self.names().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        format!("Agents: {}", names.join(", "))
    }

    fn prompt(&self, agent: &Agent) -> Result<String, AgentError> {
        match &agent.prompt {
            None => Ok(DEFAULT_PROMPT.to_owned()),
            Some(AgentPrompt::Text(text)) => Ok(text.clone()),
            Some(AgentPrompt::File(file)) => {
                let path = join(&self.folder, file);
                read_prompt(&path).map_err(|error| {
                    let place = format!("{}: {}.promptFile", self.file, agent.place);
                    AgentError::Configuration(format!("{place}: {}: {error}", path.display()))
                })
            }
        }
    }

    fn output(&self, agent: &Agent) -> Result<OutputFormat, AgentError> {
        Ok(match &agent.output {
            AgentOutput::Text => OutputFormat::Text,
            AgentOutput::Markdown => OutputFormat::Markdown,
            AgentOutput::Schema(schema) => {
                if let Err(error) = Validator::new(schema) {
                    let place = format!("{}: {}.output.schema", self.file, agent.place);
                    return Err(AgentError::Configuration(format!("{place}: the schema is not usable: {error}")));
                }
                OutputFormat::Json(schema.clone())
            }
        })
    }
}

fn tool_mode(tools: AgentTools) -> ToolMode {
    match tools {
        AgentTools::Code => ToolMode::Code,
        AgentTools::Direct => ToolMode::Direct,
        AgentTools::Auto => ToolMode::Auto,
        AgentTools::Off => ToolMode::Off,
    }
}

fn budget(budget: AgentBudget) -> Budget {
    Budget { tokens: budget.tokens, cost: budget.cost.map(Decimal::get) }
}

/// Joins a path to a folder. `~/` is the user's home.
fn join(folder: &Path, path: &str) -> PathBuf {
    match path.strip_prefix("~/").zip(std::env::home_dir()) {
        Some((rest, home)) => home.join(rest),
        None => folder.join(path.strip_prefix("./").unwrap_or(path)),
    }
}

/// Reads a prompt of limited size.
fn read_prompt(file: &Path) -> Result<String, String> {
    if !file.is_file() {
        return Err("there is no such file; correct the path".to_owned());
    }
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let read = opened.take(MAX_PROMPT + 1).read_to_string(&mut text);
    match read.map_err(|error| error.to_string())? as u64 > MAX_PROMPT {
        true => Err(format!("the prompt is larger than {MAX_PROMPT} bytes; shorten it")),
        false => Ok(text),
    }
}
