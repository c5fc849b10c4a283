//! `Provider`: the trait of a capability's implementation.

use crate::call::Call;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::provider_kind::ProviderKind;
use std::pin::Pin;
use std::sync::Arc;

/// Future of a call's answer.
pub type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

/// Future of a provider's preparation.
pub type GettingReady = Pin<Box<dyn Future<Output = Result<(), CapabilityError>> + Send>>;

/// Future of an approval message.
pub type Asking = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// Implementation of a capability's functions.
///
/// Policy, approvals, events, accounting and errors are the same for all providers. A provider is called after every
/// step before it has passed; its future is dropped when the call is abandoned.
pub trait Provider: Send + Sync + 'static {
    /// Returns the kind of provider.
    fn kind(&self) -> ProviderKind;

    /// Describes the provider for an auditor: a file, a server, an address.
    fn description(&self) -> String;

    /// Answers one call.
    fn call(self: Arc<Self>, call: Call) -> Answering;

    /// Prepares for a call, for example by starting a server. The call's timeout starts after it.
    fn get_ready(self: Arc<Self>, call: &Call) -> GettingReady {
        let _ = call;
        Box::pin(std::future::ready(Ok(())))
    }

    /// Returns the approval message of a call. `None` uses the template of the definition.
    fn approval_message(self: Arc<Self>, call: Call) -> Asking {
        drop(call);
        Box::pin(std::future::ready(None))
    }
}
