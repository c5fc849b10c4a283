//! Files that define capabilities, and what they become.
//!
//! | file | what it is |
//! |---|---|
//! | `name.json` | a tool definition, OpenAI or Anthropic tools, an MCP tool list, an OpenAPI document |
//! | `name.ts` with `defineTool` | a definition with its handlers |
//! | `name.wit` | an interface written by hand |
//! | `name.ts` beside `name.json` or `name.wit` | the handlers of that one |

use super::commands::DefinedCommands;
use super::error::ProjectError;
use super::find::join;
use super::outlines::Outlines;
use super::siblings::Siblings;
use super::text;
use crate::config::{Config, Entry, ToolFilters};
use crate::error::HostError;
use crate::interfaces::Interfaces;
use crate::mcp::{ConfiguredServer, locked_endpoint};
use crate::npm;
use crate::package::{Package, PackageOutline};
use crate::standard::SPECIFIER as STANDARD;
use crate::trust::Status;
use agent_spaces_mcp::lock::{Lock, LockedServer, Offer};
use agent_spaces_mcp::secrets::Redactor;
use capability_gen::compile::{CompileError, ModuleSource, compile};
use capability_gen::model::Module;
use capability_gen::names::{kebab, nearest};
use capability_gen::registry::Registry;
use capability_gen::sources::{self, Format, MAX_SOURCE_BYTES, Source, define_tool};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files that can define something.
const EXTENSIONS: [&str; 6] = ["json", "ts", "js", "mts", "mjs", "wit"];

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
    /// Whether every space has it, named or not.
    pub(super) is_for_all: bool,
    /// The folder of the configuration, in which its handlers find npm packages; without one, the file's own folder.
    pub(super) project: Option<PathBuf>,
}

/// What a configuration gives to what answers a module, and whether its user accepted that.
#[derive(Clone, Debug, Default)]
pub(crate) struct Granted {
    /// What it says; nothing where it says nothing.
    pub(crate) provider: Option<crate::config::Provider>,
    /// Whether it was accepted. Before that nothing is given.
    pub(crate) is_accepted: bool,
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

/// All that a module depends on.
#[derive(Clone, Debug)]
struct Recipe {
    file: String,
    text: String,
    stem: String,
    specifier: Option<String>,
    format: Option<Format>,
    /// The server's name, of an MCP tool list.
    server: Option<String>,
    /// Which of its tools are functions.
    filters: ToolFilters,
    /// The files that a definition in TypeScript imports types and constants from.
    siblings: Option<Siblings>,
}

/// How a file was named.
#[derive(Clone, Debug, Default)]
pub(super) struct Naming {
    pub(super) entry: String,
    pub(super) specifier: Option<String>,
    pub(super) format: Option<Format>,
    pub(super) server: Option<String>,
    pub(super) filters: ToolFilters,
}

impl Recipe {
    fn of(file: &Path, text: String, naming: Naming, siblings: Option<Siblings>) -> Recipe {
        Recipe {
            file: file.display().to_string(),
            text,
            stem: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            specifier: naming.specifier,
            format: naming.format,
            server: naming.server,
            filters: naming.filters,
            siblings,
        }
    }

    fn compile(&self) -> Result<Module, ProjectError> {
        let definitions = match &self.siblings {
            Some(siblings) => {
                let tools = define_tool::parse(&self.file, &self.text, &|path| siblings.read(path))?;
                tools.into_iter().map(|tool| tool.definition).collect()
            }
            None => {
                let name = self.server.as_deref().unwrap_or_else(|| server_name(&self.stem));
                let source = Source { file: &self.file, text: &self.text, name: Some(name), format: self.format };
                let mut definitions = sources::parse(&source)?;
                for definition in &mut definitions {
                    definition.functions.retain(|function| self.filters.allows(&function.name));
                }
                definitions
            }
        };
        let (specifier, stem) = (self.specifier.clone(), Some(self.stem.clone()));
        Ok(compile(ModuleSource { specifier, stem, definitions })?)
    }

    /// Stands for all but the files beside it.
    fn own_key(&self) -> String {
        let format = self.format.map(|format| format!("{format:?}")).unwrap_or_default();
        let specifier = self.specifier.as_deref().unwrap_or_default();
        let server = self.server.as_deref().unwrap_or_default();
        let filters = format!("{:?}", self.filters);
        Outlines::key([&self.file, &self.text, &self.stem, specifier, &format, server, &filters])
    }

