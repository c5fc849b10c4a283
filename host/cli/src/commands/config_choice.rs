//! `--config`, and the search for a configuration without it.

use super::failure::Failure;
use super::folders;
use super::shell_word::shell_word;
use agent_spaces::Engine;
use agent_spaces::config::foreign::AI_AGENT_FILE;
use agent_spaces::config::{Config, Format, MAX_BYTES};
use agent_spaces::project::{
    DefinitionFile, Project, Surroundings, definitions_at, find, find_foreign, find_in, foreign_files, peek_config,
};
use clap::Args;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Choice of the configuration.
#[derive(Args)]
pub(super) struct ConfigChoice {
    /// Configuration file [default: agent-spaces.config.{json,toml,yaml,yml,ts} in this folder or the nearest parent; then
    /// the MCP servers of a .mcp.json here or in a parent; then the user's own configuration]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Location of the configuration, by how it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ConfigLocation {
    /// Named with `--config`.
    Named(PathBuf),
    /// In this folder, or the nearest one above.
    Above(PathBuf),
    /// Folder with MCP configurations of other programs, and no agent-spaces configuration.
    Foreign(PathBuf),
    /// In the user's configuration folder.
    User(PathBuf),
}

impl ConfigLocation {
    /// Returns the agent-spaces configuration file, if it is one.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            ConfigLocation::Named(file) | ConfigLocation::Above(file) | ConfigLocation::User(file) => Some(file),
            ConfigLocation::Foreign(_) => None,
        }
    }

    /// Returns the folder that paths are relative to.
    pub(super) fn folder(&self) -> PathBuf {
        match self {
            ConfigLocation::Foreign(folder) => folder.clone(),
            ConfigLocation::Named(file) | ConfigLocation::Above(file) | ConfigLocation::User(file) => folder_of(file),
        }
    }

    /// Returns the paths of the files that are used.
    pub(super) fn shown(&self) -> String {
        match self {
            ConfigLocation::Named(file) | ConfigLocation::Above(file) | ConfigLocation::User(file) => {
                file.display().to_string()
            }
            ConfigLocation::Foreign(folder) => {
                let files = foreign_files(folder, std::env::home_dir().as_deref());
                files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Explains the choice, and names the user's own configuration if it is not used.
    pub(super) fn reason(&self) -> String {
        let own = folders::user_config().and_then(|folder| find_in(&folder).ok().flatten());
        let is_same = |one: &Path, other: &Path| {
            one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
        };
        let unused = match (self.file(), own) {
            (Some(file), Some(own)) if is_same(file, &own) => String::new(),
            (_, Some(own)) => format!("; your own configuration, {}, is not used", own.display()),
            (_, None) => String::new(),
        };
        let why = match self {
            ConfigLocation::Named(_) => "named with --config".to_owned(),
            ConfigLocation::Above(file) => match file.parent() {
                Some(folder) if !folder.as_os_str().is_empty() && folder != Path::new(".") => {
                    format!("{} is the nearest parent folder with a configuration", folder.display())
                }
                _ => "it is in this folder".to_owned(),
            },
            ConfigLocation::Foreign(_) => "no agent-spaces.config file in this folder or its parents".to_owned(),
            ConfigLocation::User(_) => {
                "your own: no configuration or .mcp.json in this folder or its parents".to_owned()
            }
        };
        format!("{why}{unused}")
    }
}

impl ConfigChoice {
    /// Creates the choice of a file.
    pub(super) fn of(config: Option<PathBuf>) -> ConfigChoice {
        ConfigChoice { config }
    }

    /// Returns the file of `--config`.
    pub(super) fn file(&self) -> Option<&Path> {
        self.config.as_deref()
    }

    /// Returns ` --config FILE` for a command in the same folder; empty if it was not given.
    pub(super) fn argument(&self) -> String {
        self.config
            .as_ref()
            .map(|file| format!(" --config {}", shell_word(&file.display().to_string())))
            .unwrap_or_default()
    }

    /// Returns ` --config FILE` with an absolute path, for a command in any folder.
    pub(super) fn argument_anywhere(&self) -> String {
        self.named().map(|file| format!(" --config {file}")).unwrap_or_default()
    }

    /// Returns the absolute path of `--config`, quoted for a shell.
    pub(super) fn named(&self) -> Option<String> {
        let file = self.config.as_ref()?;
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.clone());
        Some(shell_word(&whole.display().to_string()).to_string())
    }

    /// Finds the configuration.
    pub(super) fn locate(&self) -> Result<Option<ConfigLocation>, Failure> {
        if let Some(file) = &self.config {
            return Ok(Some(match file.file_name().is_some_and(|name| name == AI_AGENT_FILE) {
                true => ConfigLocation::Foreign(folder_of(file)),
                false => ConfigLocation::Named(file.clone()),
            }));
        }
        let (here, home) = (Path::new("."), std::env::home_dir());
        if let Some(file) = find(here, None)? {
            let is_own = folders::user_config().is_some_and(|own| {
                file.parent().is_some_and(|folder| {
                    folder.canonicalize().is_ok_and(|folder| own.canonicalize().is_ok_and(|own| own == folder))
                })
            });
            return Ok(Some(if is_own { ConfigLocation::User(file) } else { ConfigLocation::Above(file) }));
        }
        if let Some(folder) = find_foreign(here, home.as_deref())? {
            return Ok(Some(ConfigLocation::Foreign(folder)));
        }
        if let Some(folder) = folders::user_config().filter(|folder| folder.is_dir())
            && let Some(file) = find_in(&folder)?
        {
            return Ok(Some(ConfigLocation::User(file)));
        }
        // The home folder counts as a project only if there is nothing else.
        let is_home = home.as_ref().is_some_and(|home| {
            here.canonicalize().is_ok_and(|here| home.canonicalize().is_ok_and(|home| home == here))
        });
        let has_files = is_home && !foreign_files(here, home.as_deref()).is_empty();
        Ok(has_files.then(|| ConfigLocation::Foreign(here.to_owned())))
    }

    /// Returns true if the configuration may have this key: its text contains the key or an escape, or it is a script.
    pub(super) fn may_say(&self, key: &str) -> bool {
        let located = self.locate().ok().flatten();
        located.as_ref().and_then(ConfigLocation::file).is_some_and(|file| {
            let escape = match Format::of(file) {
                None => return true,
                Some(Format::Yaml) => "\\",
                Some(Format::Json | Format::Toml) => "\\u",
            };
            let mut text = String::new();
            // One that is too large is refused when it is parsed.
            let read = File::open(file).and_then(|file| file.take(MAX_BYTES as u64).read_to_string(&mut text));
            read.is_ok() && (text.contains(key) || text.contains(escape))
        })
    }

    /// Reads the configuration without the files that it names, and returns true if the user accepted it. `None` if it
    /// cannot be read: opening it reports the error.
    pub(super) fn peek(&self) -> Option<(Config, bool)> {
        let located = self.locate().ok().flatten()?;
        let file = located.file()?;
        peek_config(file, &|| folders::engine(true).map_err(Into::into), &folders::surroundings()).ok()
    }

    /// Opens the project of the configuration, or without one the folder of a `.mcp.json`.
    pub(super) fn open(&self, engine: &Engine) -> Result<Option<Project>, Failure> {
        self.open_beside(None, engine)
    }

    /// Like [`ConfigChoice::open`]. Adds the definitions of `capabilities` in `folder`, unless a configuration belongs
    /// to the project.
    pub(super) fn open_beside(&self, folder: Option<&Path>, engine: &Engine) -> Result<Option<Project>, Failure> {
        let surroundings = folders::surroundings();
        let beside = || match folder.map(|folder| folder.join("capabilities")).filter(|folder| folder.is_dir()) {
            Some(folder) => definitions(&folder, &surroundings),
            None => Ok(Vec::new()),
        };
        Ok(match self.locate()? {
            None => None,
            Some(ConfigLocation::Named(file) | ConfigLocation::Above(file)) => {
                Some(Project::open_in(&file, engine, &surroundings)?)
            }
            Some(ConfigLocation::Foreign(folder)) => Some(Project::without_config(&folder, beside()?, &surroundings)?),
            Some(ConfigLocation::User(file)) => Some(Project::open_beside(&file, beside()?, engine, &surroundings)?),
        })
    }
}

/// Returns the folder of a file.
fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Reads the definitions of a folder, with their acceptance status.
pub(super) fn definitions(folder: &Path, surroundings: &Surroundings) -> Result<Vec<DefinitionFile>, Failure> {
    let mut definitions = definitions_at(folder, &surroundings.outlines)?;
    surroundings.look_at(&mut definitions)?;
    Ok(definitions)
}
