//! Which configuration a command uses, and why that one.

use super::failure::Failure;
use super::folders;
use super::shell_word::shell_word;
use agent_spaces::Engine;
use agent_spaces::config::{Config, Format};
use agent_spaces::project::{
    DefinitionFile, Project, Surroundings, definitions_at, find, find_foreign, find_in, foreign_files, peek_config,
};
use clap::Args;
use std::path::{Path, PathBuf};

/// Which configuration is used.
#[derive(Args)]
pub(super) struct ConfigChoice {
    /// The configuration [default: agent-spaces.config.{json,toml,yaml,yml,ts} of this folder or the nearest above; then the
    /// MCP servers of a .mcp.json here or above; then the configuration of the user's own folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Where the configuration is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Located {
    /// A file that the command line names.
    Named(PathBuf),
    /// Of this folder, or of the nearest above.
    Above(PathBuf),
    /// A folder with files of other programs, and no configuration of ours.
    Foreign(PathBuf),
    /// The user's own.
    User(PathBuf),
}

impl Located {
    /// Our own file, where it is one.
    fn file(&self) -> Option<&Path> {
        match self {
            Located::Named(file) | Located::Above(file) | Located::User(file) => Some(file),
            Located::Foreign(_) => None,
        }
    }

    /// What is used, for people.
    pub(super) fn shown(&self) -> String {
        match self {
            Located::Named(file) | Located::Above(file) | Located::User(file) => file.display().to_string(),
            Located::Foreign(folder) => {
                let files = foreign_files(folder, std::env::home_dir().as_deref());
                files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// Why it is this one, and which is not used for that.
    pub(super) fn reason(&self) -> String {
        let own = folders::user_config().and_then(|folder| find_in(&folder).ok().flatten());
        let is_same = |one: &Path, other: &Path| {
            one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|other| one == other))
        };
        let unused = match (self.file(), own) {
            (Some(file), Some(own)) if is_same(file, &own) => String::new(),
            (_, Some(own)) => format!("; your own, {}, is not used here", own.display()),
            (_, None) => String::new(),
        };
        let why = match self {
            Located::Named(_) => "named with --config".to_owned(),
            Located::Above(file) => match file.parent() {
                Some(folder) if !folder.as_os_str().is_empty() && folder != Path::new(".") => {
                    format!("{} is the nearest folder above this one that has a configuration", folder.display())
                }
                _ => "it is in this folder".to_owned(),
            },
            Located::Foreign(_) => "no folder from here up has an agent-spaces.config file".to_owned(),
            Located::User(_) => "your own: no folder from here up has a configuration or a .mcp.json".to_owned(),
        };
        format!("{why}{unused}")
    }
}

impl ConfigChoice {
    /// What names the same configuration to another command.
    pub(super) fn argument(&self) -> String {
        self.config
            .as_ref()
            .map(|file| format!(" --config {}", shell_word(&file.display().to_string())))
            .unwrap_or_default()
    }

    /// The same, wherever that command is run.
    pub(super) fn argument_anywhere(&self) -> String {
        self.named().map(|file| format!(" --config {file}")).unwrap_or_default()
    }

    /// The file that the command line names, by its whole path, as a shell reads it.
    pub(super) fn named(&self) -> Option<String> {
        let file = self.config.as_ref()?;
        let whole = std::path::absolute(file).unwrap_or_else(|_| file.clone());
        Some(shell_word(&whole.display().to_string()).to_string())
    }

    /// Where the configuration is; nothing where there is none.
    pub(super) fn locate(&self) -> Result<Option<Located>, Failure> {
        if let Some(file) = &self.config {
            return Ok(Some(Located::Named(file.clone())));
        }
        let (here, home) = (Path::new("."), std::env::home_dir());
        if let Some(file) = find(here, None)? {
            let is_own = folders::user_config().is_some_and(|own| {
                file.parent().is_some_and(|folder| {
                    folder.canonicalize().is_ok_and(|folder| own.canonicalize().is_ok_and(|own| own == folder))
                })
            });
            return Ok(Some(if is_own { Located::User(file) } else { Located::Above(file) }));
        }
        if let Some(folder) = find_foreign(here, home.as_deref())? {
            return Ok(Some(Located::Foreign(folder)));
        }
        if let Some(folder) = folders::user_config().filter(|folder| folder.is_dir())
            && let Some(file) = find_in(&folder)?
        {
            return Ok(Some(Located::User(file)));
        }
        // The home folder is no project, but for whoever has nothing else.
        let is_home = home.as_ref().is_some_and(|home| {
            here.canonicalize().is_ok_and(|here| home.canonicalize().is_ok_and(|home| home == here))
        });
        let has_files = is_home && !foreign_files(here, home.as_deref()).is_empty();
        Ok(has_files.then(|| Located::Foreign(here.to_owned())))
    }

    /// Whether the configuration may have this key: it stands in its text, perhaps by escapes, or only running it tells.
    pub(super) fn may_say(&self, key: &str) -> bool {
        let located = self.locate().ok().flatten();
        located.as_ref().and_then(Located::file).is_some_and(|file| {
            let escape = match Format::of(file) {
                None => return true,
                Some(Format::Yaml) => "\\",
                Some(Format::Json | Format::Toml) => "\\u",
            };
            std::fs::read_to_string(file).is_ok_and(|text| text.contains(key) || text.contains(escape))
        })
    }

    /// What the configuration says, without what it names, and whether its user accepted it. Nothing where it cannot be
    /// read, which is said by whoever opens it.
    pub(super) fn peek(&self) -> Option<(Config, bool)> {
        let located = self.locate().ok().flatten()?;
        let file = located.file()?;
        peek_config(file, &|| folders::engine(true).map_err(Into::into), &folders::surroundings()).ok()
    }

    /// The project that was named, or the one here; without a configuration, the folder of a `.mcp.json`.
    pub(super) fn open(&self, engine: &Engine) -> Result<Option<Project>, Failure> {
        self.open_beside(None, engine)
    }

    /// As [`ConfigChoice::open`]. Where no configuration is this project's, the definitions in `capabilities` of this folder
    /// are the project's too.
    pub(super) fn open_beside(&self, folder: Option<&Path>, engine: &Engine) -> Result<Option<Project>, Failure> {
        let surroundings = folders::surroundings();
        let beside = || match folder.map(|folder| folder.join("capabilities")).filter(|folder| folder.is_dir()) {
            Some(folder) => definitions(&folder, &surroundings),
            None => Ok(Vec::new()),
        };
        Ok(match self.locate()? {
            None => None,
            Some(Located::Named(file) | Located::Above(file)) => Some(Project::open_in(&file, engine, &surroundings)?),
            Some(Located::Foreign(folder)) => Some(Project::without_config(&folder, beside()?, &surroundings)?),
            Some(Located::User(file)) => Some(Project::open_beside(&file, beside()?, engine, &surroundings)?),
        })
    }
}

/// The definitions of a folder, with what their user accepted of them.
pub(super) fn definitions(folder: &Path, surroundings: &Surroundings) -> Result<Vec<DefinitionFile>, Failure> {
    let mut definitions = definitions_at(folder, &surroundings.outlines)?;
    surroundings.look_at(&mut definitions)?;
    Ok(definitions)
}
