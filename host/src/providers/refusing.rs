//! What answers a function that cannot be answered, and says why.

use super::{Answering, Provider, ProviderKind};
use crate::handlers::{Call, CapabilityError};
use std::sync::Arc;

pub(crate) struct Refusing {
    /// What would answer it otherwise.
    pub(crate) kind: ProviderKind,
    /// The code and the words of the error.
    pub(crate) code: &'static str,
    pub(crate) why: String,
}

impl Provider for Refusing {
    fn kind(&self) -> ProviderKind {
        self.kind
    }

    fn description(&self) -> String {
        format!("nothing: {}", self.why)
    }

    fn call(self: Arc<Self>, _: Call) -> Answering {
        Box::pin(std::future::ready(Err(CapabilityError::new(self.code, self.why.clone()))))
    }
}
