//! When a call is sent again: nothing else in the host does that.
//!
//! A call that was sent is sent again only if all of this holds:
//!
//! - the operator says that calling twice is the same as calling once (`idempotent`), and how often it may be repeated
//!   (`retries`)
//! - the provider says that it failed for a while only (`retryable`)
//! - it did not run out of time, whoever measured that: it may still be under way
//! - the run has a call left (`limits.calls`), and the policy a turn and a count: a repetition takes all of them
//!
//! Each repetition is an event and a line in the accounts.

use super::record::Recorded;
use super::{Pipeline, bounded, policy, provide, rate};
use crate::events::EventKind;
use crate::handlers::{Answer, Call, CapabilityError};
use crate::redaction;
use crate::run::RunContext;
use std::sync::Arc;
use std::time::Duration;

/// The wait before the first repetition; each further one waits twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Asks a function's provider, and again where that does no harm.
pub(super) async fn call(
    pipeline: &Arc<Pipeline>,
    call: Call,
    context: &Arc<RunContext>,
    recorded: &mut Recorded,
) -> Answer {
    // Zero unless the function is idempotent.
    let retries = pipeline.policy.middleware().retries;
    let mut pause = FIRST_PAUSE;
    for repetition in 1..=retries {
        // Each attempt has parameters of its own.
        call.memory.take_value(&call.params).map_err(|error| CapabilityError::failed(error.to_string()))?;
        let error = match provide::call(pipeline, call.clone()).await {
            Err(error) if may_repeat(&error) => error,
            answer => return answer,
        };
        tokio::time::sleep(pause).await;
        pause = pause.saturating_mul(2);
        if !is_admitted(pipeline, context).await {
            return Err(error);
        }
        note(pipeline, context, recorded, (call.id, repetition), error);
    }
    provide::call(pipeline, call).await
}

/// Whether a call that failed so is known to be over, and may fare better.
fn may_repeat(error: &CapabilityError) -> bool {
    error.retryable && error.code != "call.timeout"
}

/// Takes what a call takes: of the run's calls, of every rate, and of the counts.
async fn is_admitted(pipeline: &Arc<Pipeline>, context: &Arc<RunContext>) -> bool {
    context.calls.repeat()
        && rate::take(pipeline, context).await.is_ok()
        && policy::count(pipeline, context).await.is_ok()
}

/// Writes down that a call is made again, and why.
fn note(
    pipeline: &Pipeline,
    context: &RunContext,
    recorded: &mut Recorded,
    (call_id, repetition): (u64, u32),
    mut error: CapabilityError,
) {
    redaction::failure(&pipeline.rules.redactor, &mut error);
    let error = bounded(error);
    recorded.repeat(&error);
    let CapabilityError { code, message, .. } = error;
    context.events.emit(EventKind::CallRepeated { call_id, repetition, code, message });
}

#[cfg(test)]
mod tests {
    use super::may_repeat;
    use crate::handlers::CapabilityError;

    #[test]
    fn what_ran_out_of_time_is_not_repeated_whoever_says_that_it_may_be() {
        let error = |code: &str, retryable| CapabilityError { retryable, ..CapabilityError::new(code, "") };
        for (code, retryable, expected) in [
            ("call.unavailable", true, true),
            ("call.rate_limited", true, true),
            ("call.unavailable", false, false),
            ("call.timeout", true, false),
            ("call.timeout", false, false),
        ] {
            assert_eq!(may_repeat(&error(code, retryable)), expected, "{code} {retryable}");
        }
    }
}
