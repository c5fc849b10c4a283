//! A project on disk: its configuration, the capabilities that it defines, its MCP servers, and the spaces made of
//! them.
//!
//! The configuration's format and its checks are in `agent-spaces-config`, the MCP client in `agent-spaces-mcp`,
//! providers other than MCP in `agent-spaces-providers`, and the running space in `agent-spaces-space`. This crate
//! reads files, decides what their user has accepted, and connects those crates.
//!
//! # Layout
//! - `find`: search for the configuration file.
//! - `config_file`: reading a configuration; one in TypeScript runs in a sandbox without capabilities.
//! - `ai_agent`: models of `.ai-agent.json`.
//! - `variables`: expansion of `${VAR}` in a configuration.
//! - `text`: size-limited reading and atomic writing of text files.
//! - [`trust`]: files that their user has accepted; [`summary`]: what a file would start and open.
//! - `definitions`: definition files and the modules compiled from them.
//! - `imported_files`: files that a TypeScript definition imports types and constants from.
//! - `outline_cache`: cache of module names, so that an unchanged file is not compiled to resolve imports.
//! - `commands`: programs that definitions run.
//! - `component`: a definition's handlers compiled into a Wasm component.
//! - `publish`: a script published as a function of a definition.
//! - `servers`: MCP servers of the project, from its configuration and from the files of other MCP clients.
//! - `self_detection`: detection of servers that are this program.
//! - `lock`: `capabilities.lock`, the accepted tools of each server.
//! - `toolboxes`: groups of MCP servers that are opened on demand.
//! - [`mcp`]: sessions with MCP servers, and the provider that answers calls of their tools.
//! - [`confinement`]: sandbox profiles of MCP servers and of the command itself.
//! - `host_services`: services that a process provides to the calls of its spaces; `shared_counts`: counts of calls that
//!   hosts share.
//! - `secrets`: registration of the project's secrets with the redactor.
//! - `workspace`: workspace folders and their checks.
//! - `space_limits`: resource limits of runs in a space; `durable_runs`: settings of its durable runs.
//! - `spaces`: modules of a space; `spaces::assemble`: the space made of them.
//! - `build`: generated bundles for editors and auditors.
//! - `reach`: files, network and limits of a space, and manifests of scripts with them.
//! - `registry`: all capabilities with their specifications, and the servers.
//! - `specifications`: specification of each function.
//! - `error`: project errors.

mod ai_agent;
mod build;
mod commands;
mod component;
mod config_file;
pub mod confinement;
mod definitions;
mod durable_runs;
mod error;
mod find;
mod host_services;
mod imported_files;
mod lock;
pub mod mcp;
mod outline_cache;
mod publish;
mod reach;
mod registry;
mod secrets;
mod self_detection;
mod servers;
mod shared_counts;
mod space_limits;
mod spaces;
mod specifications;
pub mod summary;
mod text;
mod toolboxes;
pub mod trust;
mod variables;
mod workspace;

pub use agent_spaces_types::told_once::ToldOnce;
pub use ai_agent::{AiAgentFile, ai_agent_file};
pub use build::{BuildReport, BuiltModule, Output, Scope, build, hand_written_declarations, output};
pub use commands::{DefinedCommand, DefinedCommands};
pub use definitions::{DefinedModule, DefinitionBody, DefinitionFile, commands_in, definitions_at};
pub use durable_runs::DurableSettings;
pub use error::ProjectError;
pub use find::{find, find_foreign, find_in, foreign_files};
pub use host_services::Equipment;
pub use outline_cache::Outlines;
pub use publish::{Publication, Published};
pub use reach::SpaceReach;
pub use registry::{RegistryEntry, registered_servers, registry};
pub use self_detection::is_ourselves;
pub use shared_counts::SharedCounts;
pub use spaces::{Narrowing, NarrowingError, SpaceModules, UngivenNote};
pub use specifications::FunctionSpecification;
pub use toolboxes::{OpenServer, ProjectToolbox};
pub use workspace::check_workspace;

use crate::mcp::ConfiguredServer;
use crate::trust::{Acceptance, Status, Trust};
use agent_spaces_config::{Audit, AuditSetting, Config, Confine, ConfineLevel, Entry};
use agent_spaces_mcp::lock::{Lock, LockedServer};
use agent_spaces_policy::{Policy, Settings};
use agent_spaces_sandbox::engine::Engine;
use definitions::Loader;
use servers::Servers;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A configuration with all definitions and servers that it names.
pub struct Project {
    /// Folder of the configuration. Paths are relative to it.
    folder: PathBuf,
    config: Config,
    /// All definitions that entries name, without duplicates.
    definitions: Vec<DefinitionFile>,
    servers: Servers,
    toolboxes: BTreeMap<String, ProjectToolbox>,
    lock: Lock,
    /// Acceptance of the configuration file; `None` without one.
    acceptance: Option<Acceptance>,
    /// Folders that no workspace may overlap.
    protected: Vec<PathBuf>,
    /// Lock file held while `capabilities.lock` is changed.
    guard: PathBuf,
}

