//! Loading of all definitions that a configuration names.

use super::near_path::near_path;
use super::recipe::{Naming, Recipe};
use super::{DefinedModule, DefinitionBody, DefinitionFile, agents, check_names, files};
use crate::error::ProjectError;
use crate::find::join;
use crate::lock;
use crate::mcp::{ConfiguredServer, ServerModule, locked_endpoint};
use crate::outline_cache::Outlines;
use agent_spaces_config::{Config, Entry};
use agent_spaces_linker::npm;
use agent_spaces_mcp::lock::{Lock, LockedServer, Offer};
use agent_spaces_secrets::Redactor;
use agent_spaces_types::standard::SPECIFIER as STANDARD;
use capability_gen::names::kebab;
use capability_gen::sources::{Format, OperationFilter};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Loader of all definitions that a configuration names. Each file is read once.
pub(crate) struct Loader<'a> {
    folder: &'a Path,
    config: &'a Config,
    outlines: &'a Outlines,
    definitions: Vec<DefinitionFile>,
    /// Files with their selected operations and the position of the entry that first named them.
    named: Vec<(PathBuf, OperationFilter, String)>,
}

impl<'a> Loader<'a> {
    pub(crate) fn new(
        folder: &'a Path,
        config: &'a Config,
        outlines: &'a Outlines,
        definitions: Vec<DefinitionFile>,
    ) -> Loader<'a> {
        Loader { folder, config, outlines, definitions, named: Vec::new() }
    }

    pub(crate) fn load_all(
        &mut self,
        servers: &BTreeMap<String, Arc<ConfiguredServer>>,
        lock: &Lock,
    ) -> Result<(), ProjectError> {
        let config = self.config;
        let has_agents = agents::is_named(config);
        if has_agents {
            self.definitions.extend(agents::definition(config, self.outlines)?);
        }
        for (name, path) in &config.registry {
            let naming = Naming { entry: name.clone(), specifier: Some(name.clone()), ..Naming::default() };
            self.load(path, naming, &format!("$.capabilities.registry[{name:?}]"))?;
        }
        for server in servers.values().filter(|server| server.config.enabled) {
            self.load_server(server, lock)?;
        }
        for (entry, place) in config.entries() {
            if let Entry::Path { path, module, format, operations } = entry {
                let specifier = module.as_ref().map(|module| match module.starts_with('@') {
                    true => module.clone(),
                    false => format!("@{}/{module}", capability_gen::compile::NAMESPACE),
                });
                let operations = operations.clone();
                let naming =
                    Naming { entry: path.clone(), specifier, format: *format, operations, ..Naming::default() };
                self.load(path, naming, &place)?;
            }
        }
        let spaces = config.spaces.values().flat_map(|space| &space.capabilities);
        for entry in config.global.iter().chain(spaces) {
            if let Entry::Module(name) = entry {
                self.load_package(name)?;
            }
        }
        if !has_agents {
            self.offer_agents();
        }
        // Definitions of the working folder use the npm packages of that folder.
        for definition in self.definitions.iter_mut().filter(|definition| !definition.is_for_all) {
            definition.project = Some(self.folder.to_owned());
        }
        Ok(())
    }

    /// Loads the module of the agents for spaces that could be given it. No entry names it, so that an agent may have the
    /// name of a capability; then the module is left out.
    fn offer_agents(&mut self) {
        if let Ok(Some(agents)) = agents::definition(self.config, self.outlines) {
            self.definitions.push(agents);
            if check_names(&self.definitions).is_err() {
                self.definitions.pop();
            }
        }
    }

    /// Loads the definitions of an npm package, unless the name is already taken.
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
            let specifier = match files.len() {
                1 => name.to_owned(),
                _ => self.part_of_package(name, file)?,
            };
            let naming = Naming { entry: name.to_owned(), specifier: Some(specifier), ..Naming::default() };
            let read = files::read(file, naming, self.outlines)?;
            self.definitions.extend(read.map(|definition| DefinitionFile { is_of_package: true, ..definition }));
        }
        Ok(())
    }

    /// Name of one of several modules of a package. It must not collide with a configured name: the package would get
    /// the settings that the configuration grants that module.
    fn part_of_package(&self, package: &str, file: &Path) -> Result<String, ProjectError> {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{package}-{}", kebab(&stem));
        let spaces = self.config.spaces.values().flat_map(|space| &space.capabilities);
        let mut entries = self.config.global.iter().chain(spaces);
        let is_taken = entries.any(|entry| matches!(entry, Entry::Module(other) if *other == name));
        if is_taken || self.config.registry.contains_key(&name) {
            return Err(ProjectError::Unknown {
                place: file.display().to_string(),
                message: format!(
                    "duplicate module name `{name}`: a file of the package `{package}` and another entry have it"
                ),
                fix: "Name the files of the package by their paths, or leave one of the two out".into(),
            });
        }
        Ok(name)
    }

    /// Loads a server's tools, from the file that its configuration names or from the lock.
    fn load_server(&mut self, server: &Arc<ConfiguredServer>, lock: &Lock) -> Result<(), ProjectError> {
        let (entry, filters) = (format!("mcp:{}", server.name), server.config.tool_filters.clone());
        if let Some(tools) = &server.config.tools {
            let format = Some(Format::Mcp);
            let server_name = Some(server.name.clone());
            let naming = Naming { entry: entry.clone(), format, server: server_name, filters, ..Naming::default() };
            self.load(tools, naming, &entry)?;
            let is_its = |definition: &&mut DefinitionFile| definition.entries.contains(&entry);
            for definition in self.definitions.iter_mut().filter(is_its) {
                let tools = definition.tools();
                let accepted = recorded(server, &tools).map(Arc::new);
                definition.server = Some(ServerModule { configured: server.clone(), accepted, tools, connected: None });
            }
            return Ok(());
        }
        let Some(locked) = lock.servers.get(&server.name) else { return Ok(()) };
        let file = lock::file(self.folder);
        self.definitions.extend(server_definition(&file, server, (entry, &server.name), locked, self.outlines)?);
        Ok(())
    }

    /// Loads the definitions at a path; `place` is the position of its entry in the configuration.
    fn load(&mut self, path: &str, naming: Naming, place: &str) -> Result<(), ProjectError> {
        let target = join(self.folder, path);
        let fail = |message: String, fix: String| {
            let place = format!("{}: {place}", self.config.file);
            ProjectError::Unknown { place, message, fix }
        };
        let files = files::at(&target).map_err(|error| match error {
            ProjectError::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                let message = format!("`{}` names {}, which does not exist", naming.entry, target.display());
                let fix = match near_path(self.folder, path) {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => "Correct the path, which is relative to the configuration's folder".into(),
                };
                fail(message, fix)
            }
            error => error,
        })?;
        if naming.server.is_none() {
            for file in &files {
                let first = self.named.iter().find(|(named, _, _)| named == file);
                if let Some((_, _, first)) = first.filter(|(_, operations, _)| *operations != naming.operations) {
                    let message = format!("{} is listed at {first} too, with other `operations`", file.display());
                    return Err(fail(
                        message,
                        "Keep one of the two entries, with all operations that are needed".into(),
                    ));
                }
            }
            self.named.extend(files.iter().map(|file| (file.clone(), naming.operations.clone(), place.to_owned())));
        }
        for file in files {
            let is_same = |known: &&mut DefinitionFile| {
                let is_server = known.server_name() == naming.server.as_deref();
                known.path == file && is_server && known.has_operations(&naming.operations)
            };
            let known = self.definitions.iter_mut().find(is_same);
            match known {
                Some(known) if known.entries.contains(&naming.entry) => {}
                Some(known) => known.entries.push(naming.entry.clone()),
                None => {
                    let read = files::read(&file, naming.clone(), self.outlines)?;
                    let is_of_package = file.components().any(|part| part.as_os_str() == npm::FOLDER);
                    self.definitions.extend(read.map(|definition| DefinitionFile { is_of_package, ..definition }));
                }
            }
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Vec<DefinitionFile> {
        self.definitions
    }
}

