//! Exports of capability modules, and the ones that the policy denies.
//!
//! A module's export may be a single function. If the policy denies it to everybody, the module does not have it; if
//! that depends on the caller, the run is refused (see [`NamedImport`]).

use super::Offer;
use agent_spaces_calls::operator_notices::Notices;
use agent_spaces_policy::{FunctionId, FunctionPolicy};
use agent_spaces_sandbox::imports::Hidden;
use agent_spaces_sandbox::modules::{Binding, ModuleSource, Modules};
use agent_spaces_script::{ImportSite, ImportedName};
use agent_spaces_types::nearest::nearest;
use agent_spaces_types::position::Position;
use agent_spaces_types::run_error::{Location, RunError};
use agent_spaces_types::script_error::{IMPORT_UNKNOWN, ScriptError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// An import, by name, of a function that is an export itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedImport {
    module: String,
    /// As the script imports it.
    pub name: String,
    /// The full name of its interface.
    pub interface: String,
    /// Its name in WIT.
    function: String,
    location: Location,
}

impl NamedImport {
    /// True if it is hidden from the caller.
    pub fn is_hidden(&self, hidden: &Hidden) -> bool {
        hidden.has(&self.interface, &self.function)
    }

    /// The same error as for a name that does not exist.
    pub fn error(&self, modules: &Modules, hidden: &Hidden) -> RunError {
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

/// Exports and modules that a space's policy denies.
#[derive(Clone, Copy, Default)]
pub struct Denials<'a> {
    rules: Option<(&'a Policies<'a>, &'a Notices)>,
    offers: Option<&'a Offers<'a>>,
}

/// Looks up the policy of a function, by its identity and label.
type Policies<'a> = dyn Fn(&FunctionId, &str) -> FunctionPolicy + 'a;

/// Looks up which callers may import a module.
type Offers<'a> = dyn Fn(&str, Reading) -> Offer + 'a;

/// Depth of the lookup of a module's functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Includes the scopes that their definitions require.
    Whole,
    /// By the rules of the policy alone, which is cheap.
    Rules,
}

impl<'a> Denials<'a> {
    /// Denials by the policies of functions and the offers of modules. Refusals are reported to the operator.
    pub fn by(policies: &'a Policies<'a>, notices: &'a Notices, offers: &'a Offers<'a>) -> Denials<'a> {
        Denials { rules: Some((policies, notices)), offers: Some(offers) }
    }

    /// Returns which callers may import a module.
    pub(super) fn offer(&self, module: &str) -> Offer {
        self.offers.map(|offers| offers(module, Reading::Whole)).unwrap_or_default()
    }

    /// True if suggestions may name the module to a caller without scopes.
    pub(super) fn is_listed(&self, module: &str) -> bool {
        self.offers.is_none_or(|offers| offers(module, Reading::Rules).is_for(&BTreeSet::new()))
    }

    /// Reports to the operator an import of a module of which everything is denied.
    pub(super) fn notify_module(&self, bindings: &[Binding], site: &ImportSite<'_>) {
        let Some((_, notices)) = self.rules else { return };
        let module = site.specifier;
        let text = format!("a script imports '{module}', but the policy denies all of its functions");
        notices.tell(module, "policy", &text);
        site.names.iter().filter_map(written).for_each(|name| self.notify(bindings, name));
    }

    fn policy(&self, binding: &Binding) -> Option<(&'a Notices, FunctionId, FunctionPolicy)> {
        let ((policies, notices), id) = (self.rules?, single(binding)?);
        // A rule that denies does so whatever the definition says.
        let policy = policies(&id, binding.export());
        Some((notices, id, policy))
    }

    fn is_denied(&self, binding: &Binding) -> bool {
        self.policy(binding).is_some_and(|(_, _, policy)| policy.check_decision().is_err())
    }

    /// Returns the bindings and single functions that a site imports.
    ///
    /// # Errors
    /// A name that the module does not export.
    pub(super) fn imported(
        &self,
        bindings: &[Binding],
        file: &str,
        site: &ImportSite<'_>,
    ) -> Result<(Vec<Binding>, Vec<NamedImport>), ScriptError> {
        let mut named = Vec::new();
        for (imported, position) in site.names.iter().zip(&site.name_positions) {
            let Some(name) = written(imported) else { continue };
            if let Some(error) = self.missing(bindings, file, site.specifier, (imported, *position)) {
                self.notify(bindings, name);
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
        let is_imported = |binding: &&Binding| imports(site, binding.export()) && !self.is_denied(binding);
        Ok((bindings.iter().filter(is_imported).cloned().collect(), named))
    }

    /// The error for an imported name that the module does not export, if it does not.
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

    /// Returns the exports that a caller without scopes may call.
    pub(super) fn open<'b>(&self, bindings: &'b [Binding]) -> Vec<&'b str> {
        let is_open =
            |binding: &&Binding| self.policy(binding).is_none_or(|(_, _, policy)| policy.is_open(&BTreeSet::new()));
        bindings.iter().filter(|binding| binding.is_export()).filter(is_open).map(Binding::export).collect()
    }

    /// Reports to the operator an import of an export that exists and is denied.
    fn notify(&self, bindings: &[Binding], name: &str) {
        let Some(binding) = bindings.iter().find(|binding| binding.is_export() && binding.name == name) else { return };
        let Some((notices, id, policy)) = self.policy(binding) else { return };
        if let Err(refusal) = policy.check_decision() {
            notices.tell(&id.to_string(), "policy", &refusal.operator);
        }
    }
}

/// The name of an import; `None` for a namespace.
fn written(imported: &ImportedName) -> Option<&str> {
    match imported {
        ImportedName::Namespace => None,
        ImportedName::Default => Some("default"),
        ImportedName::Named(name) => Some(name),
    }
}

/// The function that an export consists of, if it is a single one.
fn single(binding: &Binding) -> Option<FunctionId> {
    let (interface, function) = binding.interface.split_once('#')?;
    Some(FunctionId::new(interface, function))
}

fn no_export(module: &str, name: &str, exports: &[&str]) -> (String, String) {
    let near = nearest(name, exports.iter().copied()).map(|near| format!("did you mean '{near}'? "));
    let all = if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") };
    (format!("'{module}' has no export '{name}'"), format!("{}it exports {all}", near.unwrap_or_default()))
}

/// True if the site imports an export of this name. `import 'module'` imports all, for calls by name.
fn imports(site: &ImportSite<'_>, export: &str) -> bool {
    site.names.is_empty()
        || site.names.iter().any(|name| match name {
            ImportedName::Namespace => true,
            ImportedName::Named(name) => name == export,
            ImportedName::Default => false,
        })
}
