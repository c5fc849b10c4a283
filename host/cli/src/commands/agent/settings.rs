//! Models and agents: those of the configuration, else the models of an `.ai-agent.json`.

use crate::commands::config_choice::ConfigLocation;
use crate::commands::failure::Failure;
use crate::commands::space_choice::SpaceChoice;
use crate::commands::{folders, known_secrets, terminal, trust};
use agent_spaces::Code;
use agent_spaces::agent::{AgentDefaults, ConfiguredAgents, Sampling};
use agent_spaces::config::Config;
use agent_spaces::config::foreign::AI_AGENT_FILE;
use agent_spaces::project::{ai_agent_file, peek_config};
use agent_spaces_mcp::secrets::Variables;
use std::path::{Path, PathBuf};

/// Settings of one command.
pub(in crate::commands) struct Settings {
    /// Agents and models.
    pub(in crate::commands) agents: ConfiguredAgents,
    /// Usage log of the configuration.
    pub(super) accounting: Option<PathBuf>,
    /// Source of the tools.
    pub(in crate::commands) choice: SpaceChoice,
}

impl Settings {
    /// Reads the settings. A file that was not accepted is refused, because it says where conversations go.
    pub(in crate::commands) fn load(choice: &SpaceChoice) -> Result<Settings, Failure> {
        Settings::read(choice, false)
    }

    /// As [`Settings::load`], but on a terminal the user is asked to accept the file.
    pub(super) fn load_asking(choice: &SpaceChoice) -> Result<Settings, Failure> {
        Settings::read(choice, true)
    }

    fn read(choice: &SpaceChoice, may_ask: bool) -> Result<Settings, Failure> {
        let located = choice.configuration().map(|config| config.locate()).transpose()?.flatten();
        let folder = located.as_ref().map_or_else(|| PathBuf::from("."), ConfigLocation::folder);
        let config = located.as_ref().and_then(ConfigLocation::file);
        let (variables, redactor) = (Variables::of_process(), known_secrets::redactor().clone());
        let mut agents = ConfiguredAgents::new(String::new(), folder.clone(), variables, redactor);
        let mut usage_log = None;
        if let Some(file) = config {
            let Config { file: shown, models, agents: configured, accounting, .. } = accepted_config(file, may_ask)?;
            agents.file = shown;
            // One without models and agents may be unaccepted.
            if !(models.is_empty() && configured.is_empty()) {
                usage_log = accounting.map(|accounting| in_folder(&folder, &accounting.file));
            }
            (agents.models, agents.agents) = (models, configured);
        }
        let mut choice = choice.with(None, None);
        if agents.models.is_empty()
            && let Some(file) = ai_agent_in(&folder)
        {
            add_ai_agent(&mut agents, &file, may_ask)?;
            // Without any other configuration its servers are used too.
            if located.is_none() && choice.configuration().is_some() {
                choice = choice.with(None, Some(&file));
            }
        }
        Ok(Settings { agents, accounting: usage_log, choice })
    }

    /// Returns the `.ai-agent.json` that is read for these settings, if one is: a confined command needs access to it.
    pub(in crate::commands) fn ai_agent_file(choice: &SpaceChoice) -> Option<PathBuf> {
        let located = choice.configuration().and_then(|config| config.locate().ok().flatten());
        if let Some(file) = located.as_ref().and_then(ConfigLocation::file) {
            // A configuration that cannot be read is reported later.
            let (config, _) =
                peek_config(file, &|| folders::engine(true).map_err(Into::into), &folders::surroundings()).ok()?;
            if !config.models.is_empty() {
                return None;
            }
        }
        ai_agent_in(&located.map_or_else(|| PathBuf::from("."), |located| located.folder()))
    }
}

/// A path of a configuration in this folder. `~/` is the user's home.
fn in_folder(folder: &Path, path: &str) -> PathBuf {
    match path.strip_prefix("~/").zip(std::env::home_dir()) {
        Some((rest, home)) => home.join(rest),
        None => folder.join(path.strip_prefix("./").unwrap_or(path)),
    }
}

/// Reads a configuration. One without models and agents may be unaccepted: it has no say here.
fn accepted_config(file: &Path, may_ask: bool) -> Result<Config, Failure> {
    let (config, is_accepted) =
        peek_config(file, &|| folders::engine(true).map_err(Into::into), &folders::surroundings())?;
    match is_accepted || (config.models.is_empty() && config.agents.is_empty()) {
        true => Ok(config),
        // Read again: it may have changed while its user read it.
        false if may_ask && trust::ask_for_file(file)? => accepted_config(file, may_ask),
        false => Err(unaccepted(file)),
    }
}

/// Returns the `.ai-agent.json` of a folder, else the user's own.
fn ai_agent_in(folder: &Path) -> Option<PathBuf> {
    let own = std::env::home_dir();
    let folders = [Some(folder.to_owned()), Some(PathBuf::from(".")), own];
    folders.into_iter().flatten().map(|folder| folder.join(AI_AGENT_FILE)).find(|file| file.is_file())
}

fn add_ai_agent(agents: &mut ConfiguredAgents, file: &Path, may_ask: bool) -> Result<(), Failure> {
    let found = ai_agent_file(file, &folders::surroundings())?;
    if found.acceptance.obstacle().is_some() {
        return match may_ask && trust::ask_for_file(file)? {
            true => add_ai_agent(agents, file, may_ask),
            false => Err(unaccepted(file)),
        };
    }
    let settings = found.settings;
    settings.warnings.iter().for_each(|warning| terminal::warn(&warning.to_string()));
    agents.file = file.display().to_string();
    agents.models = settings.models;
    agents.defaults = AgentDefaults {
        sampling: Sampling {
            temperature: settings.temperature.map(|temperature| temperature.get()),
            top_p: settings.top_p.map(|top_p| top_p.get()),
            parallel_tool_calls: settings.parallel_tool_calls,
            max_output_tokens: None,
        },
        tool_timeout: settings.tool_timeout,
    };
    Ok(())
}

fn unaccepted(file: &Path) -> Failure {
    let file = file.display();
    let message =
        format!("{file} is not accepted, or has changed since: it says where conversations and keys are sent");
    Failure::new(Code::CallDenied, message, Some(&format!("read it, then run `agent-spaces trust {file}`")))
}
