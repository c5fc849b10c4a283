//! The names of a project's modules and capabilities, each taken once.

use crate::definition::Place;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Names that are taken, and where.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// Where each module is defined, by its specifier.
    specifiers: BTreeMap<String, Place>,
    /// Where each capability is defined, by its name.
    capabilities: BTreeMap<String, Place>,
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

    /// Takes the names of a module and its capabilities.
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
}

fn take(names: &mut BTreeMap<String, Place>, kind: &'static str, name: &str, place: &Place) -> Result<(), Duplicate> {
    match names.entry(name.to_owned()) {
        Entry::Vacant(vacant) => {
            vacant.insert(place.clone());
            Ok(())
        }
        Entry::Occupied(first) => {
            let (name, first, second) = (name.to_owned(), first.get().clone(), place.clone());
            Err(Duplicate { kind, name, first, second })
        }
    }
}
