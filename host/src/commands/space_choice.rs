//! Which space a script is run in.

use super::failure::Failure;
use super::folders;
use super::script_file::ScriptFile;
use agent_spaces::project::{DefinitionFile, Project, SpaceModules, definitions_at, find};
use agent_spaces::{Engine, Limits};
use clap::Args;
use std::path::{Path, PathBuf};

/// Where capabilities come from.
#[derive(Args)]
pub(super) struct SpaceChoice {
    /// The space of the configuration that the script is run in [default: its global capabilities alone]
    #[arg(long, value_name = "NAME", conflicts_with = "capabilities")]
    space: Option<String>,

    #[command(flatten)]
    config: ConfigChoice,

    /// Folder of definitions to give the script, instead of what a configuration says [default: `capabilities`
    /// beside the script, if there is one and no configuration]
    #[arg(long, value_name = "DIR", conflicts_with = "config")]
    capabilities: Option<PathBuf>,
}

/// Which configuration is used.
#[derive(Args)]
pub(super) struct ConfigChoice {
    /// The configuration [default: agent-spaces.config.{json,toml,ts} of this folder or the nearest above, then
    /// of the user's configuration folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// A project, or the definitions of a folder.
pub(super) enum Found {
    Project(Box<Project>),
    Definitions(Vec<DefinitionFile>),
}

impl ConfigChoice {
    /// The project that was named, or the one here.
    pub(super) fn open(&self, engine: &Engine) -> Result<Option<Project>, Failure> {
        let file = match &self.config {
            Some(file) => Some(file.clone()),
            None => find(Path::new("."), folders::user_config().as_deref())?,
        };
        let open = |file: PathBuf| Project::open(&file, engine, &folders::outlines());
        Ok(file.map(open).transpose()?)
    }
}

impl SpaceChoice {
    /// What the script may be given.
    pub(super) fn find(&self, script: &ScriptFile, engine: &Engine) -> Result<Found, Failure> {
        if let Some(folder) = &self.capabilities {
            return Ok(Found::Definitions(definitions_at(folder, &folders::outlines())?));
        }
        if let Some(project) = self.config.open(engine)? {
            return Ok(Found::Project(Box::new(project)));
        }
        if let Some(space) = &self.space {
            let message = format!("there is no space `{space}`: no configuration was found");
            return Err(Failure::new(
                "config.file",
                message,
                Some("add agent-spaces.config.json, or name one with --config"),
            ));
        }
        let beside = script.folder.as_ref().map(|folder| folder.join("capabilities")).filter(|folder| folder.is_dir());
        match beside {
            Some(folder) => Ok(Found::Definitions(definitions_at(&folder, &folders::outlines())?)),
            None => Ok(Found::Definitions(Vec::new())),
        }
    }

    /// The definitions as the chosen space sees them.
    pub(super) fn modules<'a>(&self, found: &'a Found) -> Result<SpaceModules<'a>, Failure> {
        match found {
            Found::Project(project) => Ok(project.space(self.space.as_deref())?),
            Found::Definitions(definitions) => Ok(SpaceModules::all(definitions)),
        }
    }

    /// What a script may use unless the command line says otherwise.
    pub(super) fn limits(&self, found: &Found) -> Limits {
        match found {
            Found::Project(project) => project.limits(self.space.as_deref()),
            Found::Definitions(_) => Limits::default(),
        }
    }
}
