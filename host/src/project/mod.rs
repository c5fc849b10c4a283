//! A project: its configuration, the capabilities that it defines, and the spaces that it gives them to.
//!
//! - `find`: where the configuration is.
//! - `text`: files as text, of a bounded size.
//! - `equipment`: what calls need of the process that makes them.
//! - `evaluate`: a configuration in TypeScript, run in a sandbox that reaches nothing.
//! - `workspace`: the folder that scripts see as theirs.
//! - `variables`: `${VAR}` in a configuration.
//! - `commands`: programs that definitions name, and whether their user accepted them.
//! - `definitions`: files that define capabilities, and what they become.
//! - `servers`: the MCP servers that it has, its own and those of files that other programs read.
//! - `ourselves`: which servers of other programs are this program.
//! - `lock`: what was accepted of them.
//! - `toolboxes`: groups of servers that are opened on demand.
//! - `outlines`: names of modules, kept so that an unchanged file need not be compiled to know them.
//! - `space_limits`: what runs in a space may use.
//! - `spaces`: which modules a space is given; `spaces::assemble`: the space that they make.
//! - `component`: a definition's handlers as a component of its own.
//! - `publish`: a script becomes a function of a definition.
//! - `build`: the bundles for editors and auditors.
//! - `registry`: every capability with its specification, and the servers.
//! - `specifications`: what consumers are told of each function.

mod build;
mod commands;
mod component;
mod definitions;
mod equipment;
mod error;
mod evaluate;
mod find;
mod lock;
mod ourselves;
mod outlines;
mod publish;
mod registry;
mod secrets;
mod servers;
mod siblings;
mod space_limits;
mod spaces;
mod specifications;
mod text;
mod toolboxes;
mod variables;
mod workspace;

pub use build::{BuildReport, BuiltModule, Output, Scope, build, hand_written_declarations, output};
pub use commands::{DefinedCommand, DefinedCommands};
pub use definitions::{DefinedModule, DefinitionBody, DefinitionFile, ServerModule, definitions_at};
pub use equipment::{Equipment, ToldOnce};
pub use error::ProjectError;
pub use find::{find, find_foreign, find_in, foreign_files};
pub use ourselves::is_ourselves;
pub use outlines::Outlines;
pub use publish::{Publication, Published};
pub use registry::{RegistryEntry, registered_servers, registry};
pub use spaces::SpaceModules;
pub use specifications::FunctionSpecification;
pub(crate) use toolboxes::OpenServer;
pub use toolboxes::ProjectToolbox;
pub use workspace::check_workspace;

use crate::config::{Audit, AuditSetting, Config, Confine, ConfineLevel, Entry};
use crate::engine::Engine;
use crate::mcp::{Acceptance, ConfiguredServer};
use crate::trust::{Status, Trust};
use agent_spaces_mcp::lock::{Lock, LockedServer};
use agent_spaces_policy::{Policy, Settings};
use definitions::Loader;
use servers::Servers;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A project's configuration and all definitions that it names.
pub struct Project {
    /// The folder that the configuration is in; paths are relative to it.
    folder: PathBuf,
    config: Config,
    /// Every definition that some entry names, once.
    definitions: Vec<DefinitionFile>,
    servers: Servers,
    toolboxes: BTreeMap<String, ProjectToolbox>,
    lock: Lock,
    /// Whether its user accepted the configuration; without one there is nothing to accept.
    acceptance: Option<Acceptance>,
    /// Folders that no workspace may overlap.
    protected: Vec<PathBuf>,
    /// Held while the lock is changed.
    guard: PathBuf,
}

/// What a project is opened in: what its user keeps and has accepted.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Names of modules that were compiled before.
    pub outlines: Outlines,
    /// Which files may start servers and fill in variables.
    pub trust: Arc<Trust>,
    /// The user's own configuration folder, whose files need no acceptance.
    pub user_folder: Option<PathBuf>,
    /// Where other programs keep their configuration.
    pub home: Option<PathBuf>,
    /// Folders that no workspace may overlap: what is kept for all projects.
    pub protected: Vec<PathBuf>,
    /// Where what must outlive a command is kept, outside of every project.
    pub state: Option<PathBuf>,
}

/// A configuration alone, whatever it names, and whether its user accepted it. The engine is asked for only where
/// running the file tells what it says.
pub fn peek_config(
    file: &Path,
    engine: &dyn Fn() -> Result<Engine, ProjectError>,
    surroundings: &Surroundings,
) -> Result<(Config, bool), ProjectError> {
    let (config, acceptance) = evaluate::read_with(file, engine, surroundings)?;
    Ok((config, acceptance.status == Status::Accepted))
}

