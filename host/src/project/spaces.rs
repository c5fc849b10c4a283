//! Which modules a space is given.

mod assemble;

use super::Project;
use super::commands::DefinedCommands;
use super::definitions::{self, DefinitionBody, DefinitionFile};
use super::error::ProjectError;
use crate::config::Entry;
use crate::interfaces::Interfaces;
use crate::mcp::ConfiguredServer;
use crate::package::interface_name;
use crate::standard::SPECIFIER;
use agent_spaces_policy::{FunctionId, LabelledFunction, Policy, Settings};
use capability_gen::names::nearest;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The definitions of a project as one space sees them.
pub struct SpaceModules<'a> {
    /// What its scripts may import.
    pub given: Vec<&'a DefinitionFile>,
    /// What they may not, with the line of configuration that would change that.
    pub withheld: Vec<(&'a DefinitionFile, String)>,
    /// MCP servers that they may use and whose tools nobody knows yet.
    pub undiscovered: Vec<&'a Arc<ConfiguredServer>>,
    /// MCP servers that they are given and that are switched off.
    pub switched_off: Vec<&'a Arc<ConfiguredServer>>,
    /// MCP servers that they may use and that have nothing to be used.
    empty: Vec<&'a Arc<ConfiguredServer>>,
    /// MCP servers that they may not use and whose tools nobody knows, with the line of configuration that would change
    /// that; without one, all servers are given but those that are switched off.
    ungiven: Vec<(&'a Arc<ConfiguredServer>, Option<String>)>,
    /// The space's name.
    name: Option<String>,
    /// What its calls may do.
    policy: Settings,
    /// The folder that its scripts see as theirs.
    workspace: Option<PathBuf>,
    /// The project that it is of, whose other spaces scripts may run in.
    project: Option<&'a Project>,
    /// Stands for the space where calls of a day are counted.
    identity: String,
    /// Whether this is a part of what the policy is for, so that rules may be about the rest.
    is_part: bool,
}

impl Project {
    /// What a space is given: the global capabilities and its own. Without a name, the global ones alone.
    pub fn space(&self, name: Option<&str>) -> Result<SpaceModules<'_>, ProjectError> {
        let own: &[Entry] = match name {
            None => &[],
            Some(name) => &self.config().spaces.get(name).ok_or_else(|| self.no_space(name))?.capabilities,
        };
        let mut wanted = Vec::new();
        for (list, entries) in [(None, self.config().global.as_slice()), (name, own)] {
            for entry in entries {
                wanted.extend(self.known(entry, list)?);
            }
        }
        let is_given = |definition: &&DefinitionFile| {
            definition.is_for_all || wanted.iter().any(|entry| definition.is_named(entry))
        };
        let (given, others): (Vec<_>, Vec<_>) = self.definitions().iter().partition(is_given);
        let (without_module, ungiven): (Vec<_>, Vec<_>) =
            self.without_module().partition(|server| wanted.contains(&format!("mcp:{}", server.name)));
        let has_all = |entries: &[Entry]| entries.contains(&Entry::AllMcp);
        let is_all = self.acceptance().is_none() || has_all(&self.config().global) || has_all(own);
        let ungiven = ungiven.into_iter().map(|server| {
            let line = (!is_all).then(|| self.config().grant_line(name, &format!("mcp:{}", server.name)));
            (server, line)
        });
        let (on, switched_off): (Vec<_>, Vec<_>) = without_module.into_iter().partition(|server| server.config.enabled);
        let (empty, undiscovered) = on.into_iter().partition(|server| self.is_known(server));
        let withheld = others.into_iter().map(|definition| {
            let entry = definition.entries.first().map(String::as_str).unwrap_or_default();
            let line = self.config().grant_line(name, entry);
            (
                definition,
                match self.spaces_with(definition).as_slice() {
                    [] => line,
                    [first, ..] if name.is_none() => {
                        format!("run it in a space that has it (--space {first}), or {line}")
                    }
                    _ => line,
                },
            )
        });
        Ok(SpaceModules {
            given,
            withheld: withheld.collect(),
            undiscovered,
            switched_off,
            empty,
            ungiven: ungiven.collect(),
            policy: self.policy(name),
            workspace: self.workspace(name)?,
            project: Some(self),
            identity: format!("{}\0{}", self.identity(), name.unwrap_or_default()),
            name: name.map(str::to_owned),
            is_part: false,
        })
    }

    /// These definitions under the policy of a space, whatever else the space has.
    pub(super) fn part_of_space<'a>(&'a self, name: Option<&str>, given: &'a [DefinitionFile]) -> SpaceModules<'a> {
        SpaceModules {
            policy: self.policy(name),
            identity: format!("{}\0{}", self.identity(), name.unwrap_or_default()),
            project: Some(self),
            name: name.map(str::to_owned),
            is_part: true,
            ..SpaceModules::all(given)
        }
    }

    /// Stands for the project among others of its user.
    fn identity(&self) -> String {
        let file = PathBuf::from(&self.config().file);
        file.canonicalize().unwrap_or(file).to_string_lossy().into_owned()
    }

    /// The module of one MCP server, whether or not a space has it.
    pub fn server_modules(&self, server: &str) -> SpaceModules<'_> {
        let entry = format!("mcp:{server}");
        let given = self.definitions().iter().filter(|definition| definition.is_named(&entry)).collect();
        SpaceModules {
            policy: self.policy(None),
            identity: self.identity(),
            project: Some(self),
            is_part: true,
            ..SpaceModules::of(given)
        }
    }

    /// The servers that no module is known of: nobody asked for their tools yet, or they are switched off.
    fn without_module(&self) -> impl Iterator<Item = &Arc<ConfiguredServer>> {
        self.servers().values().filter(|server| {
            let entry = format!("mcp:{}", server.name);
            !self.definitions().iter().any(|definition| definition.is_named(&entry))
        })
    }

    /// The servers that are switched on and that neither all spaces nor one of them is given, with the line of
    /// configuration that would change that.
    pub fn ungiven_servers(&self) -> Vec<(&Arc<ConfiguredServer>, String)> {
        let given: Vec<String> = self.config().entries().flat_map(|(entry, _)| self.texts_of(entry)).collect();
        let is_given = |entry: &String| {
            let mut named = self.definitions().iter().filter(|definition| definition.is_named(entry));
            given.contains(entry)
                || named.any(|definition| definition.is_for_all || given.iter().any(|given| definition.is_named(given)))
        };
        let entries = self.servers().values().filter(|server| server.config.enabled).map(|server| {
            let entry = format!("mcp:{}", server.name);
            (server, entry)
        });
        let ungiven = entries.filter(|(_, entry)| !is_given(entry));
        ungiven.map(|(server, entry)| (server, self.config().grant_line(None, &entry))).collect()
    }

    /// The same in one sentence for people, where there are any.
    pub fn ungiven_note(&self) -> Option<String> {
        /// Most servers that are named.
        const MAX_NAMED: usize = 8;
        let ungiven = self.ungiven_servers();
        let list = |written: fn(&str) -> String| -> String {
            ungiven.iter().take(MAX_NAMED).map(|(server, _)| written(&server.name)).collect::<Vec<_>>().join(", ")
        };
        let (names, entries) = (list(|name| format!("`{name}`")), list(|name| format!("\"mcp:{name}\"")));
        let (more, all) = match ungiven.len() {
            0 => return None,
            1 => (String::new(), ""),
            count if count > MAX_NAMED => {
                (format!(" and {} more", count - MAX_NAMED), ", or \"mcp:*\" for all servers,")
            }
            _ => (String::new(), ", or \"mcp:*\" for all servers,"),
        };
        let file = &self.config().file;
        Some(format!("no space is given {names}{more}: add {entries}{all} to `capabilities.global` of {file}"))
    }

    /// The spaces whose own lists name a definition.
    fn spaces_with(&self, definition: &DefinitionFile) -> Vec<&str> {
        let is_named = |entry: &Entry| self.texts_of(entry).iter().any(|text| definition.is_named(text));
        let names = |entries: &[Entry]| entries.iter().any(is_named);
        let spaces = self.config().spaces.iter().filter(|(_, space)| names(&space.capabilities));
        spaces.map(|(name, _)| name.as_str()).collect()
    }

    /// What an entry names, as it is written in a list. That of all servers names those that are switched on.
    fn texts_of(&self, entry: &Entry) -> Vec<String> {
        match entry {
            Entry::AllMcp => {
                let enabled = self.servers().values().filter(|server| server.config.enabled);
                enabled.map(|server| format!("mcp:{}", server.name)).collect()
            }
            entry => vec![entry.to_string()],
        }
    }

    /// The texts of an entry that names something.
    fn known(&self, entry: &Entry, space: Option<&str>) -> Result<Vec<String>, ProjectError> {
        let text = entry.to_string();
        if text == SPECIFIER || self.definitions().iter().any(|definition| definition.is_named(&text)) {
            return Ok(vec![text]);
        }
        match entry {
            // A folder without definitions, which may have some later.
            Entry::Path { .. } => return Ok(Vec::new()),
            Entry::AllMcp => return Ok(self.texts_of(entry)),
            // A server whose tools are not known, that has none that is let through, or that is switched off.
            Entry::Mcp(server) if self.servers().contains_key(server) => return Ok(vec![text]),
            _ => {}
        }
        let servers: Vec<String> = self.servers().keys().map(|server| format!("mcp:{server}")).collect();
        let known = self.definitions().iter().flat_map(DefinitionFile::names);
        let known = known.chain(servers.iter().map(String::as_str)).filter(|known| *known != text);
        let near = nearest(&text, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let own_scope = format!("@{}/", capability_gen::compile::NAMESPACE);
        let fix = match entry {
            // Nobody's package has our scope: who installs one of that name gets a stranger's.
            Entry::Module(name) if name.starts_with(&own_scope) => match definitions::usual_file(self.folder(), name) {
                Some((found, path)) if found == *name => format!("It is in `{path}`: write that path here instead"),
                Some((found, path)) => {
                    format!("Did you mean `{found}`? It is in `{path}`: write that path here instead")
                }
                None => "Write the path of its file here instead, such as `./capabilities/orders.ts`, or add it to \
                         `capabilities.registry`"
                    .to_owned(),
            },
            Entry::Mcp(server) => format!("Add `{server}` to `mcpServers`, or remove the entry"),
            Entry::Module(name) => format!(
                "It is not in `capabilities.registry`, and there is no node_modules/{name}/package.json: name its file here, \
                 add it there, or run `npm install {name}`"
            ),
            Entry::Path { .. } | Entry::AllMcp => "Name its file here".to_owned(),
        };
        let list = match space {
            Some(space) => format!("{}.capabilities", self.config().place_of_space(space)),
            None => "$.capabilities.global".to_owned(),
        };
        let at = self.config().entries().find(|(other, at)| *other == entry && at.starts_with(&list));
        let list = at.map_or(list, |(_, at)| at);
        Err(ProjectError::Unknown {
            place: format!("{}: {list}", self.config().file),
            message: format!("there is no capability `{text}`{near}"),
            fix,
        })
    }

    fn no_space(&self, name: &str) -> ProjectError {
        let known = || self.config().spaces.keys().map(String::as_str);
        let fix = match nearest(name, known()) {
            Some(near) => format!("Did you mean `{near}`?"),
            None if self.config().spaces.is_empty() => "Add it to `spaces`".to_owned(),
            None => format!("There are {}", known().collect::<Vec<_>>().join(", ")),
        };
        let message = format!("there is no space `{name}`");
        ProjectError::Unknown { place: self.config().file.clone(), message, fix }
    }
}

