//! Everything that a configuration names.

use super::near_path::near_path;
use super::recipe::{Naming, Recipe};
use super::{DefinedModule, DefinitionBody, DefinitionFile, ServerModule, files};
use crate::config::{Config, Entry};
use crate::mcp::{ConfiguredServer, locked_endpoint};
use crate::npm;
use crate::project::error::ProjectError;
use crate::project::find::join;
use crate::project::lock;
use crate::project::outlines::Outlines;
use crate::standard::SPECIFIER as STANDARD;
use agent_spaces_mcp::lock::{Lock, LockedServer, Offer};
use agent_spaces_mcp::secrets::Redactor;
use capability_gen::names::kebab;
use capability_gen::sources::{Format, OperationFilter};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads everything that a configuration names, each file once.
pub(in crate::project) struct Loader<'a> {
    folder: &'a Path,
    config: &'a Config,
    outlines: &'a Outlines,
    definitions: Vec<DefinitionFile>,
    /// Where in the configuration each file was first named, and with which operations.
    named: Vec<(PathBuf, OperationFilter, String)>,
}

impl<'a> Loader<'a> {
    pub(in crate::project) fn new(
        folder: &'a Path,
        config: &'a Config,
        outlines: &'a Outlines,
        definitions: Vec<DefinitionFile>,
    ) -> Loader<'a> {
        Loader { folder, config, outlines, definitions, named: Vec::new() }
    }

    pub(in crate::project) fn load_all(
        &mut self,
        servers: &BTreeMap<String, Arc<ConfiguredServer>>,
        lock: &Lock,
    ) -> Result<(), ProjectError> {
        let config = self.config;
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
        // Those of the folder that is worked in find packages there.
        for definition in self.definitions.iter_mut().filter(|definition| !definition.is_for_all) {
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

    /// The name of one module of several that a package brings. The package must not take the name of another, and with
    /// it what the configuration gives to that.
    fn part_of_package(&self, package: &str, file: &Path) -> Result<String, ProjectError> {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{package}-{}", kebab(&stem));
        let spaces = self.config.spaces.values().flat_map(|space| &space.capabilities);
        let mut entries = self.config.global.iter().chain(spaces);
        let is_taken = entries.any(|entry| matches!(entry, Entry::Module(other) if *other == name));
        if is_taken || self.config.registry.contains_key(&name) {
            return Err(ProjectError::Unknown {
                place: file.display().to_string(),
                message: format!("`{package}` brings a module `{name}`, and so is another called"),
                fix: "Name the files of the package by their paths, or leave one of the two out".into(),
            });
        }
        Ok(name)
    }

    /// A server's tools, from the file that its configuration names or from the lock.
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

    /// Reads what a path names; `place` is where the configuration names it.
    fn load(&mut self, path: &str, naming: Naming, place: &str) -> Result<(), ProjectError> {
        let target = join(self.folder, path);
        let fail = |message: String, fix: String| {
            let place = format!("{}: {place}", self.config.file);
            ProjectError::Unknown { place, message, fix }
        };
        let files = files::at(&target).map_err(|error| match error {
            ProjectError::File { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                let message =
                    format!("`{}` names {}, and there is no such file or folder", naming.entry, target.display());
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

    pub(in crate::project) fn finish(self) -> Vec<DefinitionFile> {
        self.definitions
    }
}

/// A server's tools as they were accepted, by an entry and a name; nothing where it has none, or none that is let through.
pub(in crate::project) fn server_definition(
    file: &Path,
    server: &Arc<ConfiguredServer>,
    (entry, name): (String, &str),
    locked: &LockedServer,
    outlines: &Outlines,
) -> Result<Option<DefinitionFile>, ProjectError> {
    let recipe = Recipe {
        // Each server's part is as a file of its own to whoever reads an error.
        file: format!("{} ({})", file.display(), server.name),
        text: listing_text(locked),
        // Of one in a toolbox with the toolbox's name: two of them may have a server of one name.
        stem: format!("mcp-{}", server.name.replace('/', "-")),
        specifier: None,
        format: Some(Format::Mcp),
        server: Some(name.to_owned()),
        filters: server.config.tool_filters.clone(),
        operations: OperationFilter::default(),
        package: None,
        siblings: None,
    };
    let Some(outline) = recipe.outline(outlines)? else { return Ok(None) };
    let body = DefinitionBody::Module(Box::new(DefinedModule { outline, is_define_tool: false, recipe }));
    let mut definition = DefinitionFile::new(file, vec![entry], None, body);
    let (accepted, tools) = (Some(Arc::new(locked.clone())), locked.tools.clone().into());
    definition.server = Some(ServerModule { configured: server.clone(), accepted, tools, connected: None });
    Ok(Some(definition))
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