/// A configuration alone, whatever it names. The engine evaluates TypeScript.
pub fn read_config(file: &Path, engine: &Engine, surroundings: &Surroundings) -> Result<Config, ProjectError> {
    evaluate::read(file, engine, surroundings).map(|(config, _)| config)
}

impl Project {
    /// Reads a configuration and the definitions that it names. The engine evaluates TypeScript. Nothing that needs
    /// to be accepted is: see [`Project::open_in`].
    pub fn open(file: &Path, engine: &Engine, outlines: &Outlines) -> Result<Project, ProjectError> {
        Project::open_in(file, engine, &Surroundings { outlines: outlines.clone(), ..Surroundings::default() })
    }

    /// Reads a configuration and the definitions that it names.
    pub fn open_in(file: &Path, engine: &Engine, surroundings: &Surroundings) -> Result<Project, ProjectError> {
        Project::open_beside(file, Vec::new(), engine, surroundings)
    }

    /// As [`Project::open_in`], for a configuration that is its user's for all folders: these definitions, of the folder
    /// that is worked in, are given to every script besides. Nothing that the configuration gives to what answers modules
    /// is given to what answers these.
    pub fn open_beside(
        file: &Path,
        definitions: Vec<DefinitionFile>,
        engine: &Engine,
        surroundings: &Surroundings,
    ) -> Result<Project, ProjectError> {
        let (config, acceptance) = evaluate::read(file, engine, surroundings)?;
        let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let servers = Servers::gather(folder, &config, Some(&acceptance), surroundings)?;
        Project::load(folder, (config, Some(acceptance)), servers, definitions, surroundings)
    }

    /// A folder without a configuration whose MCP servers stand in a file that other programs read: all of them and
    /// these definitions are given to every script.
    pub fn without_config(
        folder: &Path,
        mut definitions: Vec<DefinitionFile>,
        surroundings: &Surroundings,
    ) -> Result<Project, ProjectError> {
        let mut config = Config::default();
        for definition in &mut definitions {
            definition.project = Some(folder.to_owned());
        }
        let servers = Servers::gather(folder, &config, None, surroundings)?;
        let enabled = servers.by_name.values().filter(|server| server.config.enabled);
        config.global = enabled.map(|server| Entry::Mcp(server.name.clone())).collect();
        config.file = folder.display().to_string();
        Project::load(folder, (config, None), servers, definitions, surroundings)
    }

