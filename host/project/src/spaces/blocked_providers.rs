//! Modules without a provider, or whose provider its user has not accepted.

use super::SpaceModules;
use crate::commands::DefinedCommands;
use crate::definitions::{DefinitionBody, DefinitionFile};
use crate::error::ProjectError;
use crate::mcp::ConfiguredServer;
use std::sync::Arc;

impl SpaceModules<'_> {
    /// MCP servers of these interfaces that may not be started.
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

    /// Commands of these interfaces that may not be started.
    pub fn inert_commands<'i>(&self, interfaces: impl Iterator<Item = &'i str>) -> Vec<&DefinedCommands> {
        let names: Vec<&str> = interfaces.collect();
        let is_used = |commands: &&DefinedCommands| {
            commands.list.iter().any(|command| names.contains(&command.interface.as_str()))
        };
        let used = self.given.iter().filter_map(|definition| definition.commands.as_ref()).filter(is_used);
        used.filter(|commands| commands.acceptance.obstacle().is_some()).collect()
    }

    /// Returns true if providers of these interfaces lack settings only because the configuration was not accepted.
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

    /// Advice on those of these interfaces that have no provider.
    pub fn unanswered<'i>(&self, interfaces: impl Iterator<Item = &'i str>) -> Vec<String> {
        let names: Vec<&str> = interfaces.collect();
        let is_used = |definition: &&&DefinitionFile| match &definition.body {
            DefinitionBody::Module(module) => {
                module.outline.interfaces.iter().any(|interface| names.contains(&interface.name.as_str()))
            }
            DefinitionBody::Wit(_) => false,
        };
        let advice = |definition: &&DefinitionFile| {
            Some(format!("no provider implements {}: {}", definition.path.display(), definition.unanswered()?))
        };
        self.given.iter().filter(is_used).filter_map(advice).collect()
    }
}
