//! What a capability module exports, and imports of names that it does not.
//!
//! A module's export may be one function. Where the policy denies that to everybody, the module does not have it; where it
//! depends on the caller, the run that is made for one is refused (see [`NamedImport`]).

use super::Offer;
use crate::error_report::{Location, RunError};
use crate::modules::{Binding, ModuleSource, Modules};
use crate::pipeline::Rules;
use crate::sandbox::Hidden;
use crate::script::{IMPORT_UNKNOWN, ImportSite, ImportedName, Position, ScriptError};
use agent_spaces_policy::{FunctionId, FunctionPolicy};
use capability_gen::names::nearest;
use std::collections::BTreeSet;

/// An import of a function that is an export itself, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedImport {
    module: String,
    /// As the script imports it.
    pub(crate) name: String,
    pub(crate) interface: String,
    /// Its name in WIT.
    function: String,
    location: Location,
}

impl NamedImport {
    /// Whether the caller does not see it.
    pub(crate) fn is_hidden(&self, hidden: &Hidden) -> bool {
        hidden.has(&self.interface, &self.function)
    }

    /// What a script is told that imports a name which nothing has.
    pub(crate) fn error(&self, modules: &Modules, hidden: &Hidden) -> RunError {
        let exports = || -> Vec<&str> {
            let Some(ModuleSource::Bindings(bindings)) = modules.get(&self.module) else { return Vec::new() };
            let is_seen = |binding: &&Binding| {
                binding.is_export() && !single(binding).is_some_and(|id| hidden.has(id.interface(), id.function()))
            };
            bindings.iter().filter(is_seen).map(Binding::export).collect()
        };
        let (message, hint) = no_export(&self.module, &self.name, &exports());
        RunError { location: Some(self.location.clone()), ..RunError::new(IMPORT_UNKNOWN, message).hint(hint) }
    }
}

/// What a space's policy denies: exports to everybody, and modules as a whole.
#[derive(Clone, Copy, Default)]
pub(crate) struct Denials<'a> {
    rules: Option<&'a Rules>,
    offers: Option<&'a Offers<'a>>,
}

/// Whom a module is there for; in short, by the rules alone.
type Offers<'a> = dyn Fn(&str, Reading) -> Offer + 'a;

/// How closely the functions of a module are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// With the scopes that their definitions ask for.
    Whole,
    /// By the rules of the policy alone, which takes no time.
    Rules,
}

