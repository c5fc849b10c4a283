//! Trait of what adds interfaces to a space.

use agent_spaces_calls::handlers::Handlers;
use agent_spaces_linker::interfaces::Interfaces;
use agent_spaces_sandbox::error::HostError;

/// WIT interfaces with their handlers, for [`SpaceBuilder::capability`](crate::builder::SpaceBuilder::capability).
///
/// Implemented by `Capability` and `StandardLibrary` of `agent-spaces-providers`.
pub trait Extension: Send + 'static {
    /// Adds the interfaces and their handlers to those of a space. On an error nothing is added.
    fn add_to(self, interfaces: &mut Interfaces, handlers: &mut Handlers) -> Result<(), HostError>;
}
