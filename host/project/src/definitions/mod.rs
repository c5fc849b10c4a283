//! Definition files: reading them, and the modules compiled from them.
//!
//! # Layout
//! - `loader`: all definitions that a configuration names.
//! - `agents`: the module of the configured agents.
//! - `files`: definition files in a folder, and the reading of one.
//! - `recipe`: inputs of a module, and its compilation.
//! - `npm_package`: npm package of a definition, and packages that handlers import.
//! - `provider_kinds`: kind of provider of each function.
//! - `provider_grants`: provider settings of the configuration.
//! - `handler_faults`: static checks of handlers.
//! - `near_path`: suggestions for misspelt paths and module names.
//!
//! | file | content |
//! |---|---|
//! | `name.json`, `name.yaml` | a tool definition, OpenAI or Anthropic tools, an MCP tool list, an OpenAPI document |
//! | `name.ts` with `defineTool` | a definition with its handlers |
//! | `name.wit` | an interface written by hand |
//! | `name.ts` beside `name.json` or `name.wit` | the handlers of that definition |

mod agents;
mod files;
mod handler_faults;
mod loader;
mod near_path;
mod npm_package;
mod provider_grants;
mod provider_kinds;
mod recipe;

pub(crate) use agents::AgentFunctions;
pub(super) use files::handlers_beside;
pub(super) use loader::{Loader, server_definition};
pub(super) use near_path::default_folder_file;
pub(super) use provider_grants::{ConfiguredGrants, grant};