impl DefinitionFile {
    /// All names that it goes by in a configuration.
    fn names(&self) -> impl Iterator<Item = &str> {
        let specifier = match &self.body {
            DefinitionBody::Module(module) => Some(module.outline.specifier.as_str()),
            DefinitionBody::Wit(_) => None,
        };
        self.entries.iter().map(String::as_str).chain(specifier)
    }

    fn is_named(&self, entry: &str) -> bool {
        let is_server = |server: &str| match &self.body {
            DefinitionBody::Module(module) => module.outline.is_server(server),
            DefinitionBody::Wit(_) => false,
        };
        self.names().any(|name| name == entry) || entry.strip_prefix("mcp:").is_some_and(is_server)
    }
}

impl<'a> SpaceModules<'a> {
    /// All of these definitions.
    pub fn all(definitions: &'a [DefinitionFile]) -> SpaceModules<'a> {
        SpaceModules::of(definitions.iter().collect())
    }

    fn of(given: Vec<&'a DefinitionFile>) -> SpaceModules<'a> {
        SpaceModules {
            given,
            withheld: Vec::new(),
            undiscovered: Vec::new(),
            switched_off: Vec::new(),
            empty: Vec::new(),
            ungiven: Vec::new(),
            name: None,
            policy: Settings::default(),
            workspace: None,
            project: None,
            identity: String::new(),
            is_part: false,
        }
    }

    /// The folder that its scripts see as theirs.
    pub fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }

    /// What its calls may do.
    pub fn policy(&self) -> Policy {
        Policy::new(self.policy.clone())
    }

    /// The function that is named as scripts call it, or in full. Refuses a name that nothing here has, or that stands for
    /// functions of two modules. `place` says where it is written.
    pub fn identify(&self, place: &str, function: &str) -> Result<FunctionId, ProjectError> {
        let known = functions(self.given.iter().copied())?;
        let is_meant = |each: &&LabelledFunction| {
            each.label == function || each.id.to_string() == function || each.name_in_full() == function
        };
        let meant: Vec<&LabelledFunction> = known.iter().filter(is_meant).collect();
        let (message, fix) = match meant.as_slice() {
            [one] => return Ok(one.id.clone()),
            [first, second, ..] => {
                let message =
                    format!("`{function}` could be the function of '{}' or that of '{}'", first.module, second.module);
                let [first, second] = [first, second].map(|each| each.name_in_full());
                (message, format!("Write the one that you mean in full: `{first}` or `{second}`"))
            }
            [] => {
                let near = nearest(function, known.iter().map(|each| each.label.as_str()));
                let fix = match near {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => "Name it as scripts call it, such as `crm.createTicket`".into(),
                };
                (format!("no capability has the function `{function}`"), fix)
            }
        };
        Err(ProjectError::Unknown { place: place.to_owned(), message, fix })
    }

    /// A function of these modules by its own name or as scripts call it.
    pub fn function(&self, name: &str) -> Result<FunctionId, ProjectError> {
        let mut known = Vec::new();
        for definition in &self.given {
            let DefinitionBody::Module(module) = &definition.body else { continue };
            let module = module.compile()?;
            for capability in &module.capabilities {
                for function in &capability.functions {
                    if function.name == name || function.js_name == name {
                        let interface = interface_name(&module, &capability.interface);
                        return Ok(FunctionId::new(interface, function.wit_name.as_str()));
                    }
                    known.push(function.name.clone());
                }
            }
        }
        let near = nearest(name, known.iter().map(String::as_str));
        Err(ProjectError::Unknown {
            place: name.to_owned(),
            message: "there is no such tool".into(),
            fix: near.map_or_else(|| "See `agent-spaces mcp tools`".into(), |near| format!("Did you mean `{near}`?")),
        })
    }

    /// The interfaces alone: a compiled program brings nobody to answer them.
    pub fn interfaces(&self) -> Result<Interfaces, ProjectError> {
        let mut interfaces = Interfaces::new()?;
        interfaces.add_standard()?;
        for definition in &self.given {
            match &definition.body {
                DefinitionBody::Wit(text) => interfaces.add(&definition.path.display().to_string(), text)?,
                DefinitionBody::Module(module) => interfaces.add_package(module.package())?,
            }
        }
        Ok(interfaces)
    }

    /// The MCP servers behind these interfaces that may not be started.
    pub fn inert<'i>(&self, interfaces: impl Iterator<Item = &'i str>) -> Vec<&Arc<ConfiguredServer>> {
        let names: Vec<&str> = interfaces.collect();
        let is_used = |definition: &&&DefinitionFile| match &definition.body {
            DefinitionBody::Module(module) => {
                module.outline.interfaces.iter().any(|interface| names.contains(&interface.name.as_str()))
            }
            DefinitionBody::Wit(_) => false,
        };
        let used = self.given.iter().filter(is_used).filter(|definition| definition.handlers.is_none());
        let servers = used.filter_map(|definition| Some(&definition.server.as_ref()?.configured));
        servers.filter(|server| server.obstacle().is_some()).collect()
    }

