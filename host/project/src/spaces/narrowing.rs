//! Narrowed spaces: made at run time of a part of a configured one.
//!
//! A narrowed space has some of the capabilities of its base, a policy that only tightens the base's, limits at most the
//! base's, and a workspace folder of its own. Its calls count against the rate limits and daily limits of the base too.

use super::SpaceModules;
use crate::Project;
use crate::definitions::{DefinitionBody, DefinitionFile};
use crate::error::ProjectError;
use crate::mcp::ConfiguredServer;
use crate::space_limits::raised;
use agent_spaces_config::{ConfigError, Entry, limits_from_value, policy_from_value};
use agent_spaces_policy::{Loosens, Policy, Settings};
use agent_spaces_types::limits::Limits;
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::standard::SPECIFIER;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Most entries of a list of capabilities: more than projects have.
const MAX_ENTRIES: usize = 256;

/// Most function rules of a policy. Each is compared with every function when the space is made.
const MAX_RULES: usize = 256;

/// Space that is made of a part of a configured one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Narrowing {
    /// Identity of the space, such as `spc_…`. No two spaces of a project share one.
    pub id: String,
    /// Capabilities, as entries of the configuration; all of the base's if `None`.
    pub capabilities: Option<Vec<String>>,
    /// Policy, in the format of `policy` of a space in the configuration.
    pub policy: Option<Value>,
    /// Limits, in the format of `limits` of a space in the configuration.
    pub limits: Option<Value>,
    /// Existing folder that scripts use in place of the base's workspace. Unused if the base's policy allows neither
    /// reading nor writing files.
    pub workspace: Option<PathBuf>,
}

/// Error of narrowing a space.
#[derive(Debug, thiserror::Error)]
pub enum NarrowingError {
    /// The base is not given this. Says nothing about whether the project has it elsewhere.
    #[error("the base space is not given `{entry}`{}", did_you_mean(.nearest.as_deref()))]
    Denied {
        /// The entry.
        entry: String,
        /// Nearest entry that the base is given.
        nearest: Option<String>,
    },
    /// A setting would allow more than the base does.
    #[error("{pointer}: {message}")]
    Loosens {
        /// JSON pointer, such as `/policy/http/domains/0` or `/limits/time`.
        pointer: String,
        /// The fault.
        message: String,
    },
    /// A setting is invalid.
    #[error("{pointer}: {message}")]
    Invalid {
        /// JSON pointer, such as `/policy/functions`.
        pointer: String,
        /// The fault and the fix.
        message: String,
    },
    /// The base cannot be used.
    #[error(transparent)]
    Base(#[from] ProjectError),
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

/// Converts a parser error of the member at `pointer`.
fn invalid(pointer: &str, error: ConfigError) -> NarrowingError {
    let fix = error.fix.as_ref().map(|fix| format!("; {fix}")).unwrap_or_default();
    NarrowingError::Invalid {
        pointer: format!("{pointer}{}", error.pointer()),
        message: format!("{}{fix}", error.message),
    }
}

impl Project {
    /// Limits of runs in a space that others are made of.
    pub fn base_limits(&self, base: Option<&str>) -> Result<Limits, ProjectError> {
        match base {
            Some(name) if !self.config().spaces.contains_key(name) => Err(self.unknown_space(name)),
            base => Ok(self.limits(base)),
        }
    }

    /// Modules of a space that is made of a part of a configured one, or of the global capabilities.
    pub fn narrowed(&self, base: Option<&str>, narrowing: &Narrowing) -> Result<SpaceModules<'_>, NarrowingError> {
        let mut modules = self.space(base)?;
        if let Some(entries) = &narrowing.capabilities {
            modules.keep_only(self, base, entries, &narrowing.id)?;
        }
        let part = part_of_policy(narrowing)?;
        let policy = modules.policy.tightened_by(&part, &narrowing.id);
        let policy = policy.map_err(|Loosens { pointer, message }| NarrowingError::Loosens {
            pointer: format!("/policy{pointer}"),
            message,
        })?;
        let whole = Policy::new(modules.policy.clone());
        if whole.files().read || whole.files().write {
            modules.workspace = narrowing.workspace.clone().or(modules.workspace);
        }
        let identity = format!("{}\0{}", modules.identity, narrowing.id);
        let whole =
            (std::mem::replace(&mut modules.identity, identity), std::mem::replace(&mut modules.policy, policy));
        Ok(SpaceModules {
            limits: Some(narrowed_limits(self.limits(base), &part, narrowing)?),
            name: Some(narrowing.id.clone()),
            whole: Some(whole),
            // Rules of the base may concern modules that the part does not have.
            is_part: true,
            ..modules
        })
    }
}

fn part_of_policy(narrowing: &Narrowing) -> Result<Settings, NarrowingError> {
    let Some(value) = &narrowing.policy else { return Ok(Settings::default()) };
    let part = policy_from_value(&narrowing.id, value).map_err(|error| invalid("/policy", error))?;
    if part.functions.len() > MAX_RULES {
        let (pointer, message) = ("/policy/functions".to_owned(), format!("more than {MAX_RULES} rules"));
        return Err(NarrowingError::Invalid { pointer, message });
    }
    Ok(part)
}

/// Limits of a narrowed space: its own, else those of its preset if they are lower than the base's, else the base's.
fn narrowed_limits(base: Limits, part: &Settings, narrowing: &Narrowing) -> Result<Limits, NarrowingError> {
    let mut limits = base.clone();
    if let Some(preset) = part.preset.map(|preset| preset.limits()) {
        limits.time = limits.time.min(preset.time);
        limits.memory = limits.memory.min(preset.memory);
        limits.calls = limits.calls.min(preset.calls);
    }
    if let Some(value) = &narrowing.limits {
        let own = limits_from_value(&narrowing.id, value).map_err(|error| invalid("/limits", error))?;
        limits = own.apply(limits);
    }
    match raised(&limits, &base).first() {
        Some(key) => Err(NarrowingError::Loosens {
            pointer: format!("/limits/{key}"),
            message: "more than the base space allows".to_owned(),
        }),
        None => Ok(limits),
    }
}

impl<'a> SpaceModules<'a> {
    /// Limits of its runs.
    pub fn limits(&self) -> Limits {
        match (&self.limits, self.project) {
            (Some(limits), _) => limits.clone(),
            (None, Some(project)) => project.limits(self.name.as_deref()),
            (None, None) => Limits::default(),
        }
    }

