//! Whether a call is in the audit log, before it has an effect.

use super::Pipeline;
use crate::handlers::CapabilityError;
use crate::run::RunContext;

/// Waits until the call may be made as far as the audit log is concerned: in the run's own time, and for as long as it is
/// not cancelled.
pub(super) async fn check(pipeline: &Pipeline, call_id: u64, context: &RunContext) -> Result<(), CapabilityError> {
    let Some(audit) = &context.audit else { return Ok(()) };
    audit.admit(call_id).await.map_err(|why| {
        let label = &pipeline.label;
        let notice = format!(
            "calls are refused while the audit log cannot be written: {why}. Make it writable, or set `\"audit\": \
             \"bestEffort\"` if calls may go on without it"
        );
        pipeline.notify("audit", &notice);
        let message = format!(
            "{label} was not called: the host cannot write its audit log, and makes no call that is not logged. Try \
             again later"
        );
        CapabilityError { retryable: true, ..CapabilityError::new("call.audit_unavailable", message) }
    })
}
