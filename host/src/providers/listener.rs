//! Who hears what only an operator may know of a provider.

use crate::pipeline::{Operator, Told};
use agent_spaces_mcp::secrets::Redactor;
use std::sync::Arc;

/// An operator, if one listens, to whom no secret is told and nothing twice; clones are one.
#[derive(Clone)]
pub(crate) struct Listener {
    operator: Option<Arc<Operator>>,
    redactor: Redactor,
    told: Told,
}

impl Listener {
    pub(crate) fn new(operator: Option<Arc<Operator>>, redactor: &Redactor) -> Listener {
        Listener { operator, redactor: redactor.clone(), told: Told::default() }
    }

    pub(crate) fn tell(&self, text: &str) {
        self.told.tell(self.operator.as_deref(), &self.redactor, text);
    }

    /// What secrets are taken out with.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }
}
