//! Provider of a function whose real provider could not be built.

use agent_spaces_calls::call::Call;
use agent_spaces_calls::provider::{Answering, Provider};
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use agent_spaces_types::provider_kind::ProviderKind;
use std::sync::Arc;

/// Provider that fails every call with a fixed error.
pub struct Unavailable {
    /// Kind of the provider that it replaces.
    pub kind: ProviderKind,
    /// Error code.
    pub code: Code,
    /// Error message.
    pub why: String,
}

impl Provider for Unavailable {
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
