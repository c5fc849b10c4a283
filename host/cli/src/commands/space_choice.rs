//! `--space`, `--config` and `--capabilities`: the space of a script.

use super::config_choice::{ConfigChoice, definitions};
use super::failure::Failure;
use super::folders;
use super::script_file::ScriptFile;
use agent_spaces::Code;
use agent_spaces::project::{DefinitionFile, DurableSettings, Project, SpaceModules, check_workspace};
use agent_spaces::{Engine, Limits};
use clap::Args;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Source of capabilities.
#[derive(Args)]
pub(super) struct SpaceChoice {
    /// Space of the configuration to run in [default: only the global capabilities]
    #[arg(long, value_name = "NAME", conflicts_with = "capabilities")]
    space: Option<String>,

    #[command(flatten)]
    config: ConfigChoice,

    /// Folder of definitions to use instead of a configuration [default: `capabilities` beside the script, if it exists
    /// and there is no configuration but the user's own]
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    capabilities: Option<PathBuf>,
}

/// Project, or the definitions of a folder.
pub(super) enum Found {
    Project(Box<Project>),
    Definitions(Vec<DefinitionFile>),
}

impl Found {
    /// Returns the project, if there is one.
    pub(super) fn project(&self) -> Option<&Project> {
        match self {
            Found::Project(project) => Some(project),
            Found::Definitions(_) => None,
        }
    }
}

impl SpaceChoice {
    /// Opens the project or definitions for a script.
    pub(super) fn find(&self, script: &ScriptFile, engine: &Engine) -> Result<Found, Failure> {
        self.find_beside(script.folder.as_deref(), engine)
    }

    /// Opens the project or definitions for scripts of the current folder.
    pub(super) fn find_here(&self, engine: &Engine) -> Result<Found, Failure> {
        self.find_beside(Some(Path::new(".")), engine)
    }

    /// Returns true if the configuration may have this key, without parsing it.
    pub(super) fn may_say(&self, key: &str) -> bool {
        self.capabilities.is_none() && self.config.may_say(key)
    }

    /// Returns the folder of `--capabilities`, or the one beside a script.
    pub(super) fn definitions_folder(&self, beside: Option<&Path>) -> Option<PathBuf> {
        let beside = || beside.map(|folder| folder.join("capabilities"));
        self.capabilities.clone().or_else(beside).filter(|folder| folder.exists())
    }

    /// Opens the project or definitions for scripts of a folder.
    pub(super) fn find_beside(&self, folder: Option<&Path>, engine: &Engine) -> Result<Found, Failure> {
        if let Some(folder) = &self.capabilities {
            return Ok(Found::Definitions(definitions(folder, &folders::surroundings())?));
        }
        if let Some(project) = self.config.open_beside(folder, engine)? {
            return Ok(Found::Project(Box::new(project)));
        }
        if let Some(space) = &self.space {
            return Err(no_configuration(space));
        }
        Ok(Found::Definitions(
            match folder.map(|folder| folder.join("capabilities")).filter(|folder| folder.is_dir()) {
                Some(folder) => definitions(&folder, &folders::surroundings())?,
                None => Vec::new(),
            },
        ))
    }

    /// Returns the choice of configuration; `None` with `--capabilities`.
    pub(super) fn configuration(&self) -> Option<&ConfigChoice> {
        self.capabilities.is_none().then_some(&self.config)
    }

    /// Returns ` --config FILE` with an absolute path, for a command in any folder.
    pub(super) fn argument(&self) -> String {
        self.configuration().map(ConfigChoice::argument_anywhere).unwrap_or_default()
    }

    /// Returns the command that accepts the configuration: `agent-spaces trust FILE`.
    pub(super) fn trust_command(&self) -> String {
        match self.configuration().and_then(ConfigChoice::named) {
            Some(file) => format!("agent-spaces trust {file}"),
            None => "agent-spaces trust".to_owned(),
        }
    }

    /// Returns the name of the space.
    pub(super) fn space(&self) -> Option<&str> {
        self.space.as_deref()
    }

    /// Returns the modules of the chosen space.
    pub(super) fn modules<'a>(&self, found: &'a Found) -> Result<SpaceModules<'a>, Failure> {
        match found {
            Found::Project(project) => Ok(project.space(self.space.as_deref())?),
            Found::Definitions(definitions) => Ok(SpaceModules::all(definitions)),
        }
    }

    /// Checks the folder of `--workspace`.
    pub(super) fn workspace(&self, found: &Found, folder: &Path) -> Result<PathBuf, Failure> {
        Ok(match found {
            Found::Project(project) => project.checked_workspace(folder, "--workspace")?,
            Found::Definitions(definitions) => {
                let files = definitions.iter().flat_map(|definition| definition.protected(Path::new("")));
                check_workspace(folder, files.chain(folders::surroundings().protected), "--workspace")?
            }
        })
    }

    /// Returns the folder of the project.
    pub(super) fn folder(&self, found: &Found) -> PathBuf {
        match found {
            Found::Project(project) => project.folder().to_owned(),
            Found::Definitions(_) => PathBuf::from("."),
        }
    }

    /// Returns the configured time limit of a run.
    pub(super) fn time_limit(&self, found: &Found) -> Option<Duration> {
        match found {
            Found::Project(project) => project.time_limit(self.space.as_deref()),
            Found::Definitions(_) => None,
        }
    }

    /// Returns the note about limits that the configuration raises without being accepted.
    pub(super) fn raised_note(&self, found: &Found) -> Option<String> {
        match found {
            Found::Project(project) => project.raised_note(self.space.as_deref()),
            Found::Definitions(_) => None,
        }
    }

    /// Returns the configured limits of a run.
    pub(super) fn limits(&self, found: &Found) -> Limits {
        match found {
            Found::Project(project) => project.limits(self.space.as_deref()),
            Found::Definitions(_) => Limits::default(),
        }
    }
}

impl SpaceChoice {
    /// Returns the settings of durable runs.
    pub(super) fn durable(&self, found: &Found) -> DurableSettings {
        match found {
            Found::Project(project) => project.durable(self.space.as_deref()),
            Found::Definitions(_) => DurableSettings::default(),
        }
    }

    /// Returns this choice with another space, and with another configuration if one is given.
    pub(super) fn with(&self, space: Option<&str>, config: Option<&Path>) -> SpaceChoice {
        let config = config.or(self.config.file()).map(Path::to_owned);
        SpaceChoice {
            space: space.map(str::to_owned).or_else(|| self.space.clone()),
            config: ConfigChoice::of(config),
            capabilities: self.capabilities.clone(),
        }
    }

    /// Returns the choice as JSON, for a command that continues in the same folder.
    pub(super) fn to_json(&self) -> Value {
        let path = |path: Option<&Path>| path.map(|path| path.to_string_lossy().into_owned());
        let (config, capabilities) = (path(self.config.file()), path(self.capabilities.as_deref()));
        json!({ "space": self.space, "config": config, "capabilities": capabilities })
    }

    /// Reads a choice from JSON.
    pub(super) fn from_json(value: &Value) -> SpaceChoice {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        SpaceChoice {
            space: text("space"),
            config: ConfigChoice::of(text("config").map(PathBuf::from)),
            capabilities: text("capabilities").map(PathBuf::from),
        }
    }
}

/// Error of `--space` without a configuration.
pub(super) fn no_configuration(space: &str) -> Failure {
    let message = format!("there is no space `{space}`: no configuration was found");
    let hint = "add agent-spaces.config.json (`agent-spaces init` writes one), or name one with --config";
    Failure::new(Code::ConfigFile, message, Some(hint))
}