    /// Stands for everything. Which files beside it belong to that is known once it was compiled, or read from what is
    /// kept of that.
    fn key(&self) -> String {
        let texts = self.siblings.as_ref().map(Siblings::texts).unwrap_or_default();
        let own = self.own_key();
        Outlines::key(std::iter::once(own.as_str()).chain(texts.iter().map(String::as_str)))
    }
}

/// `mcp-slack.json` lists the tools of `slack`.
fn server_name(stem: &str) -> &str {
    stem.strip_prefix("mcp-").unwrap_or(stem)
}

impl DefinitionFile {
    /// The server whose tools it was read as.
    fn server_name(&self) -> Option<&str> {
        match &self.body {
            DefinitionBody::Module(module) => module.recipe.server.as_deref(),
            DefinitionBody::Wit(_) => None,
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
        let listing: Value = serde_json::from_str(&module.recipe.text).unwrap_or_default();
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
    pub(super) fn key(&self) -> String {
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

/// What a file with this text defines, where it is a tool definition.
pub(super) fn compile_text(file: &Path, text: &str) -> Result<Module, ProjectError> {
    Recipe::of(file, text.to_owned(), Naming { format: Some(Format::Tool), ..Naming::default() }, None).compile()
}

/// The definitions of a file or a folder.
pub fn definitions_at(path: &Path, outlines: &Outlines) -> Result<Vec<DefinitionFile>, ProjectError> {
    let mut definitions = Vec::new();
    for file in files_at(path)? {
        definitions.extend(read(&file, Naming::default(), outlines)?);
    }
    check_names(&definitions)?;
    Ok(definitions)
}

/// Refuses two modules or capabilities of one name.
pub(super) fn check_names(definitions: &[DefinitionFile]) -> Result<(), ProjectError> {
    let mut registry = Registry::new();
    for definition in definitions {
        if let DefinitionBody::Module(module) = &definition.body {
            registry.reserve(&module.outline.specifier, module.outline.capabilities())?;
        }
    }
    Ok(())
}

/// Gives to what answers modules what the configuration has for them.
pub(super) fn grant(definitions: &mut [DefinitionFile], config: &Config, trust: Status) -> Result<(), ProjectError> {
    let mut known = BTreeSet::new();
    for definition in definitions.iter_mut() {
        let names = definition.modules()?;
        let provider = names.iter().find_map(|name| config.providers.get(name)).cloned();
        definition.granted = Granted { provider, is_accepted: trust == Status::Accepted };
        known.extend(names);
    }
    let Some((name, provider)) = config.providers.iter().find(|(name, _)| !known.contains(*name)) else {
        return Ok(());
    };
    let near = nearest(name, known.iter().map(String::as_str));
    Err(ProjectError::Unknown {
        place: format!("{}: {}", config.file, provider.place),
        message: format!("there is no module `{name}`"),
        fix: near.map_or_else(|| "Remove it".to_owned(), |near| format!("Did you mean `{near}`?")),
    })
}

/// The files that a path names: itself, itself with an extension, or those of a folder.
fn files_at(path: &Path) -> Result<Vec<PathBuf>, ProjectError> {
    if path.is_dir() {
        let listed = std::fs::read_dir(path).map_err(|error| ProjectError::file(path, error))?;
        let entries = listed.collect::<Result<Vec<_>, _>>().map_err(|error| ProjectError::file(path, error))?;
        let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
        files.retain(|file| file.is_file() && may_define(file));
        // The order of a folder differs from machine to machine; what is made of it must not.
        files.sort();
        return Ok(files);
    }
    let candidates = [path.to_owned(), with("json", path), with("ts", path), with("wit", path)];
    match candidates.into_iter().find(|candidate| candidate.is_file()) {
        Some(file) => Ok(vec![file]),
        None => {
            let error = std::io::Error::new(std::io::ErrorKind::NotFound, "there is no such file or folder");
            Err(ProjectError::file(path, error))
        }
    }
}

fn with(extension: &str, path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

/// Whether a file of a folder is one that defines something, by its name alone.
fn may_define(file: &Path) -> bool {
    let is_beside = |extension| file.with_extension(extension).is_file();
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("json" | "wit") => true,
        // `.d.ts` files declare types for editors.
        Some("ts") => !file.to_string_lossy().ends_with(".d.ts") && !is_beside("json") && !is_beside("wit"),
        _ => false,
    }
}

/// Reads one file; nothing where it is TypeScript that defines no tool.
fn read(file: &Path, naming: Naming, outlines: &Outlines) -> Result<Option<DefinitionFile>, ProjectError> {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !EXTENSIONS.contains(&extension) {
        let fix = match extension {
            "yaml" | "yml" => "Convert it to JSON",
            _ => "Name a .json, .ts or .wit file",
        };
        let message = format!("a .{extension} file is not a definition");
        return Err(ProjectError::Unknown { place: file.display().to_string(), message, fix: fix.into() });
    }
    let text = text::read(file, MAX_SOURCE_BYTES)?;
    let is_define_tool = matches!(extension, "ts" | "js" | "mts" | "mjs");
    if is_define_tool && !text.contains("defineTool") {
        return Ok(None);
    }
    let entries = Vec::from_iter((!naming.entry.is_empty()).then(|| naming.entry.clone()));
    if extension == "wit" {
        let handlers = handlers_beside(file);
        let body = DefinitionBody::Wit(text);
        return Ok(Some(DefinitionFile::new(file, entries, handlers, body)));
    }
    let siblings = (is_define_tool && naming.format != Some(Format::Mcp)).then(|| Siblings::of(file));
    let recipe = Recipe::of(file, text, naming, siblings);
    let Some(outline) = recipe.outline(outlines)? else { return Ok(None) };
    let handlers = if is_define_tool { Some(file.to_owned()) } else { handlers_beside(file) };
    let has_commands = outline.interfaces.iter().any(|interface| !interface.commands.is_empty());
    let commands = match has_commands {
        true => DefinedCommands::of(file, &recipe.text, &recipe.compile()?),
        false => None,
    };
    let body = DefinitionBody::Module(Box::new(DefinedModule { outline, is_define_tool, recipe }));
    Ok(Some(DefinitionFile { commands, ..DefinitionFile::new(file, entries, handlers, body) }))
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
            is_for_all: false,
            project: None,
        }
    }
}

impl Recipe {
    /// The module's names; nothing where a server has no tools, or none that is let through.
    fn outline(&self, outlines: &Outlines) -> Result<Option<PackageOutline>, ProjectError> {
        if let Some(siblings) = &self.siblings {
            siblings.read_all(&outlines.files(&self.own_key()));
        }
        if let Some(outline) = outlines.get(&self.key()) {
            return Ok(Some(outline));
        }
        self.siblings.iter().for_each(Siblings::forget);
        let module = match self.compile() {
            Err(ProjectError::Compile(CompileError::Empty(_))) if self.format == Some(Format::Mcp) => return Ok(None),
            compiled => compiled?,
        };
        let outline = PackageOutline::of(&module);
        if let Some(siblings) = &self.siblings {
            outlines.put_files(&self.own_key(), &siblings.paths());
        }
        outlines.put(&self.key(), &outline);
        Ok(Some(outline))
    }
}

/// What a recorded list of tools accepts of a server; nothing where it is not what a server could send.
fn recorded(server: &ConfiguredServer, tools: &[Value]) -> Option<LockedServer> {
    let offer = Offer { tools, ..Offer::default() };
    LockedServer::of(locked_endpoint(server), &offer, &Redactor::default()).ok()
}

/// What was accepted of a server, in the form of an MCP tool list.
fn listing_text(locked: &LockedServer) -> String {
    let mut capabilities = serde_json::Map::new();
    for (name, has) in [("resources", locked.has_resources), ("prompts", !locked.prompts.is_empty())] {
        if has {
            capabilities.insert(name.to_owned(), serde_json::json!({}));
        }
    }
    serde_json::json!({
        "tools": locked.tools, "instructions": locked.instructions, "capabilities": capabilities,
    })
    .to_string()
}

fn handlers_beside(file: &Path) -> Option<PathBuf> {
    ["ts", "js"].iter().map(|extension| file.with_extension(extension)).find(|path| path.is_file())
}

/// Reads everything that a configuration names, each file once.
pub(super) struct Loader<'a> {
    folder: &'a Path,
    config: &'a Config,
    outlines: &'a Outlines,
    definitions: Vec<DefinitionFile>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(
        folder: &'a Path,
        config: &'a Config,
        outlines: &'a Outlines,
        definitions: Vec<DefinitionFile>,
    ) -> Loader<'a> {
        Loader { folder, config, outlines, definitions }
    }

