//! Names that must differ from each other.

use super::{camel_of, kebab, marked};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A record's fields, an enum's cases, an interface's functions and types: gives every source name a
/// kebab name that no other has, nor its camelCase.
///
/// The plain name goes to the one that is added first; the others that come out alike get `-x` and
/// eight digits of their SHA-256. [`add_all`](Self::add_all) adds in an order of its own (names that
/// are already written in one of the scheme's ways first, then by their bytes), so that what each
/// gets depends on the set of names and not on the order in which a source happens to list them.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// By camelCase name: who has it, and how many have wanted it.
    taken: BTreeMap<String, (String, usize)>,
    collisions: Vec<Collision>,
}

/// Two source names that came out alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The one that has the plain name.
    pub holder: String,
    /// The one that does not.
    pub other: String,
    /// The kebab name that the other got.
    pub name: String,
}

impl Scope {
    /// A scope without names.
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps a kebab name from being given.
    pub fn take(&mut self, reserved: &str) {
        self.taken.entry(camel_of(reserved)).or_insert_with(|| (reserved.to_owned(), 0));
    }

    /// The kebab name of a source's name in this scope; another one each time.
    pub fn add(&mut self, source: &str) -> String {
        let plain = kebab(source);
        let Some((holder, wanted)) = self.taken.get_mut(&camel_of(&plain)) else {
            self.taken.insert(camel_of(&plain), (source.to_owned(), 0));
            return plain;
        };
        let holder = holder.clone();
        *wanted += 1;
        // Where even the marked name is taken, tries go on from the number of those that wanted the
        // plain one: the same name added many times does not try all the earlier ones again.
        let mut attempt = 0;
        let mut next = *wanted;
        loop {
            let name = marked(&plain, source, attempt);
            if let Entry::Vacant(free) = self.taken.entry(camel_of(&name)) {
                free.insert((source.to_owned(), 0));
                self.collisions.push(Collision { holder, other: source.to_owned(), name: name.clone() });
                return name;
            }
            attempt = next;
            next += 1;
        }
    }

    /// The kebab names of a set of source names, in the order given; which of them gets the plain name
    /// does not depend on that order.
    pub fn add_all<'a>(&mut self, sources: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let mut order: Vec<(bool, &str, usize)> = sources
            .into_iter()
            .enumerate()
            .map(|(index, source)| {
                let kebab = kebab(source);
                let is_canonical = source == kebab || source == camel_of(&kebab) || source == kebab.replace('-', "_");
                (!is_canonical, source, index)
            })
            .collect();
        order.sort_unstable();
        let mut names = vec![String::new(); order.len()];
        for (_, source, index) in order {
            names[index] = self.add(source);
        }
        names
    }

    /// The source names that came out alike.
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }
}