    /// Key of the space for call counts and histories. A narrowed space that is not used again is forgotten by it.
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// Its capabilities, sorted, each as an entry that a narrowed space may list: module specifiers, `mcp:` and the
    /// names of servers, and paths of hand-written interfaces.
    pub fn entry_names(&self) -> Vec<String> {
        let names = self.given.iter().filter_map(|definition| definition.entry_name());
        let servers = self.servers_without_module().map(|server| format!("mcp:{}", server.name));
        let all: BTreeSet<String> = [SPECIFIER.to_owned()].into_iter().chain(names).chain(servers).collect();
        all.into_iter().collect()
    }

    fn servers_without_module(&self) -> impl Iterator<Item = &'a Arc<ConfiguredServer>> {
        self.undiscovered.iter().chain(&self.switched_off).chain(&self.empty).copied()
    }

    /// Takes away what no entry names. Refuses an entry that names nothing that the space is given.
    fn keep_only(
        &mut self,
        project: &Project,
        base: Option<&str>,
        entries: &[String],
        id: &str,
    ) -> Result<(), NarrowingError> {
        if entries.len() > MAX_ENTRIES {
            let message = format!("more than {MAX_ENTRIES} capabilities");
            return Err(NarrowingError::Invalid { pointer: "/capabilities".to_owned(), message });
        }
        for entry in entries {
            let is_given = entry == SPECIFIER
                || self.given.iter().any(|definition| is_granted(project, entry, definition))
                || self.servers_without_module().any(|server| is_server(entry, server))
                || project.lists(base, entry);
            if !is_given {
                let known = self.entry_names();
                let nearest = nearest(entry, known.iter().map(String::as_str)).map(str::to_owned);
                return Err(NarrowingError::Denied { entry: entry.clone(), nearest });
            }
        }
        let grant = format!("list it in the capabilities of the space {id}");
        let is_kept = |definition: &&DefinitionFile| entries.iter().any(|entry| is_granted(project, entry, definition));
        let (given, dropped): (Vec<_>, Vec<_>) = std::mem::take(&mut self.given).into_iter().partition(is_kept);
        self.given = given;
        self.withheld.extend(dropped.into_iter().map(|definition| (definition, grant.clone())));
        for servers in [&mut self.undiscovered, &mut self.switched_off, &mut self.empty] {
            let is_kept = |server: &&Arc<ConfiguredServer>| entries.iter().any(|entry| is_server(entry, server));
            let (kept, dropped): (Vec<_>, Vec<_>) = std::mem::take(servers).into_iter().partition(is_kept);
            *servers = kept;
            self.ungiven.extend(dropped.into_iter().map(|server| (server, Some(grant.clone()))));
        }
        Ok(())
    }
}

impl DefinitionFile {
    /// Entry that a narrowed space may list to be given it: `mcp:` and the name of its server, its module specifier, or
    /// the path of a hand-written interface; `None` if it has none.
    pub fn entry_name(&self) -> Option<String> {
        match (&self.server, &self.body) {
            (Some(server), _) => Some(format!("mcp:{}", server.configured.name)),
            (None, DefinitionBody::Module(module)) => Some(module.outline.specifier.clone()),
            (None, DefinitionBody::Wit(_)) => self.entries.first().cloned(),
        }
    }
}

impl Project {
    /// Returns true if the lists of a space have this very entry, which may grant nothing yet: an empty folder, or all
    /// servers of a project without one.
    fn lists(&self, space: Option<&str>, text: &str) -> bool {
        let own = space.and_then(|space| self.config().spaces.get(space)).map(|space| space.capabilities.as_slice());
        let is_it = |entry: &Entry| entry.to_string() == text;
        self.config().global.iter().chain(own.unwrap_or_default()).any(is_it)
    }
}

/// Returns true if an entry names a definition.
fn is_granted(project: &Project, entry: &str, definition: &DefinitionFile) -> bool {
    match (entry, &definition.server) {
        ("mcp:*", server) => server.is_some(),
        (entry, _) if definition.is_named(entry) => true,
        // A file or folder within a listed one. No others: an answer must not depend on where the project is.
        (entry, None) if entry.starts_with("./") && !entry.split('/').any(|part| part == "..") => {
            definition.path.starts_with(project.path(entry))
        }
        _ => false,
    }
}

/// Returns true if an entry names a server that has no module.
fn is_server(entry: &str, server: &ConfiguredServer) -> bool {
    entry == "mcp:*" || entry.strip_prefix("mcp:") == Some(server.name.as_str())
}

#[cfg(test)]
#[path = "narrowing_tests.rs"]
mod tests;
