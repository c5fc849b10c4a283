//! Import set: the interfaces that a script's sandbox is linked for, and the functions that are bound of large ones.
//!
//! Compiling a binding takes time for each function, and a script names a few. So of a large interface only those
//! functions are bound that the script names, as long as nothing in it could reach the others: its analysis must account for
//! every use of the interface.

use crate::interfaces::{Interfaces, LargeInterface};
use crate::program::ProgramCall;
use crate::resolve::Resolved;
use std::collections::{BTreeMap, BTreeSet};

/// A source with one of these may call functions that it does not name.
const UNNAMED_CALLS: [&str; 3] = ["eval", "callCapability", "__agentSpaces"];

/// The interfaces of a sandbox.
pub(crate) struct ImportSet {
    interfaces: BTreeSet<String>,
    /// What scripts call the functions that are bound, by interface; interfaces that are bound whole are not in it.
    named: BTreeMap<String, BTreeSet<String>>,
}

impl ImportSet {
    /// All functions of these interfaces.
    pub(crate) fn whole(interfaces: BTreeSet<String>) -> ImportSet {
        ImportSet { interfaces, named: BTreeMap::new() }
    }

    /// What a script imports.
    pub(crate) fn of(resolved: &Resolved, known: &Interfaces) -> ImportSet {
        let interfaces = resolved.interfaces.clone();
        if resolved.has_more_calls || resolved.sources.0.values().any(|source| calls_unnamed(&source.text)) {
            return ImportSet::whole(interfaces);
        }
        let named = interfaces.iter().filter_map(|name| {
            let interface = known.large(name)?;
            Some((name.clone(), named(&resolved.calls, &interface)?))
        });
        ImportSet { named: named.collect(), interfaces }
    }

    /// Their full names.
    pub(crate) fn interfaces(&self) -> &BTreeSet<String> {
        &self.interfaces
    }

    /// The interfaces of which only some functions are bound, with what scripts call these.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.named.iter().map(|(interface, functions)| (interface.as_str(), functions))
    }

    /// Tells it from every other set.
    pub(crate) fn key(&self) -> BTreeSet<String> {
        let named = self.named().flat_map(|(interface, functions)| {
            std::iter::once(format!("{interface}#")).chain(functions.iter().map(move |it| format!("{interface}#{it}")))
        });
        self.interfaces.iter().cloned().chain(named).collect()
    }
}

fn calls_unnamed(source: &str) -> bool {
    UNNAMED_CALLS.iter().any(|name| source.contains(name))
}

/// The functions of an interface that a script names; nothing where it uses the interface in another way.
fn named(calls: &[ProgramCall], interface: &LargeInterface<'_>) -> Option<BTreeSet<String>> {
    let mut functions = BTreeSet::new();
    let mut is_used = false;
    for call in calls.iter().filter(|call| call.module == interface.module) {
        is_used = true;
        let mut names = call.path.split('.');
        match names.next() {
            // The module as a whole.
            None | Some("") => return None,
            Some(export) if export == interface.export => functions.insert(names.next()?.to_owned()),
            Some(_) => continue,
        };
    }
    is_used.then_some(functions)
}
