//! Function that the host calls itself.

use agent_spaces_pipeline::Pipeline;
use agent_spaces_sandbox::imports::ImportedFunction;
use std::sync::Arc;

/// Call target and pipeline of a function that the host calls itself.
#[derive(Clone)]
pub(crate) struct HostFunction {
    pub(crate) target: Arc<ImportedFunction>,
    pub(crate) pipeline: Arc<Pipeline>,
}
