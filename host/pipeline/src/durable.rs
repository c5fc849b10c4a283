//! Calls of durable runs: recorded before they leave the host, and counted once however often the host dies.

use super::{Pipeline, policy};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::journal::Effect;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::standard::is_part;
use std::sync::Arc;

/// Returns the effect of a function's calls: the policy's word, or that of its definition.
pub(super) fn effect(pipeline: &Pipeline) -> Effect {
    let spec = pipeline.checks.as_ref().map(|checks| &checks.spec);
    if let Some(effect) = standard(pipeline.id.interface(), pipeline.id.function()) {
        effect
    } else if spec.is_some_and(|spec| spec.is_read_only) {
        Effect::ReadOnly
    } else if pipeline.policy.middleware().idempotent || spec.is_some_and(|spec| spec.is_idempotent) {
        Effect::Idempotent
    } else {
        Effect::Once
    }
}

/// Returns the effect of a function of the standard library that may be called again; `None` for all others.
fn standard(interface: &str, function: &str) -> Option<Effect> {
    let is_part = |part: &str| is_part(interface, part);
    let reads = ["read-file", "read-bytes", "list", "stat", "exists", "glob"];
    match function {
        _ if ["crypto", "csv", "json", "time"].into_iter().any(is_part) => Some(Effect::ReadOnly),
        function if is_part("fs") && reads.contains(&function) => Some(Effect::ReadOnly),
        "write-file" | "write-bytes" if is_part("fs") => Some(Effect::Idempotent),
        _ => None,
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

#[cfg(test)]
mod tests {
    use super::{Effect, standard};

    #[test]
    fn functions_of_the_standard_library_that_change_nothing_may_be_called_again() {
        let effect = |part: &str, function: &str| standard(&format!("agent-spaces:std/{part}@1.0.0"), function);
        assert_eq!(effect("time", "sleep"), Some(Effect::ReadOnly));
        assert_eq!(effect("fs", "read-file"), Some(Effect::ReadOnly));
        assert_eq!(effect("fs", "write-file"), Some(Effect::Idempotent));
        assert_eq!((effect("fs", "append-file"), effect("fs", "delete"), effect("http", "get")), (None, None, None));
        assert_eq!(standard("capabilities:time/time@1.0.0", "sleep"), None);
    }
}
