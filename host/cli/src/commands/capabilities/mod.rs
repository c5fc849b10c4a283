//! `agent-spaces capabilities`: one file per verb.

mod build;
mod functions;
mod list;
mod show;

use super::config_choice::{ConfigChoice, ConfigLocation};
use super::failure::Failure;
use super::session::Session;
use super::{folders, terminal};
use agent_spaces::Code;
use agent_spaces::Engine;
use agent_spaces::project::{DefinitionFile, Scope, definitions_at};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};

/// Compile and inspect the capabilities of a project.
#[derive(Args)]
pub(super) struct Capabilities {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Build(build::Build),
    Functions(functions::Functions),
    List(list::List),
    Show(show::Show),
}

impl Capabilities {
    pub(super) fn execute(self) -> u8 {
        match self.verb {
            Verb::Build(build) => build.execute(),
            Verb::Functions(functions) => functions.execute(),
            Verb::List(list) => list.execute(),
            Verb::Show(show) => show.execute(),
        }
    }
}

/// Definitions to work on.
#[derive(Args)]
struct Sources {
    /// Files or folders of definitions, instead of those that the configuration names
    #[arg(value_name = "PATH", conflicts_with = "config")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    config: ConfigChoice,
}

impl Sources {
    /// Returns the scope: all definitions of the project, or only the named ones.
    fn scope(&self) -> Scope {
        if self.paths.is_empty() { Scope::Whole } else { Scope::Part }
    }

    /// Lists the tools of the MCP servers that are not in the lock yet.
    fn discover(&self, engine: &Engine, is_traced: bool) -> Result<(), Failure> {
        let Some(project) = self.config.open(engine)?.filter(|_| self.paths.is_empty()) else { return Ok(()) };
        for warning in project.warnings() {
            terminal::warn(warning);
        }
        let unknown: Vec<_> = project.unknown_servers().collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let session = Session::new(&project, is_traced)?;
        for server in unknown {
            match server.obstacle() {
                // The other servers are still built.
                Some(obstacle) => terminal::warn(&format!("MCP server {} is skipped: {obstacle}", server.name)),
                None => {
                    if let Err(failure) = session.discover_and_lock(&project, server) {
                        terminal::warn(&format!("{}; skipped", failure.error.message));
                    }
                }
            }
        }
        Ok(())
    }

    /// Reads the definitions, and returns them with the folder of their project.
    fn load(&self, engine: &Engine) -> Result<(PathBuf, Vec<DefinitionFile>), Failure> {
        let here = || PathBuf::from(".");
        if !self.paths.is_empty() {
            return Ok((here(), read(self.paths.iter().map(PathBuf::as_path))?));
        }
        let folder = Path::new("capabilities");
        let is_users = matches!(self.config.locate()?, Some(ConfigLocation::User(_)));
        if let Some(project) = self.config.open_beside(Some(Path::new(".")), engine)? {
            // The user's own configuration applies to all folders: bundles of this one stay here.
            let of_project = if is_users && folder.is_dir() { here() } else { project.folder().to_owned() };
            return Ok((of_project, project.definitions().to_vec()));
        }
        if folder.is_dir() {
            return Ok((here(), read(std::iter::once(folder))?));
        }
        let hint = "name files or folders, or add agent-spaces.config.json";
        Err(Failure::new(Code::ConfigFile, "there is no configuration and no folder `capabilities` here", Some(hint)))
    }
}

fn read<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<Vec<DefinitionFile>, Failure> {
    let mut definitions = Vec::new();
    for path in paths {
        definitions.extend(definitions_at(path, &folders::outlines())?);
    }
    Ok(definitions)
}
