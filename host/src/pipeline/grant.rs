//! Whether the space was given the interface.
//!
//! A script cannot be linked with what its space was not given, so here a call is refused only when the grant was
//! taken back while the script runs.

use crate::handlers::CapabilityError;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

/// The interfaces that a space gives its scripts; cheap to clone, and all clones are one.
#[derive(Clone, Debug, Default)]
pub struct Grants(Arc<RwLock<BTreeSet<String>>>);

impl Grants {
    pub(crate) fn new<'a>(interfaces: impl Iterator<Item = &'a str>) -> Grants {
        Grants(Arc::new(RwLock::new(interfaces.map(str::to_owned).collect())))
    }

    /// Takes an interface back, by its full name: from now on its calls are refused, those of scripts that are
    /// running included. Says whether it had been given.
    pub fn revoke(&self, interface: &str) -> bool {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(interface)
    }

    pub(super) fn has(&self, interface: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(interface)
    }
}

pub(super) fn check(grants: &Grants, interface: &str, label: &str) -> Result<(), CapabilityError> {
    match grants.has(interface) {
        true => Ok(()),
        false => Err(CapabilityError::new("call.denied", format!("{label} is not granted any more"))),
    }
}
