//! The names of a project's modules and capabilities, each taken once.
//!
//! A capability has two names: its own, and the export that scripts import. `myTools` and `my_tools` are one export, so the
//! two cannot stand beside each other.

use crate::definition::Place;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Names that are taken, and where.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    /// Where each module is defined, by its specifier.
    specifiers: BTreeMap<String, Place>,
    /// Where each capability is defined, and under which name, by its export.
    exports: BTreeMap<String, (String, Place)>,
    /// Where each capability is defined, by its name.
    capabilities: BTreeMap<String, Place>,
}

/// The names of a capability, and where it is defined.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// As its source has it: `my_tools`.
    pub name: &'a str,
    /// As scripts import it: `myTools`.
    pub export: &'a str,
    /// Where it is defined.
    pub place: &'a Place,
}

/// Two definitions of one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Duplicate {
    /// They are called the same.
    #[error("{kind} `{name}` is defined twice, at {first} and at {second}: rename one, or leave one out")]
    Name {
        /// `the module` or `the capability`.
        kind: &'static str,
        /// The name.
        name: String,
        /// Where it is.
        first: Place,
        /// Where it is again.
        second: Place,
    },
    /// Scripts would call them the same.
    #[error(
        "the capabilities `{first_name}`, at {first}, and `{second_name}`, at {second}, would both be `{export}` to \
         scripts: rename one, or leave one out"
    )]
    Export {
        /// What scripts would import.
        export: String,
        /// The name of the one.
        first_name: String,
        /// Where it is.
        first: Place,
        /// The name of the other.
        second_name: String,
        /// Where it is.
        second: Place,
    },
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
    fn names_that_scripts_could_not_tell_apart_are_refused_with_both_places() {
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
            "the capabilities `myTools`, at one.json: $, and `my_tools`, at two.json: $, would both be `myTools` to \
             scripts: rename one, or leave one out"
        );
    }

    #[test]
    fn other_names_stand_beside_each_other() {
        let (one, two) = (place("one.json"), place("two.json"));
        let mut registry = Registry::new();
        let first = Named { name: "notes", export: "notes", place: &one };
        registry.reserve("@capabilities/one", std::iter::once(first)).unwrap();
        let second = Named { name: "noted", export: "noted", place: &two };
        registry.reserve("@capabilities/two", std::iter::once(second)).unwrap();
    }
}
