//! All modules of a project under their names, each there once.

use crate::definition::{Place, SourceKind};
use crate::model::Module;
use std::collections::BTreeMap;

/// Modules by specifier, with unique capabilities.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    modules: BTreeMap<String, Module>,
    /// Where each module is defined, by its specifier.
    specifiers: BTreeMap<String, Place>,
    /// Where each capability is defined, by its name.
    capabilities: BTreeMap<String, Place>,
}

/// One capability, as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<'a> {
    /// The capability's name.
    pub name: &'a str,
    /// Its version.
    pub version: &'a str,
    /// What kind of source it came from.
    pub source: SourceKind,
    /// The module that has it.
    pub module: &'a Module,
}

/// Two definitions of one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} `{name}` is defined twice, at {first} and at {second}: rename one, or leave one out")]
pub struct Duplicate {
    kind: &'static str,
    name: String,
    first: Place,
    second: Place,
}

impl Registry {
    /// Nothing yet.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Adds a module whose name and capabilities nobody has yet.
    pub fn add(&mut self, module: Module) -> Result<(), Duplicate> {
        let capabilities = module.capabilities.iter().map(|capability| (capability.name.as_str(), &capability.place));
        self.reserve(&module.specifier, capabilities)?;
        self.modules.insert(module.specifier.clone(), module);
        Ok(())
    }

    /// Takes the names of a module that is not compiled here.
    pub fn reserve<'a>(
        &mut self,
        specifier: &str,
        capabilities: impl Iterator<Item = (&'a str, &'a Place)>,
    ) -> Result<(), Duplicate> {
        for (index, (name, place)) in capabilities.enumerate() {
            if index == 0 {
                take(&mut self.specifiers, "the module", specifier, place)?;
            }
            take(&mut self.capabilities, "the capability", name, place)?;
        }
        Ok(())
    }

    /// The module with this specifier.
    pub fn get(&self, specifier: &str) -> Option<&Module> {
        self.modules.get(specifier)
    }

    /// All modules, by specifier.
    pub fn modules(&self) -> impl Iterator<Item = &Module> {
        self.modules.values()
    }

    /// All capabilities.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.modules.values().flat_map(|module| {
            module.capabilities.iter().map(move |capability| Entry {
                name: &capability.name,
                version: &capability.version,
                source: capability.source,
                module,
            })
        })
    }
}

fn take(names: &mut BTreeMap<String, Place>, kind: &'static str, name: &str, place: &Place) -> Result<(), Duplicate> {
    match names.entry(name.to_owned()) {
        std::collections::btree_map::Entry::Vacant(vacant) => {
            vacant.insert(place.clone());
            Ok(())
        }
        std::collections::btree_map::Entry::Occupied(first) => {
            let (name, first, second) = (name.to_owned(), first.get().clone(), place.clone());
            Err(Duplicate { kind, name, first, second })
        }
    }
}