/// User environment that a project is opened in: caches, accepted files, and the user's folders.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Cache of module outlines.
    pub outlines: Outlines,
    /// Files that may start servers and read environment variables.
    pub trust: Arc<Trust>,
    /// The user's own configuration folder, whose files need no acceptance.
    pub user_folder: Option<PathBuf>,
    /// Home folder, in which other programs keep their configuration.
    pub home: Option<PathBuf>,
    /// Folders shared by all projects that no workspace may overlap.
    pub protected: Vec<PathBuf>,
    /// State folder: data that outlives a command, outside of every project.
    pub state: Option<PathBuf>,
}

/// Reads a configuration without loading what it names. Also returns true if its user accepted it. `engine` is called
/// only for a configuration in TypeScript.
pub fn peek_config(
    file: &Path,
    engine: &dyn Fn() -> Result<Engine, ProjectError>,
    surroundings: &Surroundings,
) -> Result<(Config, bool), ProjectError> {
    let (config, acceptance) = config_file::read_with(file, engine, surroundings)?;
    Ok((config, acceptance.status == Status::Accepted))
}

/// Reads a configuration without loading what it names. The engine evaluates TypeScript.
pub fn read_config(file: &Path, engine: &Engine, surroundings: &Surroundings) -> Result<Config, ProjectError> {
    config_file::read(file, engine, surroundings).map(|(config, _)| config)
}

impl Project {
    /// Reads a configuration and the definitions that it names. The engine evaluates TypeScript. No file counts as
    /// accepted: see [`Project::open_in`].
    pub fn open(file: &Path, engine: &Engine, outlines: &Outlines) -> Result<Project, ProjectError> {
        Project::open_in(file, engine, &Surroundings { outlines: outlines.clone(), ..Surroundings::default() })
    }

    /// Reads a configuration and the definitions that it names, with the files that the user accepted.
    pub fn open_in(file: &Path, engine: &Engine, surroundings: &Surroundings) -> Result<Project, ProjectError> {
        Project::open_beside(file, Vec::new(), engine, surroundings)
    }

    /// As [`Project::open_in`], for the user's own configuration, which applies to all folders. Every script is also
    /// given `definitions`, which are those of the working folder. Provider settings of the configuration do not apply
    /// to them.
    pub fn open_beside(
        file: &Path,
        definitions: Vec<DefinitionFile>,
        engine: &Engine,
        surroundings: &Surroundings,
    ) -> Result<Project, ProjectError> {
        let (config, acceptance) = config_file::read(file, engine, surroundings)?;
        let folder = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let servers = Servers::gather(folder, &config, Some(&acceptance), surroundings)?;
        Project::load(folder, (config, Some(acceptance)), servers, definitions, surroundings)
    }

    /// Opens a folder without a configuration. Every script is given these definitions and all MCP servers in the
    /// folder's files of other MCP clients.
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
        let guard = lock::guard_file(folder, surroundings.state.as_deref());
        let (folder, protected) = (folder.to_owned(), surroundings.protected.clone());
        Ok(Project { folder, config, definitions, servers, toolboxes, lock, acceptance, protected, guard })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The project's folder. Paths of the configuration are relative to it.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// File that calls are recorded in, if the configuration names one. A configuration that was not accepted cannot
    /// choose a file to write to.
    pub fn accounting_file(&self) -> Option<PathBuf> {
        let accounting = self.config.accounting.as_ref().filter(|_| self.is_accepted())?;
        Some(self.path(&accounting.file))
    }

    /// TypeScript compiler, if the configuration names one. A configuration that was not accepted cannot choose a
    /// program to start.
    pub fn typescript(&self) -> Option<PathBuf> {
        let compiler = self.config.code_mode.typescript.as_ref().filter(|_| self.is_accepted())?;
        Some(self.path(compiler))
    }

    /// Note for the operator if a TypeScript compiler is named and not used.
    pub fn typescript_note(&self) -> Option<String> {
        let named = self.config.code_mode.typescript.is_some() && !self.is_accepted();
        named.then(|| {
            let file = &self.config.file;
            format!(
                "`codeMode.typescript` is ignored until the configuration is accepted: run `agent-spaces trust {file}`"
            )
        })
    }

    /// Folder of the sentence embedding model for search, if the configuration names one and was accepted.
    pub fn search_model(&self) -> Option<PathBuf> {
        let folder = self.config.code_mode.search_model.as_ref().filter(|_| self.is_accepted())?;
        Some(self.path(folder))
    }

    /// Audit log settings. A configuration that was not accepted can only require the log: it cannot switch it off or
    /// name files or programs.
    pub fn audit(&self) -> Audit {
        let audit = self.config.audit.clone().unwrap_or_default();
        match self.is_accepted() {
            true => audit,
            false => Audit { mode: audit.mode.filter(|mode| *mode == AuditSetting::Required), ..Audit::default() },
        }
    }

