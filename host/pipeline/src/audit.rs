//! Audit check: a required log has the call before its provider does.

use super::Pipeline;
use agent_spaces_calls::context::RunContext;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;

/// Waits until the audit log admits the call. The wait counts as time of the run and ends if the run is cancelled.
pub(super) async fn check(pipeline: &Pipeline, call_id: u64, context: &RunContext) -> Result<(), CapabilityError> {
    let Some(audit) = &context.record else { return Ok(()) };
    audit.admit(call_id).await.map_err(|why| {
        let label = &pipeline.label;
        let notice = format!(
            "calls are refused while the audit log cannot be written: {why}. Make it writable, or set `\"audit\": \
             \"bestEffort\"` if calls may continue without it"
        );
        pipeline.notify("audit", &notice);
        let message =
            format!("{label} was not called: the audit log is required and cannot be written. Try again later");
        CapabilityError { retryable: true, ..CapabilityError::new(Code::CallAuditUnavailable, message) }
    })
}
