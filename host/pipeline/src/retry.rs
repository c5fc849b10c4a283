//! Retries with exponential backoff; nothing else in the host retries a call.
//!
//! A failed call is retried only if all of this holds:
//!
//! - the policy declares the function `idempotent` and sets `retries`
//! - the provider reports the error as transient (`retryable`)
//! - the error is no timeout, the provider's own included: the call may still be in progress
//! - a retry fits into the run's `limits.calls`, the rate limits and the counts, all of which it consumes
//!
//! Each retry is an event and a line in the usage log.

use super::accounting_entry::OpenEntry;
use super::{Pipeline, bounded, durable, policy, provide, rate};
use agent_spaces_calls::call::Call;
use agent_spaces_calls::context::RunContext;
use agent_spaces_calls::redaction;
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use agent_spaces_types::event::EventKind;
use std::sync::Arc;
use std::time::Duration;

/// Wait before the first retry; it doubles with each further one.
const FIRST_BACKOFF: Duration = Duration::from_millis(100);

/// Calls a function's provider and retries where that is safe.
pub(super) async fn call(
    pipeline: &Arc<Pipeline>,
    call: Call,
    context: &Arc<RunContext>,
    entry: &mut OpenEntry,
) -> Answer {
    // Zero unless the function is idempotent.
    let retries = pipeline.policy.middleware().retries;
    // A durable run records each attempt at the last moment: a call that waits for a slot has not left the host.
    let leave = || durable::send(pipeline, call.id, context);
    let mut backoff = FIRST_BACKOFF;
    for repetition in 1..=retries {
        // Each attempt has its own copy of the parameters.
        call.memory.take_value(&call.params).map_err(|error| CapabilityError::failed(error.to_string()))?;
        let error = match provide::call(pipeline, call.clone(), leave()).await {
            Err(error) if is_retryable(&error) => error,
            answer => return answer,
        };
        tokio::time::sleep(backoff).await;
        backoff = backoff.saturating_mul(2);
        if !is_admitted(pipeline, call.id, context).await {
            return Err(error);
        }
        record_retry(pipeline, context, entry, (call.id, repetition), error);
    }
    let leave = leave();
    provide::call(pipeline, call, leave).await
}

/// Returns true if the call has ended and the error is transient.
fn is_retryable(error: &CapabilityError) -> bool {
    error.retryable && error.code != Code::CallTimeout
}

/// Consumes one call of the run's limit, the rate limits and the counts; false if any of them is exhausted.
async fn is_admitted(pipeline: &Arc<Pipeline>, call_id: u64, context: &Arc<RunContext>) -> bool {
    context.calls.repeat(call_id)
        && rate::acquire(pipeline, context).await.is_ok()
        && policy::count(pipeline, context).await.is_ok()
}

/// Records a retry and its cause in the usage log and the run's events.
fn record_retry(
    pipeline: &Pipeline,
    context: &RunContext,
    entry: &mut OpenEntry,
    (call_id, repetition): (u64, u32),
    mut error: CapabilityError,
) {
    redaction::failure(&pipeline.rules.redactor, &mut error);
    let error = bounded(error);
    entry.write_attempt(&error);
    let CapabilityError { code, message, .. } = error;
    context.events.emit(EventKind::CallRepeated { call_id, repetition, code, message });
}

#[cfg(test)]
mod tests {
    use crate::retry::is_retryable;
    use agent_spaces_types::capability_error::CapabilityError;

    #[test]
    fn a_timed_out_call_is_never_retried() {
        let error = |code: &str, retryable| CapabilityError { retryable, ..CapabilityError::new(code, "") };
        for (code, retryable, expected) in [
            ("call.unavailable", true, true),
            ("call.rate_limited", true, true),
            ("call.unavailable", false, false),
            ("call.timeout", true, false),
            ("call.timeout", false, false),
        ] {
            assert_eq!(is_retryable(&error(code, retryable)), expected, "{code} {retryable}");
        }
    }
}
