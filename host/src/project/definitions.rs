//! Files that define capabilities, and what they become.
//!
//! | file | what it is |
//! |---|---|
//! | `name.json`, `name.yaml` | a tool definition, OpenAI or Anthropic tools, an MCP tool list, an OpenAPI document |
//! | `name.ts` with `defineTool` | a definition with its handlers |
//! | `name.wit` | an interface written by hand |
//! | `name.ts` beside `name.json` or `name.wit` | the handlers of that one |

mod answers;
mod files;
mod granted;
mod handler_faults;
mod loader;
mod near_path;
mod npm_package;
mod recipe;

pub(super) use files::handlers_beside;
pub(super) use granted::{Granted, grant};
pub(super) use loader::{Loader, server_definition};
pub(super) use near_path::usual_file;
pub(super) use recipe::compile_text;

use super::commands::DefinedCommands;
use super::error::ProjectError;
use super::outlines::Outlines;
use crate::error::HostError;
use crate::interfaces::Interfaces;
use crate::mcp::{ConfiguredServer, Connected};
use crate::package::{Package, PackageOutline};
use agent_spaces_mcp::lock::LockedServer;
use capability_gen::definition::Place;
use capability_gen::model::Module;
use capability_gen::registry::{Named, Registry};
use capability_gen::sources::{MAX_SOURCE_BYTES, OperationFilter};
use capability_gen::yaml::{self, Bounds};
use recipe::{Naming, Recipe};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// As deep as a parser of JSON goes.
const MAX_LISTING_DEPTH: usize = 127;

/// One file that defines a module.
#[derive(Clone, Debug)]
pub struct DefinitionFile {
    /// As errors show it.
    pub path: PathBuf,
    /// The names by which a configuration gives it to a space.
    pub entries: Vec<String>,
    /// The file with the handlers, where there is one.
    pub handlers: Option<PathBuf>,
    /// What it defines.
    pub body: DefinitionBody,
    /// The MCP server whose tools these are, where nothing else answers them.
    pub server: Option<ServerModule>,
    /// Programs that answer some of its functions, where it names any.
    pub commands: Option<DefinedCommands>,
    /// What the configuration gives to what answers it.
    pub(super) granted: Granted,
    /// Whether an npm package brings it. A stranger's definition has no say over the project's scripts and spaces.
    pub(super) is_of_package: bool,
    /// Whether every space has it, named or not.
    pub(super) is_for_all: bool,
    /// The folder of the configuration, in which its handlers find npm packages. Without one it is the folder that holds
    /// `capabilities`, or else the file's own.
    pub(super) project: Option<PathBuf>,
}

/// The MCP server behind a module.
#[derive(Clone, Debug)]
pub struct ServerModule {
    /// Its configuration.
    pub configured: Arc<ConfiguredServer>,
    /// What was accepted of it: by the lock, or by the recorded list of its tools.
    pub accepted: Option<Arc<LockedServer>>,
    /// Its tools, each as it lists it.
    pub(crate) tools: Arc<[Value]>,
    /// A session with it, where one is open already.
    pub(crate) connected: Option<Connected>,
}

/// What a file defines.
#[derive(Clone, Debug)]
pub enum DefinitionBody {
    /// A module for the compiler.
    Module(Box<DefinedModule>),
    /// WIT that was written by hand.
    Wit(String),
}

/// A module that the compiler makes.
#[derive(Clone, Debug)]
pub struct DefinedModule {
    /// Its names.
    pub outline: PackageOutline,
    /// Whether the file has the handlers inside.
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
            granted: Granted::default(),
            is_of_package: false,
            is_for_all: false,
            project: None,
        }
    }

    /// The server whose tools it was read as.
    fn server_name(&self) -> Option<&str> {
        match &self.body {
            DefinitionBody::Module(module) => module.recipe.server.as_deref(),
            DefinitionBody::Wit(_) => None,
        }
    }

    /// Whether it selects the same operations of its document.
    fn has_operations(&self, operations: &OperationFilter) -> bool {
        match &self.body {
            DefinitionBody::Module(module) => module.recipe.operations == *operations,
            DefinitionBody::Wit(_) => true,
        }
    }

    /// Full names of the interfaces that it defines.
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

    /// What scripts import it as.
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

    /// The tools of an MCP tool list, each as it stands there.
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
    /// The whole module.
    pub fn compile(&self) -> Result<Module, ProjectError> {
        self.recipe.compile()
    }

    /// Stands for everything that the module depends on.
    pub(crate) fn key(&self) -> String {
        self.recipe.key()
    }

    /// The module for a space: compiled when a script first imports it.
    pub(crate) fn package(&self) -> Package {
        let recipe = self.recipe.clone();
        let file = recipe.file.clone();
        Package::lazy(self.outline.clone(), move || {
            recipe.compile().map_err(|error| HostError::Wit { file: file.clone(), message: error.to_string() })
        })
    }
}

/// The definitions of a file or a folder.
pub fn definitions_at(path: &Path, outlines: &Outlines) -> Result<Vec<DefinitionFile>, ProjectError> {
    let mut definitions = Vec::new();
    for file in files::at(path)? {
        definitions.extend(files::read(&file, Naming::default(), outlines)?);
    }
    check_names(&definitions)?;
    Ok(definitions)
}

/// Refuses two modules or capabilities of one name, or of names that scripts could not tell apart.
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