    pub(super) fn load_all(
        &mut self,
        servers: &BTreeMap<String, Arc<ConfiguredServer>>,
        lock: &Lock,
    ) -> Result<(), ProjectError> {
        let config = self.config;
        for (name, path) in &config.registry {
            self.load(path, Naming { entry: name.clone(), specifier: Some(name.clone()), ..Naming::default() })?;
        }
        for server in servers.values().filter(|server| server.config.enabled) {
            self.load_server(server, lock)?;
        }
        let spaces = config.spaces.values().flat_map(|space| &space.capabilities);
        for entry in config.global.iter().chain(spaces) {
            if let Entry::Path { path, module, format } = entry {
                let specifier = module.as_ref().map(|module| match module.starts_with('@') {
                    true => module.clone(),
                    false => format!("@{}/{module}", capability_gen::compile::NAMESPACE),
                });
                let naming = Naming { entry: path.clone(), specifier, format: *format, ..Naming::default() };
                self.load(path, naming)?;
            }
        }
        let spaces = config.spaces.values().flat_map(|space| &space.capabilities);
        for entry in config.global.iter().chain(spaces) {
            if let Entry::Module(name) = entry {
                self.load_package(name)?;
            }
        }
        for definition in &mut self.definitions {
            definition.project = Some(self.folder.to_owned());
        }
        Ok(())
    }

