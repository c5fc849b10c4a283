//! Calls of durable runs: recorded before they leave the host, and counted once however often the host dies.

use super::{Pipeline, policy};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::journal::Effect;
use agent_spaces_types::capability_error::CapabilityError;
use std::sync::Arc;

/// Returns the effect of a function's calls: the policy's word, or that of its definition.
pub(super) fn effect(pipeline: &Pipeline) -> Effect {
    let spec = pipeline.checks.as_ref().map(|checks| &checks.spec);
    if spec.is_some_and(|spec| spec.is_read_only) {
        Effect::ReadOnly
    } else if pipeline.policy.middleware().idempotent || spec.is_some_and(|spec| spec.is_idempotent) {
        Effect::Idempotent
    } else {
        Effect::Once
    }
}

/// Counts a call against its limits, unless that was done before the host died.
pub(super) async fn count(
    pipeline: &Arc<Pipeline>,
    call: &Call,
    context: &Arc<RunContext>,
) -> Result<(), CapabilityError> {
    let Some(journal) = &context.journal else { return policy::count(pipeline, context).await };
    // It was counted again when the script repeated it.
    if journal.is_counted(call.id) {
        return Ok(());
    }
    policy::count(pipeline, context).await?;
    journal.count(call.id);
    Ok(())
}

/// Records that a call leaves the host.
pub(super) async fn send(pipeline: &Pipeline, call_id: u64, context: &RunContext) -> Result<(), CapabilityError> {
    match &context.journal {
        Some(journal) => journal.send(call_id, effect(pipeline)).await,
        None => Ok(()),
    }
}
