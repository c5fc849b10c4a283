//! Modules that only callers with certain scopes may import.
//!
//! If a caller may call nothing of a module, importing it fails as if it did not exist.

use agent_spaces_types::script_error::ScriptError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The callers who may call something of a module, or of one of its exports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Offer {
    /// All callers.
    #[default]
    Everybody,
    /// Callers with all scopes of one of these sets; none if there is no set.
    Holders(Vec<BTreeSet<String>>),
}

impl Offer {
    /// Computes the offer of functions that require these scopes.
    pub fn of(functions: impl Iterator<Item = BTreeSet<String>>) -> Offer {
        let mut holders = Vec::new();
        for scopes in functions {
            if scopes.is_empty() {
                return Offer::Everybody;
            }
            if !holders.contains(&scopes) {
                holders.push(scopes);
            }
        }
        Offer::Holders(holders)
    }

    /// True for a caller with these scopes.
    pub fn is_for(&self, scopes: &BTreeSet<String>) -> bool {
        match self {
            Offer::Everybody => true,
            Offer::Holders(sets) => sets.iter().any(|set| set.is_subset(scopes)),
        }
    }

    pub(super) fn is_for_nobody(&self) -> bool {
        matches!(self, Offer::Holders(sets) if sets.is_empty())
    }
}

/// Facts about a script's imports, for refusals and hints.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ImportFacts {
    /// Imported modules that are not for all callers, the first import of each.
    pub gated: Vec<GatedImport>,
    /// Names that the script uses and nothing defines, and modules that export them.
    pub forgotten: Vec<MissingImport>,
    /// Modules whose import was left out because nothing uses it, with their exports.
    pub elided: Vec<(String, Vec<String>)>,
}

/// An import of a module that is not for all callers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GatedImport {
    /// The module's specifier.
    pub module: String,
    /// Callers who may import it.
    pub offer: Offer,
    /// The error for all others.
    pub error: ScriptError,
}

/// A name that is used and not imported, though a module exports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingImport {
    /// The name.
    pub name: String,
    /// The module that exports it.
    pub module: String,
    /// Callers who may call it.
    pub offer: Offer,
}

impl ImportFacts {
    /// Returns the first import that a caller with these scopes may not have.
    pub fn refused(&self, scopes: &BTreeSet<String>) -> Option<&GatedImport> {
        self.gated.iter().find(|gated| !gated.offer.is_for(scopes))
    }

    /// Suggests the import that defines a name, if the caller may call it.
    pub fn import_of(&self, name: &str, scopes: &BTreeSet<String>) -> Option<String> {
        let mut found = self.forgotten.iter().filter(|it| it.name == name && it.offer.is_for(scopes));
        let MissingImport { module, .. } = found.next()?;
        Some(format!("it is not imported: add `import {{ {name} }} from '{module}'`"))
    }

    /// The hint for a call by name of a function whose import was left out: `inventory.listItems`.
    pub fn left_out(&self, function: &str) -> Option<String> {
        let export = function.split('.').next().unwrap_or(function);
        let (module, _) = self.elided.iter().find(|(_, exports)| exports.iter().any(|it| it == export))?;
        Some(format!(
            "nothing uses the import of '{module}', so it was left out: write `import '{module}'`, or call `{function}(…)`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::resolve::offers::*;

    fn scopes(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn callers_of_one_function_may_import_its_module() {
        let all = |sets: &[&[&str]]| Offer::of(sets.iter().map(|set| scopes(set)));
        assert_eq!(all(&[&["a"], &[]]), Offer::Everybody);
        assert!(all(&[]).is_for_nobody() && !all(&[]).is_for(&scopes(&["a"])));
        let some = all(&[&["a", "b"], &["c"]]);
        assert!(some.is_for(&scopes(&["c"])) && some.is_for(&scopes(&["a", "b", "d"])));
        assert!(!some.is_for(&scopes(&["a"])) && !some.is_for_nobody());
    }
}