/// Definition of a server's accepted tools, under an entry and a name; `None` if no tool passes the filters.
pub(crate) fn server_definition(
    file: &Path,
    server: &Arc<ConfiguredServer>,
    (entry, name): (String, &str),
    locked: &LockedServer,
    outlines: &Outlines,
) -> Result<Option<DefinitionFile>, ProjectError> {
    let recipe = Recipe {
        // Errors show each server's part of the lock as a file of its own.
        file: format!("{} ({})", file.display(), server.name),
        text: listing_text(locked),
        // Includes the toolbox's name: two toolboxes may have servers with the same name.
        stem: format!("mcp-{}", server.name.replace('/', "-")),
        specifier: None,
        format: Some(Format::Mcp),
        server: Some(name.to_owned()),
        filters: server.config.tool_filters.clone(),
        operations: OperationFilter::default(),
        package: None,
        imports: None,
    };
    let Some(outline) = recipe.outline(outlines)? else { return Ok(None) };
    let body = DefinitionBody::Module(Box::new(DefinedModule { outline, is_define_tool: false, recipe }));
    let mut definition = DefinitionFile::new(file, vec![entry], None, body);
    let (accepted, tools) = (Some(Arc::new(locked.clone())), locked.tools.clone().into());
    definition.server = Some(ServerModule { configured: server.clone(), accepted, tools, connected: None });
    Ok(Some(definition))
}

/// Lock entry for a recorded tool list; `None` if no server could have sent the list.
fn recorded(server: &ConfiguredServer, tools: &[Value]) -> Option<LockedServer> {
    let offer = Offer { tools, ..Offer::default() };
    LockedServer::of(locked_endpoint(server), &offer, &Redactor::default()).ok()
}

/// Accepted tools of a server as an MCP tool list.
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
