//! Modules of a space: the definitions that the configuration gives it, and those that it withholds.
//!
//! # Layout
//! - `entries`: entries of the configuration's capability lists, matched with definitions and servers.
//! - `narrowing`: spaces made at run time of a part of a configured one.
//! - `ungiven_servers`: MCP servers that are granted to no space.
//! - `functions`: functions of a space by their names.
//! - `blocked_providers`: modules without a provider, or whose provider its user has not accepted.
//! - `assemble`: a running space made of these modules and their providers.

mod assemble;
mod blocked_providers;
mod entries;
mod functions;
mod narrowing;
mod ungiven_servers;

pub use narrowing::{Narrowing, NarrowingError};
pub use ungiven_servers::UngivenNote;

use super::Project;
use super::definitions::{DefinitionBody, DefinitionFile};
use super::error::ProjectError;
use crate::mcp::ConfiguredServer;
use agent_spaces_config::Entry;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_policy::{Policy, Settings};
use agent_spaces_types::limits::Limits;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Definitions and servers of a project as one space sees them.
pub struct SpaceModules<'a> {
    /// Definitions that its scripts may import.
    pub given: Vec<&'a DefinitionFile>,
    /// Definitions that they may not import, each with the configuration line that would grant it.
    pub withheld: Vec<(&'a DefinitionFile, String)>,
    /// Granted MCP servers whose tools have not been discovered yet.
    pub undiscovered: Vec<&'a Arc<ConfiguredServer>>,
    /// Granted MCP servers that are switched off.
    pub switched_off: Vec<&'a Arc<ConfiguredServer>>,
    /// Granted MCP servers without usable tools.
    empty: Vec<&'a Arc<ConfiguredServer>>,
    /// MCP servers without a module that are not granted, each with the configuration line that would grant it. The
    /// line is `None` if all servers are granted and this one is only switched off.
    ungiven: Vec<(&'a Arc<ConfiguredServer>, Option<String>)>,
    /// Name of the space.
    name: Option<String>,
    /// Policy settings of the space.
    policy: Settings,
    /// Workspace folder of its scripts.
    workspace: Option<PathBuf>,
    /// Project of the space, in whose other spaces scripts may run.
    project: Option<&'a Project>,
    /// Key of the space for call counts and histories.
    identity: String,
    /// Key and policy of the space that this one is a part of, whose limits hold for all of its parts together.
    whole: Option<(String, Settings)>,
    /// Limits of runs, if they are not those that the configuration has for the space.
    limits: Option<Limits>,
    /// True for a part of a space: policy rules without a match may concern the other modules.
    is_part: bool,
}

impl SpaceModules<'_> {
    /// MCP servers that the space is granted, also those that are switched off or have no tools.
    pub fn servers(&self) -> impl Iterator<Item = &Arc<ConfiguredServer>> {
        let of_modules = self.given.iter().filter_map(|definition| definition.server.as_ref());
        let others = [&self.undiscovered, &self.switched_off, &self.empty];
        of_modules.map(|server| &server.configured).chain(others.into_iter().flatten().copied())
    }
}

impl Project {
    /// Modules of a space: the global capabilities and its own. Without a name, the global ones alone.
    pub fn space(&self, name: Option<&str>) -> Result<SpaceModules<'_>, ProjectError> {
        let own: &[Entry] = match name {
            None => &[],
            Some(name) => &self.config().spaces.get(name).ok_or_else(|| self.unknown_space(name))?.capabilities,
        };
        let mut wanted = Vec::new();
        for (list, entries) in [(None, self.config().global.as_slice()), (name, own)] {
            for entry in entries {
                wanted.extend(self.resolve_entry(entry, list)?);
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
            whole: None,
            limits: None,
            is_part: false,
        })
    }

    /// These definitions alone, under the policy of a space.
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

    /// Key of the project among the user's projects.
    fn identity(&self) -> String {
        let file = PathBuf::from(&self.config().file);
        file.canonicalize().unwrap_or(file).to_string_lossy().into_owned()
    }

    /// Module of one MCP server, whether or not a space is given it.
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
}

impl<'a> SpaceModules<'a> {
    /// A space that is given all of these definitions.
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
            whole: None,
            limits: None,
            is_part: false,
        }
    }

    /// Workspace folder of its scripts.
    pub fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }

    /// Policy of its calls.
    pub fn policy(&self) -> Policy {
        Policy::new(self.policy.clone())
    }

    /// Interfaces of its modules and of the standard library, without providers.
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
}