impl<'a> Denials<'a> {
    pub(crate) fn by(rules: &'a Rules, offers: &'a Offers<'a>) -> Denials<'a> {
        Denials { rules: Some(rules), offers: Some(offers) }
    }

    /// Whom a module is there for.
    pub(super) fn offer(&self, module: &str) -> Offer {
        self.offers.map(|offers| offers(module, Reading::Whole)).unwrap_or_default()
    }

    /// Whether a caller without scopes may be told of a module.
    pub(super) fn is_listed(&self, module: &str) -> bool {
        self.offers.is_none_or(|offers| offers(module, Reading::Rules).is_for(&BTreeSet::new()))
    }

    /// Tells the operator of an import of a module of which everything is denied.
    pub(super) fn tell_module(&self, bindings: &[Binding], site: &ImportSite<'_>) {
        let Some(rules) = self.rules else { return };
        let module = site.specifier;
        let text = format!("a script imports '{module}', of which the policy denies every function");
        rules.notices().tell(module, "policy", &text);
        site.names.iter().filter_map(written).for_each(|name| self.tell(bindings, name));
    }

    fn policy(&self, binding: &Binding) -> Option<(&'a Rules, FunctionId, FunctionPolicy)> {
        let (rules, id) = (self.rules?, single(binding)?);
        // A rule that denies does so whatever the definition says.
        let policy = rules.of(&id, binding.export(), None);
        Some((rules, id, policy))
    }

    fn is_denied(&self, binding: &Binding) -> bool {
        self.policy(binding).is_some_and(|(_, _, policy)| policy.check_decision().is_err())
    }

    /// What the site takes of a module, unless it names something that the module does not have.
    pub(super) fn taken(
        &self,
        bindings: &[Binding],
        file: &str,
        site: &ImportSite<'_>,
    ) -> Result<(Vec<Binding>, Vec<NamedImport>), ScriptError> {
        let mut named = Vec::new();
        for (imported, position) in site.names.iter().zip(&site.name_positions) {
            let Some(name) = written(imported) else { continue };
            if let Some(error) = self.missing(bindings, file, site.specifier, (imported, *position)) {
                self.tell(bindings, name);
                return Err(error);
            }
            let binding = bindings.iter().find(|binding| binding.is_export() && binding.name == name);
            named.extend(binding.and_then(single).map(|id| NamedImport {
                module: site.specifier.to_owned(),
                name: name.to_owned(),
                interface: id.interface().to_owned(),
                function: id.function().to_owned(),
                location: Location::new(file, *position),
            }));
        }
        let is_taken = |binding: &&Binding| takes(site, binding.export()) && !self.is_denied(binding);
        Ok((bindings.iter().filter(is_taken).cloned().collect(), named))
    }

    /// What is wrong with a name that is imported, if the module does not have it.
    pub(super) fn missing(
        &self,
        bindings: &[Binding],
        file: &str,
        specifier: &str,
        (imported, position): (&ImportedName, Position),
    ) -> Option<ScriptError> {
        let name = written(imported)?;
        let mut exports = bindings.iter().filter(|binding| binding.is_export());
        if exports.any(|binding| binding.name == name && !self.is_denied(binding)) {
            return None;
        }
        let (message, hint) = no_export(specifier, name, &self.open(bindings));
        Some(ScriptError::new(IMPORT_UNKNOWN, file, message).at(position).hint(hint))
    }

    /// The exports that a caller without scopes may know of.
    pub(super) fn open<'b>(&self, bindings: &'b [Binding]) -> Vec<&'b str> {
        let is_open =
            |binding: &&Binding| self.policy(binding).is_none_or(|(_, _, policy)| policy.is_open(&BTreeSet::new()));
        bindings.iter().filter(|binding| binding.is_export()).filter(is_open).map(Binding::export).collect()
    }

    /// Tells the operator of an import of something that exists and is denied.
    fn tell(&self, bindings: &[Binding], name: &str) {
        let Some(binding) = bindings.iter().find(|binding| binding.is_export() && binding.name == name) else { return };
        let Some((rules, id, policy)) = self.policy(binding) else { return };
        if let Err(refusal) = policy.check_decision() {
            rules.notices().tell(&id.to_string(), "policy", &refusal.operator);
        }
    }
}

/// The name of an import; none of a namespace.
fn written(imported: &ImportedName) -> Option<&str> {
    match imported {
        ImportedName::Namespace => None,
        ImportedName::Default => Some("default"),
        ImportedName::Named(name) => Some(name),
    }
}

/// The function that an export is, where it is one.
fn single(binding: &Binding) -> Option<FunctionId> {
    let (interface, function) = binding.interface.split_once('#')?;
    Some(FunctionId::new(interface, function))
}

fn no_export(module: &str, name: &str, exports: &[&str]) -> (String, String) {
    let near = nearest(name, exports.iter().copied()).map(|near| format!("did you mean '{near}'? "));
    let all = if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") };
    (format!("'{module}' has no export '{name}'"), format!("{}it exports {all}", near.unwrap_or_default()))
}

/// Whether the import can see an export of this name; `import 'module'` is for whoever calls by name.
fn takes(site: &ImportSite<'_>, export: &str) -> bool {
    site.names.is_empty()
        || site.names.iter().any(|name| match name {
            ImportedName::Namespace => true,
            ImportedName::Named(name) => name == export,
            ImportedName::Default => false,
        })
}
