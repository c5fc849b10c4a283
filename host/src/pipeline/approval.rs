//! Whether a person has approved the call.
//!
//! A function that asks for approval is refused unless its operator approved it beforehand: what nobody decided is
//! not done.

use crate::handlers::CapabilityError;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

/// The functions that an operator approved beforehand, as `crm.createTicket`; clones are one.
#[derive(Clone, Debug, Default)]
pub struct Approvals(Arc<RwLock<BTreeSet<String>>>);

impl Approvals {
    /// Approves every call of a function, named as scripts call it.
    pub fn approve(&self, function: impl Into<String>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(function.into());
    }

    fn has(&self, function: &str) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(function)
    }
}

pub(super) fn check(approvals: &Approvals, is_needed: bool, label: &str) -> Result<(), CapabilityError> {
    match is_needed && !approvals.has(label) {
        true => {
            let message = format!("{label} needs a person's approval, and nobody has given it");
            Err(CapabilityError::new("call.approval_denied", message))
        }
        false => Ok(()),
    }
}
