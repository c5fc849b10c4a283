//! Names of a project's modules and capabilities, checked for duplicates.
//!
//! A capability has two names: its own, and the export that scripts import. `myTools` and `my_tools` have the same
//! export, so they conflict.

use crate::definition::Place;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Names in use, with the place of each definition.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// Places of modules, by specifier.
    specifiers: BTreeMap<String, Place>,
    /// Names and places of capabilities, by export.
    exports: BTreeMap<String, (String, Place)>,
    /// Places of capabilities, by name.
    capabilities: BTreeMap<String, Place>,
}

/// The names of a capability, and where it is defined.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Name in its source: `my_tools`.
    pub name: &'a str,
    /// Name that scripts import: `myTools`.
    pub export: &'a str,
    /// Place of its definition.
    pub place: &'a Place,
}

/// Name conflict between two definitions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Duplicate {
    /// Same name.
    #[error("{kind} `{name}` is defined twice, at {first} and at {second}: rename one, or leave one out")]
    Name {
        /// `the module` or `the capability`.
        kind: &'static str,
        /// The name.
        name: String,
        /// Place of its definition.
        first: Place,
        /// Place of the second definition.
        second: Place,
    },
    /// Different names with the same export.
    #[error(
        "the capabilities `{first_name}`, at {first}, and `{second_name}`, at {second}, have the same export `{export}`: \
         rename one, or leave one out"
    )]
    Export {
        /// Export that both would have.
        export: String,
        /// Name of the first.
        first_name: String,
        /// Place of its definition.
        first: Place,
        /// Name of the second.
        second_name: String,
        /// Place of its definition.
        second: Place,
    },
}

impl Registry {
    /// Creates an empty registry.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Reserves the names of a module and its capabilities.
    pub fn reserve<'a>(
        &mut self,
        specifier: &str,
        capabilities: impl Iterator<Item = Named<'a>>,
    ) -> Result<(), Duplicate> {
        for (index, Named { name, export, place }) in capabilities.enumerate() {
            if index == 0 {
                take(&mut self.specifiers, "the module", specifier, place)?;
            }
            take(&mut self.capabilities, "the capability", name, place)?;
            self.take_export(name, export, place)?;
        }
        Ok(())
    }

    fn take_export(&mut self, name: &str, export: &str, place: &Place) -> Result<(), Duplicate> {
        match self.exports.entry(export.to_owned()) {
            Entry::Vacant(vacant) => {
                vacant.insert((name.to_owned(), place.clone()));
                Ok(())
            }
            Entry::Occupied(taken) => {
                let (first_name, first) = taken.get().clone();
                let (export, second_name) = (export.to_owned(), name.to_owned());
                Err(Duplicate::Export { export, first_name, first, second_name, second: place.clone() })
            }
        }
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
            Err(Duplicate::Name { kind, name, first, second })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Named, Registry};
    use crate::definition::Place;

    fn place(file: &str) -> Place {
        Place { file: file.to_owned(), path: "$".to_owned() }
    }

    #[test]
    fn conflicting_names_and_exports_are_refused_with_both_places() {
        let (one, two) = (place("one.json"), place("two.json"));
        let of = |name: &'static str, place| Named { name, export: "myTools", place };
        let mut registry = Registry::new();
        registry.reserve("@capabilities/one", std::iter::once(of("myTools", &one))).unwrap();
        let same = registry.clone().reserve("@capabilities/two", std::iter::once(of("myTools", &two))).unwrap_err();
        assert_eq!(
            same.to_string(),
            "the capability `myTools` is defined twice, at one.json: $ and at two.json: $: rename one, or leave one out"
        );
        let alike = registry.reserve("@capabilities/two", std::iter::once(of("my_tools", &two))).unwrap_err();
        assert_eq!(
            alike.to_string(),
            "the capabilities `myTools`, at one.json: $, and `my_tools`, at two.json: $, have the same export `myTools`: \
             rename one, or leave one out"
        );
    }

    #[test]
    fn similar_names_do_not_conflict() {
        let (one, two) = (place("one.json"), place("two.json"));
        let mut registry = Registry::new();
        let first = Named { name: "notes", export: "notes", place: &one };
        registry.reserve("@capabilities/one", std::iter::once(first)).unwrap();
        let second = Named { name: "noted", export: "noted", place: &two };
        registry.reserve("@capabilities/two", std::iter::once(second)).unwrap();
    }
}