    fn load(
        folder: &Path,
        (config, acceptance): (Config, Option<Acceptance>),
        servers: Servers,
        mut definitions: Vec<DefinitionFile>,
        surroundings: &Surroundings,
    ) -> Result<Project, ProjectError> {
        let lock = lock::read(folder)?;
        for definition in &mut definitions {
            definition.is_for_all = true;
        }
        let mut loader = Loader::new(folder, &config, &surroundings.outlines, definitions);
        loader.load_all(&servers.by_name, &lock)?;
        let mut definitions = loader.finish();
        definitions::check_names(&definitions)?;
        let is_accepted = acceptance.as_ref().is_none_or(|it| it.status == Status::Accepted);
        definitions::grant(&mut definitions, &config, is_accepted)?;
        surroundings.look_at(&mut definitions)?;
        let toolboxes = toolboxes::gather(folder, &config, acceptance.as_ref());
        let guard = lock::guard(folder, surroundings.state.as_deref());
        let (folder, protected) = (folder.to_owned(), surroundings.protected.clone());
        Ok(Project { folder, config, definitions, servers, toolboxes, lock, acceptance, protected, guard })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The folder that paths are relative to.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where calls are written down, if the configuration says so and was accepted: one that was not
    /// must not choose a file to write to.
    pub fn accounting_file(&self) -> Option<PathBuf> {
        let accounting = self.config.accounting.as_ref().filter(|_| self.is_accepted())?;
        Some(self.path(&accounting.file))
    }

    /// The TypeScript compiler that the configuration names, if it was accepted: one that was not must not choose a
    /// program to start.
    pub fn typescript(&self) -> Option<PathBuf> {
        let compiler = self.config.code_mode.typescript.as_ref().filter(|_| self.is_accepted())?;
        Some(self.path(compiler))
    }

    /// What to tell where that is named and not used.
    pub fn typescript_note(&self) -> Option<String> {
        let named = self.config.code_mode.typescript.is_some() && !self.is_accepted();
        named.then(|| {
            let file = &self.config.file;
            format!("`codeMode.typescript` is not used before `agent-spaces trust {file}`")
        })
    }

    /// The folder of the sentence model that search uses, once the user has accepted the configuration.
    pub fn search_model(&self) -> Option<PathBuf> {
        let folder = self.config.code_mode.search_model.as_ref().filter(|_| self.is_accepted())?;
        Some(self.path(folder))
    }

    /// How what runs do is written to the audit log. A configuration that its user has not accepted can require it, and
    /// nothing else: it neither switches it off nor names files or programs.
    pub fn audit(&self) -> Audit {
        let audit = self.config.audit.clone().unwrap_or_default();
        match self.is_accepted() {
            true => audit,
            false => Audit { mode: audit.mode.filter(|mode| *mode == AuditSetting::Required), ..Audit::default() },
        }
    }

    /// The policy of a space: its own over the global one. One that its user has not accepted only tightens, and opens no
    /// network.
    pub fn policy(&self, space: Option<&str>) -> Settings {
        Settings { only_tightens: !self.is_accepted(), ..self.written_policy(space) }
    }

    /// The policy of a space as it is written.
    fn written_policy(&self, space: Option<&str>) -> Settings {
        space.map_or_else(|| self.config.policy.clone(), |space| self.config.policy_of(space))
    }

    /// What a server in front of it calls itself, where it says so and was accepted.
    pub fn served_name(&self) -> Option<&str> {
        self.config.mcp.server_name.as_deref().filter(|_| self.is_accepted())
    }

    /// What is a tool of its own in proxy mode. A configuration that its user has not accepted exposes nothing.
    pub fn exposed(&self) -> &[String] {
        if self.is_accepted() { &self.config.serve.expose } else { &[] }
    }

    /// How its commands are confined, where the configuration says so. One that its user has not accepted can ask for that,
    /// and cannot say what is reached besides.
    pub fn confine(&self) -> Option<Confine> {
        let confine = self.config.confine.as_ref()?;
        match self.is_accepted() {
            true => Some(confine.clone()),
            false => Some(Confine::at(confine.level)).filter(|confine| confine.level != ConfineLevel::Off),
        }
    }

    /// What its user has said of the configuration, where there is one.
    pub fn acceptance(&self) -> Option<&Acceptance> {
        self.acceptance.as_ref()
    }

    pub(crate) fn is_accepted(&self) -> bool {
        self.acceptance.as_ref().is_none_or(|acceptance| acceptance.status == Status::Accepted)
    }

    /// Whether a space would have files or the network, were the configuration accepted.
    pub fn is_kept_shut(&self, space: Option<&str>) -> bool {
        let policy = self.written_policy(space);
        let workspace = space.and_then(|space| self.config.spaces.get(space)?.workspace.as_ref());
        !self.is_accepted() && (workspace.is_some() || Policy::new(policy).network().enabled)
    }

    /// Every definition, in the order in which the configuration first names it.
    pub fn definitions(&self) -> &[DefinitionFile] {
        &self.definitions
    }

    /// A path of the configuration.
    pub fn path(&self, path: &str) -> PathBuf {
        find::join(&self.folder, path)
    }

    /// Every MCP server, by name.
    pub fn servers(&self) -> &BTreeMap<String, Arc<ConfiguredServer>> {
        &self.servers.by_name
    }

    /// An MCP server by its name; of one in a toolbox that is `toolbox/server`.
    pub fn server(&self, name: &str) -> Option<&Arc<ConfiguredServer>> {
        match name.split_once('/') {
            Some((toolbox, server)) => self.toolboxes.get(toolbox)?.servers.get(server),
            None => self.servers.by_name.get(name),
        }
    }

    /// MCP servers that are switched on and whose tools nobody knows yet.
    pub fn unknown_servers(&self) -> impl Iterator<Item = &Arc<ConfiguredServer>> {
        self.servers.by_name.values().filter(|server| server.config.enabled && !self.is_known(server))
    }

    /// Whether the tools of a server are written down.
    fn is_known(&self, server: &ConfiguredServer) -> bool {
        self.lock.servers.contains_key(&server.name) || server.config.tools.is_some()
    }

    /// What is odd about the files that its servers come from.
    pub fn warnings(&self) -> &[String] {
        &self.servers.warnings
    }

    /// What was accepted of its servers.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Where that is written down.
    pub fn lock_file(&self) -> PathBuf {
        lock::file(&self.folder)
    }

    /// Takes servers that are no longer configured out of the lock; gives their names.
    pub fn prune(&self) -> Result<Vec<String>, ProjectError> {
        lock::retain(&self.folder, &self.guard, |name| self.server(name).is_some())
    }

    /// Writes down what is accepted of a server. The project has it when it is opened again.
    pub fn accept(&self, server: &str, found: LockedServer) -> Result<(), ProjectError> {
        lock::accept(&self.folder, &self.guard, server, found)
    }

    /// The same of a server of which nothing was accepted before, unless somebody did so meanwhile. Gives what counts.
    pub fn accept_first(&self, server: &str, found: LockedServer) -> Result<LockedServer, ProjectError> {
        lock::accept_first(&self.folder, &self.guard, server, found)
    }
}