    /// What an npm package of the project defines, where nothing else has its name.
    fn load_package(&mut self, name: &str) -> Result<(), ProjectError> {
        let is_known = self.definitions.iter().any(|definition| {
            let is_module = matches!(&definition.body, DefinitionBody::Module(it) if it.outline.specifier == name);
            is_module || definition.entries.iter().any(|entry| entry == name)
        });
        if is_known || name == STANDARD {
            return Ok(());
        }
        let files = npm::definitions_of(self.folder, name).map_err(|problem| ProjectError::Unknown {
            place: self.config.file.clone(),
            message: format!("the package `{name}` in node_modules defines no capabilities: {problem}"),
            fix: "Name its file in `agent-spaces.capabilities` of its package.json, or in `capabilities.registry`"
                .into(),
        })?;
        let files = files.unwrap_or_default();
        for file in &files {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            // Each file is a module of its own, and no two have one name.
            let specifier = if files.len() == 1 { name.to_owned() } else { format!("{name}-{}", kebab(&stem)) };
            let naming = Naming { entry: name.to_owned(), specifier: Some(specifier), ..Naming::default() };
            self.definitions.extend(read(file, naming, self.outlines)?);
        }
        Ok(())
    }

    /// A server's tools, from the file that its configuration names or from the lock.
    fn load_server(&mut self, server: &Arc<ConfiguredServer>, lock: &Lock) -> Result<(), ProjectError> {
        let (entry, filters) = (format!("mcp:{}", server.name), server.config.tool_filters.clone());
        if let Some(tools) = &server.config.tools {
            let format = Some(Format::Mcp);
            let naming =
                Naming { entry: entry.clone(), format, server: Some(server.name.clone()), filters, specifier: None };
            self.load(tools, naming)?;
            let is_its = |definition: &&mut DefinitionFile| definition.entries.contains(&entry);
            for definition in self.definitions.iter_mut().filter(is_its) {
                let tools = definition.tools();
                let accepted = recorded(server, &tools).map(Arc::new);
                definition.server = Some(ServerModule { configured: server.clone(), accepted, tools });
            }
            return Ok(());
        }
        let Some(locked) = lock.servers.get(&server.name) else { return Ok(()) };
        let file = super::lock::file(self.folder);
        let recipe = Recipe {
            // Each server's part is as a file of its own to whoever reads an error.
            file: format!("{} ({})", file.display(), server.name),
            text: listing_text(locked),
            stem: format!("mcp-{}", server.name),
            specifier: None,
            format: Some(Format::Mcp),
            server: Some(server.name.clone()),
            filters,
            siblings: None,
        };
        let Some(outline) = recipe.outline(self.outlines)? else { return Ok(()) };
        let body = DefinitionBody::Module(Box::new(DefinedModule { outline, is_define_tool: false, recipe }));
        let mut definition = DefinitionFile::new(&file, vec![entry], None, body);
        let (accepted, tools) = (Some(Arc::new(locked.clone())), locked.tools.clone().into());
        definition.server = Some(ServerModule { configured: server.clone(), accepted, tools });
        self.definitions.push(definition);
        Ok(())
    }

    fn load(&mut self, path: &str, naming: Naming) -> Result<(), ProjectError> {
        let place = join(self.folder, path);
        let files = files_at(&place).map_err(|error| match error {
            ProjectError::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                ProjectError::Unknown {
                    place: self.config.file.clone(),
                    message: format!(
                        "`{}` names {}, and there is no such file or folder",
                        naming.entry,
                        place.display()
                    ),
                    fix: "Correct the path, which is relative to the configuration's folder".into(),
                }
            }
            error => error,
        })?;
        for file in files {
            let is_same =
                |known: &&mut DefinitionFile| known.path == file && known.server_name() == naming.server.as_deref();
            let known = self.definitions.iter_mut().find(is_same);
            match known {
                Some(known) if known.entries.contains(&naming.entry) => {}
                Some(known) => known.entries.push(naming.entry.clone()),
                None => self.definitions.extend(read(&file, naming.clone(), self.outlines)?),
            }
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Vec<DefinitionFile> {
        self.definitions
    }
}