use super::commands::DefinedCommands;
use super::error::ProjectError;
use super::outline_cache::Outlines;
use crate::Surroundings;
use crate::mcp::ServerModule;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_linker::package::{Package, PackageOutline};
use agent_spaces_sandbox::error::HostError;
use capability_gen::definition::Place;
use capability_gen::model::Module;
use capability_gen::registry::{Named, Registry};
use capability_gen::sources::{MAX_SOURCE_BYTES, OperationFilter};
use capability_gen::yaml::{self, Bounds};
use recipe::{Naming, Recipe, compile_text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Nesting limit of a tool list: that of the JSON parser.
const MAX_LISTING_DEPTH: usize = 127;

/// Definition file of one module.
#[derive(Clone, Debug)]
pub struct DefinitionFile {
    /// Path of the file, as errors show it.
    pub path: PathBuf,
    /// Entries of the configuration that name it.
    pub entries: Vec<String>,
    /// File of its handlers, if there is one.
    pub handlers: Option<PathBuf>,
    /// Parsed content.
    pub body: DefinitionBody,
    /// MCP server whose tools these are, if there is one.
    pub server: Option<ServerModule>,
    /// Programs that answer some of its functions, if there are any.
    pub commands: Option<DefinedCommands>,
    /// Functions of the configured agents, if it is their module.
    pub(super) agents: Option<Arc<AgentFunctions>>,
    /// Settings that the configuration grants its provider.
    pub(super) granted: ConfiguredGrants,
    /// True if it comes from an npm package. Such a definition cannot run scripts in the project's spaces.
    pub(super) is_of_package: bool,
    /// True if every space is given it, whether an entry names it or not.
    pub(super) is_for_all: bool,
    /// Folder of the configuration, in which its handlers find npm packages. Without one, the parent of `capabilities`
    /// is used, or else the file's own folder.
    pub(super) project: Option<PathBuf>,
}

/// Content of a definition file.
#[derive(Clone, Debug)]
pub enum DefinitionBody {
    /// Module in a format that is compiled.
    Module(Box<DefinedModule>),
    /// Hand-written WIT.
    Wit(String),
}

/// Module compiled from a definition file.
#[derive(Clone, Debug)]
pub struct DefinedModule {
    /// Names of the module, its interfaces and its functions.
    pub outline: PackageOutline,
    /// True if the file contains its handlers (`defineTool`).
    pub is_define_tool: bool,
    recipe: Recipe,
}

impl DefinitionFile {
    fn new(file: &Path, entries: Vec<String>, handlers: Option<PathBuf>, body: DefinitionBody) -> DefinitionFile {
        DefinitionFile {
            path: file.into(),
            entries,
            handlers,
            body,
            server: None,
            commands: None,
            agents: None,
            granted: ConfiguredGrants::default(),
            is_of_package: false,
            is_for_all: false,
            project: None,
        }
    }

    /// Name of the server whose tool list this is.
    fn server_name(&self) -> Option<&str> {
        match &self.body {
            DefinitionBody::Module(module) => module.recipe.server.as_deref(),
            DefinitionBody::Wit(_) => None,
        }
    }

    /// Returns true if it selects the same operations of its OpenAPI document.
    fn has_operations(&self, operations: &OperationFilter) -> bool {
        match &self.body {
            DefinitionBody::Module(module) => module.recipe.operations == *operations,
            DefinitionBody::Wit(_) => true,
        }
    }

    /// Full names of its interfaces.
    pub fn interfaces(&self) -> Result<Vec<String>, ProjectError> {
        match &self.body {
            DefinitionBody::Module(module) => {
                Ok(module.outline.interfaces.iter().map(|interface| interface.name.clone()).collect())
            }
            DefinitionBody::Wit(text) => {
                let mut own = Interfaces::new()?;
                own.add(&self.path.display().to_string(), text)?;
                Ok(own.names().map(str::to_owned).collect())
            }
        }
    }

    /// Specifiers that scripts import it by.
    pub fn modules(&self) -> Result<Vec<String>, ProjectError> {
        match &self.body {
            DefinitionBody::Module(module) => Ok(vec![module.outline.specifier.clone()]),
            DefinitionBody::Wit(text) => {
                let mut own = Interfaces::new()?;
                own.add(&self.path.display().to_string(), text)?;
                Ok(own.modules().names().map(str::to_owned).collect())
            }
        }
    }

    /// Tools of an MCP tool list, unchanged.
    fn tools(&self) -> Arc<[Value]> {
        let DefinitionBody::Module(module) = &self.body else { return Arc::default() };
        let bounds = Bounds { bytes: MAX_SOURCE_BYTES, depth: MAX_LISTING_DEPTH };
        let text = &module.recipe.text;
        let listing: Option<Value> = serde_json::from_str(text).ok().or_else(|| yaml::read(text, bounds).ok());
        let listing = listing.unwrap_or_default();
        let listing = listing.get("result").unwrap_or(&listing);
        let tools = listing.get("tools").unwrap_or(listing);
        tools.as_array().map(|tools| tools.as_slice().into()).unwrap_or_default()
    }
}

impl DefinedModule {
    /// Compiles the module.
    pub fn compile(&self) -> Result<Module, ProjectError> {
        self.recipe.compile()
    }

    /// Cache key of everything that the module depends on.
    pub fn key(&self) -> String {
        self.recipe.key()
    }

    /// Package for a space, compiled when a script first imports it.
    pub fn package(&self) -> Package {
        let recipe = self.recipe.clone();
        let file = recipe.file.clone();
        Package::lazy(self.outline.clone(), move || {
            recipe.compile().map_err(|error| HostError::Wit { file: file.clone(), message: error.to_string() })
        })
    }
}

/// Reads the definitions of a file or a folder.
pub fn definitions_at(path: &Path, outlines: &Outlines) -> Result<Vec<DefinitionFile>, ProjectError> {
    let mut definitions = Vec::new();
    for file in files::at(path)? {
        definitions.extend(files::read(&file, Naming::default(), outlines)?);
    }
    check_names(&definitions)?;
    Ok(definitions)
}

/// Reads the programs that a definition with this text runs. Returns `None` if it names no program or is no definition.
pub fn commands_in(file: &Path, text: &str) -> Option<DefinedCommands> {
    DefinedCommands::of(file, text, &compile_text(file, text).ok()?)
}

impl Surroundings {
    /// Updates the acceptance of definitions that run programs. No program is started before its definition is
    /// accepted.
    pub fn look_at(&self, definitions: &mut [DefinitionFile]) -> Result<(), ProjectError> {
        for commands in definitions.iter_mut().filter_map(|definition| definition.commands.as_mut()) {
            commands.acceptance = self.acceptance(&commands.acceptance.file, &commands.acceptance.text)?;
        }
        Ok(())
    }
}

/// Refuses modules or capabilities with the same name, or with names that scripts could not tell apart.
pub(super) fn check_names(definitions: &[DefinitionFile]) -> Result<(), ProjectError> {
    let mut registry = Registry::new();
    for definition in definitions {
        match &definition.body {
            DefinitionBody::Module(module) => {
                registry.reserve(&module.outline.specifier, module.outline.capabilities())?
            }
            DefinitionBody::Wit(text) => {
                let file = definition.path.display().to_string();
                let mut own = Interfaces::new()?;
                own.add(&file, text)?;
                for (specifier, exports) in own.exports() {
                    let place = |export: &str| Place { file: file.clone(), path: format!("interface {export}") };
                    let places: Vec<(String, Place)> =
                        exports.into_iter().map(|export| (export.to_owned(), place(export))).collect();
                    let named = places.iter().map(|(export, place)| Named { name: export, export, place });
                    registry.reserve(specifier, named)?;
                }
            }
        }
    }
    Ok(())
}
