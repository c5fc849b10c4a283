//! Scope of unique names.

use super::{camel_of, kebab, marked};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Scope of unique names, such as a record's fields, an enum's cases, or an interface's functions and types. Neither
/// the kebab name nor its camelCase occurs twice.
///
/// The first name added keeps the plain form; later ones that collide with it get `-x` and eight digits of their
/// SHA-256. [`add_all`](Self::add_all) adds in a canonical order (names already written in a form of the scheme first,
/// then by bytes), so that the result depends on the set of names and not on their order in the source.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// By camelCase name: its source name, and the number of names that wanted it.
    taken: BTreeMap<String, (String, usize)>,
    collisions: Vec<Collision>,
}

/// Collision of two source names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// Source name that keeps the plain name.
    pub holder: String,
    /// Source name that was renamed.
    pub other: String,
    /// Kebab name of the renamed one.
    pub name: String,
}

impl Scope {
    /// Creates an empty scope.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reserves a kebab name.
    pub fn take(&mut self, reserved: &str) {
        self.taken.entry(camel_of(reserved)).or_insert_with(|| (reserved.to_owned(), 0));
    }

    /// Adds a source name, and returns its kebab name; a different one each time.
    pub fn add(&mut self, source: &str) -> String {
        let plain = kebab(source);
        let Some((holder, wanted)) = self.taken.get_mut(&camel_of(&plain)) else {
            self.taken.insert(camel_of(&plain), (source.to_owned(), 0));
            return plain;
        };
        let holder = holder.clone();
        *wanted += 1;
        // If even the marked name is taken, attempts continue from the number of names that wanted the plain one, so
        // that adding the same name many times does not retry all earlier ones.
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

    /// Adds a set of source names, and returns their kebab names in the given order, on which the result does not
    /// depend.
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

    /// Collisions so far.
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }
}