    /// Policy of a space: its own over the global one. A policy that was not accepted only restricts, and grants no
    /// network access.
    pub fn policy(&self, space: Option<&str>) -> Settings {
        Settings { only_tightens: !self.is_accepted(), ..self.written_policy(space) }
    }

    /// Policy of a space as written, accepted or not.
    fn written_policy(&self, space: Option<&str>) -> Settings {
        space.map_or_else(|| self.config.policy.clone(), |space| self.config.policy_of(space))
    }

    /// Name that a server of this project reports to clients, if the configuration sets one and was accepted.
    pub fn served_name(&self) -> Option<&str> {
        self.config.mcp.server_name.as_deref().filter(|_| self.is_accepted())
    }

    /// Returns true if webhooks may be delivered to private addresses, which only an accepted configuration can allow.
    pub fn webhooks_reach_private(&self) -> bool {
        self.config.serve.webhooks.allow_private && self.is_accepted()
    }

    /// Functions exposed as tools in proxy mode. A configuration that was not accepted exposes none.
    pub fn exposed(&self) -> &[String] {
        if self.is_accepted() { &self.config.serve.expose } else { &[] }
    }

    /// Confinement settings of the project's commands, if there are any. A configuration that was not accepted can
    /// require confinement, and cannot grant paths or network access.
    pub fn confine(&self) -> Option<Confine> {
        let confine = self.config.confine.as_ref()?;
        match self.is_accepted() {
            true => Some(confine.clone()),
            false => Some(Confine::at(confine.level)).filter(|confine| confine.level != ConfineLevel::Off),
        }
    }

    /// Acceptance of the configuration file, if there is one.
    pub fn acceptance(&self) -> Option<&Acceptance> {
        self.acceptance.as_ref()
    }

    /// Returns true if the user accepted the configuration, or there is none.
    pub fn is_accepted(&self) -> bool {
        self.acceptance.as_ref().is_none_or(|acceptance| acceptance.status == Status::Accepted)
    }

    /// Returns true if a space lacks files or network access only because the configuration was not accepted.
    pub fn is_kept_shut(&self, space: Option<&str>) -> bool {
        let policy = self.written_policy(space);
        let workspace = space.and_then(|space| self.config.spaces.get(space)?.workspace.as_ref());
        !self.is_accepted() && (workspace.is_some() || Policy::new(policy).network().enabled)
    }

    /// All definitions, in the order in which the configuration first names them.
    pub fn definitions(&self) -> &[DefinitionFile] {
        &self.definitions
    }

    /// Resolves a path of the configuration.
    pub fn path(&self, path: &str) -> PathBuf {
        find::join(&self.folder, path)
    }

    /// All MCP servers outside toolboxes, by name.
    pub fn servers(&self) -> &BTreeMap<String, Arc<ConfiguredServer>> {
        &self.servers.by_name
    }

    /// Finds an MCP server by its name, which is `toolbox/server` in a toolbox.
    pub fn server(&self, name: &str) -> Option<&Arc<ConfiguredServer>> {
        match name.split_once('/') {
            Some((toolbox, server)) => self.toolboxes.get(toolbox)?.servers.get(server),
            None => self.servers.by_name.get(name),
        }
    }

    /// Enabled MCP servers whose tools have not been discovered yet.
    pub fn unknown_servers(&self) -> impl Iterator<Item = &Arc<ConfiguredServer>> {
        self.servers.by_name.values().filter(|server| server.config.enabled && !self.is_known(server))
    }

    /// Returns true if the tools of a server are in the lock or in a recorded list.
    fn is_known(&self, server: &ConfiguredServer) -> bool {
        self.lock.servers.contains_key(&server.name) || server.config.tools.is_some()
    }

    /// Warnings about the files that configure its servers.
    pub fn warnings(&self) -> &[String] {
        &self.servers.warnings
    }

    /// Lock of the project: the accepted tools of its servers.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Path of `capabilities.lock`.
    pub fn lock_file(&self) -> PathBuf {
        lock::file(&self.folder)
    }

    /// Removes servers that are no longer configured from the lock. Returns their names.
    pub fn prune(&self) -> Result<Vec<String>, ProjectError> {
        lock::retain(&self.folder, &self.guard, |name| self.server(name).is_some())
    }

    /// Writes the accepted tools of a server to the lock. They take effect when the project is opened again.
    pub fn accept(&self, server: &str, found: LockedServer) -> Result<(), ProjectError> {
        lock::accept(&self.folder, &self.guard, server, found)
    }

    /// Adds a server to the lock unless another process already did. Returns the entry that is in the lock now.
    pub fn accept_first(&self, server: &str, found: LockedServer) -> Result<LockedServer, ProjectError> {
        lock::accept_first(&self.folder, &self.guard, server, found)
    }
}
