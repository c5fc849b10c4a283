//! Whom a module is there for.
//!
//! A module of which a caller may call nothing is not there for them: importing it fails as importing a name fails that
//! nothing has.

use crate::script::ScriptError;
use std::collections::BTreeSet;

/// The callers who may call something of a module, or of one of its exports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Offer {
    #[default]
    Everybody,
    /// Those who have all scopes of one of these sets; nobody where there is none.
    Holders(Vec<BTreeSet<String>>),
}

impl Offer {
    /// Whom functions are there for that ask for these scopes.
    pub(crate) fn of(functions: impl Iterator<Item = BTreeSet<String>>) -> Offer {
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

    pub(crate) fn is_for(&self, scopes: &BTreeSet<String>) -> bool {
        match self {
            Offer::Everybody => true,
            Offer::Holders(sets) => sets.iter().any(|set| set.is_subset(scopes)),
        }
    }

    pub(super) fn is_for_nobody(&self) -> bool {
        matches!(self, Offer::Holders(sets) if sets.is_empty())
    }
}

/// What is known of a script's imports besides what they give it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImportFacts {
    /// Modules that are not there for everybody.
    pub(crate) gated: Vec<Gated>,
    /// Names that the script uses and nothing defines, and modules that export them.
    pub(crate) forgotten: Vec<Forgotten>,
    /// Modules whose import was left out because nothing uses it, with their exports.
    pub(crate) elided: Vec<(String, Vec<String>)>,
}

/// An import of a module that is not there for everybody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gated {
    pub(crate) module: String,
    pub(crate) offer: Offer,
    /// What is said to whom it is not there for.
    pub(crate) error: ScriptError,
}

/// A name that was probably meant to be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Forgotten {
    pub(crate) name: String,
    pub(crate) module: String,
    pub(crate) offer: Offer,
}

impl ImportFacts {
    /// The first module that is not there for a caller.
    pub(crate) fn refused(&self, scopes: &BTreeSet<String>) -> Option<&Gated> {
        self.gated.iter().find(|gated| !gated.offer.is_for(scopes))
    }

    /// The import that would define a name, of what a caller may call.
    pub(crate) fn import_of(&self, name: &str, scopes: &BTreeSet<String>) -> Option<String> {
        let mut found = self.forgotten.iter().filter(|it| it.name == name && it.offer.is_for(scopes));
        let Forgotten { module, .. } = found.next()?;
        Some(format!("it is not imported: add `import {{ {name} }} from '{module}'`"))
    }

    /// What to do about a call by name of something whose import was left out: `inventory.listItems`.
    pub(crate) fn left_out(&self, function: &str) -> Option<String> {
        let export = function.split('.').next().unwrap_or(function);
        let (module, _) = self.elided.iter().find(|(_, exports)| exports.iter().any(|it| it == export))?;
        Some(format!(
            "nothing uses the import of '{module}', so it was left out: write `import '{module}'`, or call `{function}(…)`"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_module_is_there_for_whoever_may_call_one_of_its_functions() {
        let all = |sets: &[&[&str]]| Offer::of(sets.iter().map(|set| scopes(set)));
        assert_eq!(all(&[&["a"], &[]]), Offer::Everybody);
        assert!(all(&[]).is_for_nobody() && !all(&[]).is_for(&scopes(&["a"])));
        let some = all(&[&["a", "b"], &["c"]]);
        assert!(some.is_for(&scopes(&["c"])) && some.is_for(&scopes(&["a", "b", "d"])));
        assert!(!some.is_for(&scopes(&["a"])) && !some.is_for_nobody());
    }
}
