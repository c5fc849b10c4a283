//! Which space a script is run in.

use super::failure::Failure;
use super::folders;
use super::script_file::ScriptFile;
use super::shell_word::shell_word;
use agent_spaces::project::{
    DefinitionFile, Project, SpaceModules, Surroundings, check_workspace, definitions_at, find, find_foreign, find_in,
};
use agent_spaces::{Engine, Limits};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
    /// What names the same configuration to another command.
    pub(super) fn argument(&self) -> String {
        self.config
            .as_ref()
            .map(|file| format!(" --config {}", shell_word(&file.display().to_string())))
            .unwrap_or_default()
    }

    /// Whether the configuration may have this key: it stands in its text, perhaps by escapes, or only running it tells.
    fn may_say(&self, key: &str) -> bool {
        let file = match &self.config {
            Some(file) => Some(file.clone()),
            None => find(Path::new("."), folders::user_config().as_deref()).ok().flatten(),
        };
        file.is_some_and(|file| {
            let is_program = file.extension().is_some_and(|extension| extension == "ts");
            is_program || std::fs::read_to_string(&file).is_ok_and(|text| text.contains(key) || text.contains("\\u"))
        })
    }

    /// The project that was named, or the one here; without a configuration, the folder of a `.mcp.json`.
    pub(super) fn open(&self, engine: &Engine) -> Result<Option<Project>, Failure> {
        self.open_with(engine, |_| Ok(Vec::new()))
    }

    /// As [`ConfigChoice::open`]; where there is no configuration, these definitions are the project's too.
    fn open_with(
        &self,
        engine: &Engine,
        definitions: impl FnOnce(&Surroundings) -> Result<Vec<DefinitionFile>, Failure>,
    ) -> Result<Option<Project>, Failure> {
        let surroundings = folders::surroundings();
        if let Some(file) = &self.config {
            return Ok(Some(Project::open_in(file, engine, &surroundings)?));
        }
        let here = Path::new(".");
        match find(here, None)? {
            Some(file) => Ok(Some(Project::open_in(&file, engine, &surroundings)?)),
            None => match find_foreign(here)? {
                Some(folder) => {
                    let definitions = definitions(&surroundings)?;
                    Ok(Some(Project::without_config(&folder, definitions, &surroundings)?))
                }
                None => match &surroundings.user_folder {
                    Some(folder) if folder.is_dir() => {
                        let file = find_in(folder)?;
                        Ok(file.map(|file| Project::open_in(&file, engine, &surroundings)).transpose()?)
                    }
                    _ => Ok(None),
                },
            },
        }
    }
}

/// The definitions of a folder, with what their user accepted of them.
fn definitions(folder: &Path, surroundings: &Surroundings) -> Result<Vec<DefinitionFile>, Failure> {
    let mut definitions = definitions_at(folder, &surroundings.outlines)?;
    surroundings.look_at(&mut definitions)?;
    Ok(definitions)
}

impl SpaceChoice {
    /// What the script may be given.
    pub(super) fn find(&self, script: &ScriptFile, engine: &Engine) -> Result<Found, Failure> {
        self.find_beside(script.folder.as_deref(), engine)
    }

    /// What scripts of this folder may be given.
    pub(super) fn find_here(&self, engine: &Engine) -> Result<Found, Failure> {
        self.find_beside(Some(Path::new(".")), engine)
    }

    /// Whether its configuration may have this key; found out without reading all of it.
    pub(super) fn may_say(&self, key: &str) -> bool {
        self.capabilities.is_none() && self.config.may_say(key)
    }

    /// The folder of definitions that were named, or that are beside a script.
    pub(super) fn definitions_folder(&self, beside: Option<&Path>) -> Option<PathBuf> {
        let beside = || beside.map(|folder| folder.join("capabilities"));
        self.capabilities.clone().or_else(beside).filter(|folder| folder.exists())
    }

    /// What scripts of a folder may be given.
    pub(super) fn find_beside(&self, folder: Option<&Path>, engine: &Engine) -> Result<Found, Failure> {
        if let Some(folder) = &self.capabilities {
            return Ok(Found::Definitions(self::definitions(folder, &folders::surroundings())?));
        }
        let beside = folder.map(|folder| folder.join("capabilities")).filter(|folder| folder.is_dir());
        let definitions = |surroundings: &Surroundings| match &beside {
            Some(folder) => self::definitions(folder, surroundings),
            None => Ok(Vec::new()),
        };
        if let Some(project) = self.config.open_with(engine, definitions)? {
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
        Ok(Found::Definitions(definitions(&folders::surroundings())?))
    }

    /// The space's name.
    pub(super) fn space(&self) -> Option<&str> {
        self.space.as_deref()
    }

    /// The definitions as the chosen space sees them.
    pub(super) fn modules<'a>(&self, found: &'a Found) -> Result<SpaceModules<'a>, Failure> {
        match found {
            Found::Project(project) => Ok(project.space(self.space.as_deref())?),
            Found::Definitions(definitions) => Ok(SpaceModules::all(definitions)),
        }
    }

    /// A folder that was named on the command line, as a workspace.
    pub(super) fn workspace(&self, found: &Found, folder: &Path) -> Result<PathBuf, Failure> {
        Ok(match found {
            Found::Project(project) => project.checked_workspace(folder, "--workspace")?,
            Found::Definitions(definitions) => {
                let files = definitions.iter().flat_map(|definition| definition.protected(Path::new("")));
                check_workspace(folder, files.chain(folders::surroundings().protected), "--workspace")?
            }
        })
    }

    /// The folder that definitions are in or beside.
    pub(super) fn folder(&self, found: &Found) -> PathBuf {
        match found {
            Found::Project(project) => project.folder().to_owned(),
            Found::Definitions(_) => PathBuf::from("."),
        }
    }

    /// How long a run may take, where somebody says so.
    pub(super) fn time_limit(&self, found: &Found) -> Option<Duration> {
        match found {
            Found::Project(project) => project.time_limit(self.space.as_deref()),
            Found::Definitions(_) => None,
        }
    }

    /// What to tell of a configuration that raises no limit before it is accepted.
    pub(super) fn raised_note(&self, found: &Found) -> Option<String> {
        match found {
            Found::Project(project) => project.raised_note(self.space.as_deref()),
            Found::Definitions(_) => None,
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