    /// The definitions of these interfaces whose programs may not be started.
    pub fn inert_commands<'i>(&self, interfaces: impl Iterator<Item = &'i str>) -> Vec<&DefinedCommands> {
        let names: Vec<&str> = interfaces.collect();
        let is_used = |commands: &&DefinedCommands| {
            commands.list.iter().any(|command| names.contains(&command.interface.as_str()))
        };
        let used = self.given.iter().filter_map(|definition| definition.commands.as_ref()).filter(is_used);
        used.filter(|commands| commands.acceptance.obstacle().is_some()).collect()
    }

    /// Whether what answers these interfaces would be given something, were the configuration accepted.
    pub fn is_kept_from<'i>(&self, interfaces: impl Iterator<Item = &'i str>) -> Result<bool, ProjectError> {
        let names: Vec<&str> = interfaces.collect();
        for definition in &self.given {
            let granted = &definition.granted;
            let is_used = || -> Result<bool, ProjectError> {
                Ok(definition.interfaces()?.iter().any(|interface| names.contains(&interface.as_str())))
            };
            if granted.provider.is_some() && !granted.is_accepted && is_used()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What to do about those of these interfaces that nobody answers.
    pub fn unanswered<'i>(&self, interfaces: impl Iterator<Item = &'i str>) -> Vec<String> {
        let names: Vec<&str> = interfaces.collect();
        let is_used = |definition: &&&DefinitionFile| match &definition.body {
            DefinitionBody::Module(module) => {
                module.outline.interfaces.iter().any(|interface| names.contains(&interface.name.as_str()))
            }
            DefinitionBody::Wit(_) => false,
        };
        let advice = |definition: &&DefinitionFile| {
            Some(format!("nothing answers {}: {}", definition.path.display(), definition.unanswered()?))
        };
        self.given.iter().filter(is_used).filter_map(advice).collect()
    }
}

/// The functions of definitions and of the standard library.
fn functions<'a>(definitions: impl Iterator<Item = &'a DefinitionFile>) -> Result<Vec<LabelledFunction>, ProjectError> {
    let mut by_hand = Interfaces::new()?;
    by_hand.add_standard()?;
    let mut functions = Vec::new();
    for definition in definitions {
        match &definition.body {
            DefinitionBody::Module(module) => functions.extend(module.outline.labelled()),
            DefinitionBody::Wit(text) => by_hand.add(&definition.path.display().to_string(), text)?,
        }
    }
    functions.extend(by_hand.labelled());
    Ok(functions)
}
