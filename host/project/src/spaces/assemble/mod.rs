//! Assembly of a space: its modules, their providers, its policy, and the services of the process.
//!
//! - `providers`: the provider of each function of a definition.
//! - `scripts`: scripts that answer functions, in spaces of the project.

mod providers;
mod scripts;

use super::{SpaceModules, functions};
use crate::definitions::DefinitionBody;
use crate::error::ProjectError;
use crate::host_services::Equipment;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_pipeline::History;
use agent_spaces_policy::{DayFile, Policy, RateFile, UnknownCapability, UnusedRule};
use agent_spaces_providers::standard::StandardLibrary;
use agent_spaces_sandbox::engine::Engine;
use agent_spaces_space::builder::SpaceBuilder;
use agent_spaces_space::space::Space;
use providers::{Linking, link};
use scripts::ScriptSpaces;
use std::sync::Arc;

impl SpaceModules<'_> {
    /// Assembles a space with these modules and without MCP sessions: see [`SpaceModules::assemble_with`].
    pub fn assemble(&self, engine: &Engine) -> Result<Space, ProjectError> {
        self.assemble_with(engine, &Equipment::default())
    }

    /// Assembles a space with these modules. MCP servers are started on the first call.
    pub fn assemble_with(&self, engine: &Engine, equipment: &Equipment) -> Result<Space, ProjectError> {
        Ok(self.builder(engine, equipment)?.build()?)
    }

    /// As [`SpaceModules::assemble_with`], for a caller that adds to the space: the files beside a script, limits.
    pub fn builder(&self, engine: &Engine, equipment: &Equipment) -> Result<SpaceBuilder, ProjectError> {
        if let (Some(project), Some(clients)) = (self.project, &equipment.clients) {
            project.learn_secrets(clients);
        }
        self.builder_under(engine, equipment, &ScriptSpaces::default())
    }

    /// As [`SpaceModules::builder`], with the script spaces that the outer spaces already made.
    fn builder_under(
        &self,
        engine: &Engine,
        equipment: &Equipment,
        scripts: &ScriptSpaces,
    ) -> Result<SpaceBuilder, ProjectError> {
        let history = match (&equipment.histories, &self.whole) {
            (Some(histories), Some((whole, policy))) => {
                histories.part_of((whole.as_str(), policy), &self.identity, &self.policy)
            }
            (Some(histories), None) => histories.of(&self.identity, &self.policy),
            (None, _) => History::new(self.policy.clone()),
        };
        let policy = history.policy.clone();
        let clients = equipment.clients.as_ref();
        let redactor = clients.map(|clients| clients.context().redactor.clone()).unwrap_or_default();
        let operator = equipment.operator.clone();
        let linking = Linking { engine, clients, modules: self, equipment, scripts, redactor, operator };
        let (interfaces, handlers) = link(&self.given, &linking)?;
        let standard = self.standard(&policy, equipment)?;
        self.warn_of_rules(&policy, equipment)?;
        self.warn_of_switched_off(equipment);
        let operator = equipment.operator.clone();
        let mut space = Space::builder(engine)
            .interfaces(interfaces, handlers)
            .capability(standard)
            .history(history)
            .operator(move |text| {
                if let Some(operator) = &operator {
                    operator(text);
                }
            })
            .accounting(equipment.accounting.clone())
            .redactor(linking.redactor);
        if policy.network().enabled {
            space = space.fetch();
        }
        if equipment.workspace.is_none() && self.workspace.is_none() {
            space = space.without_files();
        }
        if let Some(name) = &self.name {
            space = space.name(name);
        }
        if let Some((day, rates)) = self.counts(equipment) {
            space = space.day_counts(Arc::new(day)).rate_file(rates);
        }
        if let Some(observer) = equipment.observer.clone() {
            space = space.observer(move |event| observer(event));
        }
        if let Some(results) = &equipment.results {
            space = space.result_observer(results.clone());
        }
        if let Some(audit) = &equipment.audit {
            space = space.audit(audit.clone());
        }
        if let Some(channel) = &equipment.channel {
            space = space.approval_channel(channel.clone());
        }
        for server in &self.undiscovered {
            let known = "its tools are not known yet: run `agent-spaces capabilities build`";
            let reason = server.obstacle().unwrap_or_else(|| known.to_owned());
            let why = server.obstacle_for_agents().unwrap_or("it did not start, or has not listed its tools yet");
            let why = format!("the MCP server `{}`: {why}", server.name);
            space = space.unavailable(&server.specifier(), &why, reason);
        }
        // Listed servers, and servers that need no listing because all are given.
        let unlisted = self.ungiven.iter().filter(|(_, grant)| grant.is_none()).map(|(server, _)| server);
        for server in self.switched_off.iter().chain(unlisted) {
            let why = format!("the MCP server `{}` is switched off", server.name);
            let fix = format!("it is switched off at {}", server.switch());
            space = space.switched_off(&server.specifier(), &why, fix);
        }
        for server in &self.empty {
            let reason = "the server has no tools, or `toolFilters` allows none";
            let why = format!("the MCP server `{}` has no tools that scripts may use", server.name);
            space = space.unavailable(&server.specifier(), &why, reason);
        }
        for (server, grant) in &self.ungiven {
            if let Some(grant) = grant {
                space = space.withheld(&server.specifier(), grant.clone());
            }
        }
        for (definition, grant) in &self.withheld {
            match &definition.body {
                DefinitionBody::Module(module) => {
                    space = space.withheld(&module.outline.specifier, grant.clone());
                }
                DefinitionBody::Wit(text) => {
                    let mut own = Interfaces::new()?;
                    own.add(&definition.path.display().to_string(), text)?;
                    for specifier in own.modules().names() {
                        space = space.withheld(specifier, grant.clone());
                    }
                }
            }
        }
        Ok(space)
    }

    /// Policy rules that match no function. A typo in a deny rule would allow the call. Rules that may concern a server
    /// whose tools are unknown are left out.
    pub fn unused_rules(&self, policy: &Policy) -> Result<Vec<UnusedRule>, ProjectError> {
        if !policy.has_rules() || self.is_part {
            return Ok(Vec::new());
        }
        let ungiven = self.ungiven.iter().map(|(server, _)| server);
        let servers = [&self.undiscovered, &self.switched_off, &self.empty].into_iter().flatten().chain(ungiven);
        let unknown: Vec<UnknownCapability> = servers.map(|server| server.capability()).collect();
        let others = self.withheld.iter().map(|(definition, _)| *definition);
        let known = functions::functions(self.given.iter().copied().chain(others))?;
        Ok(policy.unused_rules(&known, &unknown))
    }

    /// Warns about policy rules that match no function.
    fn warn_of_rules(&self, policy: &Policy, equipment: &Equipment) -> Result<(), ProjectError> {
        if equipment.operator.is_some() {
            self.unused_rules(policy)?.iter().for_each(|unused| equipment.tell_once(&unused.to_string()));
        }
        Ok(())
    }

    /// Warns about granted servers that are switched off. Only scripts that import them fail.
    fn warn_of_switched_off(&self, equipment: &Equipment) {
        for server in &self.switched_off {
            let (name, switch) = (&server.name, server.switch());
            equipment.tell_once(&format!(
                "`mcp:{name}` is granted to {}, but switched off at {switch}: scripts cannot import it",
                self.name.as_ref().map_or_else(|| "all spaces".to_owned(), |space| format!("the space `{space}`"))
            ));
        }
    }

    /// Standard library with the workspace of the space.
    fn standard(&self, policy: &Policy, equipment: &Equipment) -> Result<StandardLibrary, ProjectError> {
        let workspace = equipment.workspace.as_deref().or(self.workspace.as_deref());
        StandardLibrary::new(policy, workspace, equipment.workspace_counts.clone()).map_err(|error| {
            ProjectError::Unknown {
                place: workspace.map(|folder| folder.display().to_string()).unwrap_or_default(),
                message: format!("the workspace cannot be opened: {error}"),
                fix: "Name a folder of its own that can be read".into(),
            }
        })
    }

    /// Call counts, if the process has a place for them. A part of a space counts the limits of the whole where the whole
    /// does, so that they hold for the sum of all parts, and its own limits elsewhere.
    fn counts(&self, equipment: &Equipment) -> Option<(DayFile, RateFile)> {
        let identity = self.whole.as_ref().map_or(&self.identity, |(whole, _)| whole);
        let (day, rates) = counters(equipment, identity)?;
        match (&self.whole, &self.name) {
            (Some(_), Some(name)) => {
                // The locations of its rules start with its name.
                let place = format!("{name}: ");
                let (own_day, own_rates) = counters(equipment, &self.identity)?;
                Some((day.with_part(own_day, &place), rates.with_part(own_rates, &place)))
            }
            _ => Some((day, rates)),
        }
    }

    /// Forgets the call counts and the history of a part of a space that is not used again. Those of the whole space
    /// keep its calls.
    pub fn forget(&self, equipment: &Equipment) {
        if self.whole.is_none() {
            return;
        }
        if let Some(histories) = &equipment.histories {
            histories.forget(&self.identity);
        }
        for ending in [DAY_FILE, RATE_FILE] {
            if let Some(store) = &equipment.shared_counts {
                store.forget(&counts_file(&self.identity, ending));
            }
            let file = equipment.counts.as_ref().map(|folder| folder.join(counts_file(&self.identity, ending)));
            if let Some(file) = file {
                // Most spaces have no limits of their own, and so no files.
                let _absent = std::fs::remove_file(&file);
                let _absent = std::fs::remove_file(agent_spaces_private_fs::file::beside(&file, ".lock"));
            }
        }
    }
}

/// Endings of the files of daily counts and of rates.
const DAY_FILE: &str = "json";
const RATE_FILE: &str = "rates.json";

/// Returns the call counts of a space: in the store that hosts share, or in files.
fn counters(equipment: &Equipment, identity: &str) -> Option<(DayFile, RateFile)> {
    let [day, rates] = [DAY_FILE, RATE_FILE].map(|ending| counts_file(identity, ending));
    if let Some(store) = &equipment.shared_counts {
        return Some((DayFile::shared(store.clone(), day), RateFile::shared(store.clone(), rates)));
    }
    let folder = equipment.counts.as_ref()?;
    Some((DayFile::new(folder.join(day)), RateFile::new(folder.join(rates))))
}

/// Name of a counts file: a hash, which reveals nothing about the project.
fn counts_file(identity: &str, ending: &str) -> String {
    format!("{}.{ending}", blake3::hash(identity.as_bytes()).to_hex())
}
