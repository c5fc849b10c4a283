//! Functions that a caller does not see: those that the policy denies whatever is passed to them.
//!
//! A script's modules do not have them, and calls of them fail as calls of functions that never existed do. What a caller
//! sees depends on their scopes alone, so it is found out once for each set of them.

use super::target::Target;
use crate::run::Caller;
use agent_spaces_policy::FunctionId;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Sets of scopes that are remembered. Operators have few kinds of callers; a flood of different ones is found out anew.
const MAX_KNOWN: usize = 256;

/// Functions that a caller does not see: names in WIT, by interface.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Hidden(BTreeMap<String, BTreeSet<String>>);

impl Hidden {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The hidden functions of an interface.
    pub(crate) fn of(&self, interface: &str) -> impl Iterator<Item = &str> {
        self.0.get(interface).into_iter().flatten().map(String::as_str)
    }

    pub(crate) fn has(&self, interface: &str, function: &str) -> bool {
        self.0.get(interface).is_some_and(|functions| functions.contains(function))
    }
}

/// The functions of a sandbox that not everybody sees.
#[derive(Default)]
pub(super) struct Gates {
    gated: Vec<Arc<Target>>,
    /// The scopes that any of them asks for: others make no difference.
    scopes: BTreeSet<String>,
    known: Mutex<HashMap<BTreeSet<String>, Arc<Hidden>>>,
}

impl Gates {
    pub(super) fn new(targets: impl Iterator<Item = Arc<Target>>) -> Gates {
        let gated: Vec<_> = targets.filter(|target| target.pipeline.policy().is_gated()).collect();
        let scopes = gated.iter().flat_map(|target| target.pipeline.policy().scopes()).map(str::to_owned).collect();
        Gates { gated, scopes, known: Mutex::default() }
    }

    /// What a caller does not see.
    pub(super) fn hidden(&self, caller: &Caller) -> Arc<Hidden> {
        let scopes: BTreeSet<String> = caller.scopes.intersection(&self.scopes).cloned().collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hidden) = known.get(&scopes) {
            return hidden.clone();
        }
        let mut hidden = Hidden::default();
        for target in &self.gated {
            if !target.pipeline.policy().is_open(&scopes) {
                let id: &FunctionId = target.id();
                hidden.0.entry(id.interface().to_owned()).or_default().insert(id.function().to_owned());
            }
        }
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.entry(scopes).or_insert_with(|| Arc::new(hidden)).clone()
    }

    /// A function that not everybody sees, by its JavaScript name.
    pub(super) fn find(&self, interface: &str, name: &str) -> Option<&Arc<Target>> {
        self.gated.iter().find(|target| target.id().interface() == interface && target.js_name() == name)
    }
}
