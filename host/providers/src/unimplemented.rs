//! Provider of a capability without an implementation: scripts can be written and type-checked against it.

use agent_spaces_calls::call::Call;
use agent_spaces_calls::provider::{Answering, Provider};
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use agent_spaces_types::provider_kind::ProviderKind;
use std::sync::Arc;

/// Provider that fails every call with `call.unavailable`.
pub struct Unimplemented;

impl Provider for Unimplemented {
    fn kind(&self) -> ProviderKind {
        ProviderKind::Native
    }

    fn description(&self) -> String {
        "nothing".to_owned()
    }

    fn call(self: Arc<Self>, call: Call) -> Answering {
        let message = format!("{}.{} has no provider", call.capability, call.function);
        Box::pin(std::future::ready(Err(CapabilityError::new(Code::CallUnavailable, message))))
    }
}
