//! Import set: the interfaces that a script's sandbox is linked for, and of large ones the functions that are bound.
//!
//! Compiling a binding takes time for each function, and a script names a few. So of a large interface only the
//! functions that the script names are bound, provided that its analysis accounts for every use of the interface and
//! nothing can reach the others.

use crate::interfaces::{Interfaces, LargeInterface};
use crate::resolve::Resolved;
use agent_spaces_types::call_site::ProgramCall;
use std::collections::{BTreeMap, BTreeSet};

/// A source with one of these may call functions by computed names.
const UNNAMED_CALLS: [&str; 3] = ["eval", "callCapability", "__agentSpaces"];

/// Interfaces of a sandbox.
#[derive(Clone)]
pub struct ImportSet {
    interfaces: BTreeSet<String>,
    /// Names by which scripts call the bound functions, by interface. Interfaces that are bound whole are absent.
    named: BTreeMap<String, BTreeSet<String>>,
}

impl ImportSet {
    /// Import set with all functions of these interfaces.
    pub fn whole(interfaces: BTreeSet<String>) -> ImportSet {
        ImportSet { interfaces, named: BTreeMap::new() }
    }

    /// Import set of a script.
    pub fn of(resolved: &Resolved, known: &Interfaces) -> ImportSet {
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

    /// Full names of the interfaces.
    pub fn interfaces(&self) -> &BTreeSet<String> {
        &self.interfaces
    }

    /// Interfaces of which only some functions are bound, with the names by which scripts call these.
    pub fn named(&self) -> impl Iterator<Item = (&str, &BTreeSet<String>)> {
        self.named.iter().map(|(interface, functions)| (interface.as_str(), functions))
    }

    /// Cache key: equal for equal sets only.
    pub fn key(&self) -> BTreeSet<String> {
        let named = self.named().flat_map(|(interface, functions)| {
            std::iter::once(format!("{interface}#")).chain(functions.iter().map(move |it| format!("{interface}#{it}")))
        });
        self.interfaces.iter().cloned().chain(named).collect()
    }
}

fn calls_unnamed(source: &str) -> bool {
    UNNAMED_CALLS.iter().any(|name| source.contains(name))
}

/// Returns the functions of an interface that a script names; `None` if it uses the interface in another way.
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
