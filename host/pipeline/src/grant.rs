//! Grant check: the space holds the function's interface.
//!
//! A script is never linked with an interface that its space lacks, so this refuses a call only if the grant was revoked
//! while the script runs.

use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

/// Interfaces granted to the scripts of a space. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Grants(Arc<RwLock<BTreeSet<String>>>);

impl Grants {
    /// Grants these interfaces, by their full names.
    pub fn new<'a>(interfaces: impl Iterator<Item = &'a str>) -> Grants {
        Grants(Arc::new(RwLock::new(interfaces.map(str::to_owned).collect())))
    }

    /// Revokes an interface, by its full name: from now on its calls are refused, also in scripts that are running.
    /// Returns true if it had been granted.
    pub fn revoke(&self, interface: &str) -> bool {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(interface)
    }

    pub(super) fn has(&self, interface: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(interface)
    }
}

/// Refuses a call whose interface is not granted.
pub(super) fn check(grants: &Grants, interface: &str, label: &str) -> Result<(), CapabilityError> {
    match grants.has(interface) {
        true => Ok(()),
        false => Err(CapabilityError::new(Code::CallDenied, format!("the grant of {label} was revoked"))),
    }
}
