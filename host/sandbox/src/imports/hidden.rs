//! Hidden functions: those that the policy denies to a caller whatever the arguments.
//!
//! A script's modules do not export them, and calls of them fail like calls of functions that do not exist. Visibility
//! depends on the caller's scopes only, so it is computed once for each set of scopes.

use super::function::ImportedFunction;
use agent_spaces_types::caller::Caller;
use agent_spaces_types::identity::FunctionId;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum cached sets of scopes. Operators have few kinds of callers; a flood of different ones is computed again.
const MAX_KNOWN: usize = 256;

/// Functions hidden from a caller: WIT names, by interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hidden(BTreeMap<String, BTreeSet<String>>);

impl Hidden {
    /// Returns true if no function is hidden.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the hidden functions of an interface.
    pub fn of(&self, interface: &str) -> impl Iterator<Item = &str> {
        self.0.get(interface).into_iter().flatten().map(String::as_str)
    }

    /// Returns true if a function is hidden.
    pub fn has(&self, interface: &str, function: &str) -> bool {
        self.0.get(interface).is_some_and(|functions| functions.contains(function))
    }
}

/// Functions of a sandbox that are visible to some callers only.
#[derive(Default)]
pub(super) struct GatedFunctions {
    gated: Vec<Arc<ImportedFunction>>,
    /// Scopes that affect the visibility of any of them.
    scopes: BTreeSet<String>,
    known: Mutex<HashMap<BTreeSet<String>, Arc<Hidden>>>,
}

impl GatedFunctions {
    pub(super) fn new(imports: impl Iterator<Item = Arc<ImportedFunction>>) -> GatedFunctions {
        let gated: Vec<_> = imports.filter(|import| import.path.is_gated()).collect();
        let scopes = gated.iter().flat_map(|import| import.path.scopes()).collect();
        GatedFunctions { gated, scopes, known: Mutex::default() }
    }

    /// Returns the functions hidden from a caller.
    pub(super) fn hidden(&self, caller: &Caller) -> Arc<Hidden> {
        let scopes: BTreeSet<String> = caller.scopes.intersection(&self.scopes).cloned().collect();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(hidden) = known.get(&scopes) {
            return hidden.clone();
        }
        let mut hidden = Hidden::default();
        for import in &self.gated {
            if !import.path.is_open(&scopes) {
                let id: &FunctionId = import.id();
                hidden.0.entry(id.interface().to_owned()).or_default().insert(id.function().to_owned());
            }
        }
        if known.len() >= MAX_KNOWN {
            known.clear();
        }
        known.entry(scopes).or_insert_with(|| Arc::new(hidden)).clone()
    }

    /// Finds a gated function by its JavaScript name.
    pub(super) fn find(&self, interface: &str, name: &str) -> Option<&Arc<ImportedFunction>> {
        self.gated.iter().find(|import| import.id().interface() == interface && import.js_name() == name)
    }
}
