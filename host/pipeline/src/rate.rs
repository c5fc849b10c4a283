//! Rate limits of the function, its capability and its space: in this process, and across all processes of the project.

use super::Pipeline;
use agent_spaces_calls::context::RunContext;
use agent_spaces_policy::Wait;
use agent_spaces_types::capability_error::CapabilityError;
use agent_spaces_types::code::Code;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Takes a token of every rate limit that applies, waiting for it where a rule allows that.
pub(super) async fn acquire(pipeline: &Arc<Pipeline>, context: &Arc<RunContext>) -> Result<(), CapabilityError> {
    if !pipeline.policy.has_rates() {
        return Ok(());
    }
    let begun = Instant::now();
    let mut waited = Duration::ZERO;
    while let Err(wait) = try_acquire(pipeline, context, waited).await? {
        if !wait.may_wait {
            pipeline.notify("rate", &wait.operator);
            let mut error = CapabilityError::new(Code::CallRateLimited, wait.message());
            error.retryable = true;
            error.details = Some(json!({ "reason": "RATE_LIMITED", "retryAfter": wait.seconds() }));
            return Err(error);
        }
        tokio::time::sleep(wait.retry_after).await;
        waited = begun.elapsed();
    }
    Ok(())
}

/// Takes a token in this process, then one of the rate file that processes share.
async fn try_acquire(
    pipeline: &Arc<Pipeline>,
    context: &Arc<RunContext>,
    waited: Duration,
) -> Result<Result<(), Wait>, CapabilityError> {
    if let Err(wait) = pipeline.policy.take(Instant::now(), waited) {
        return Ok(Err(wait));
    }
    let Some(file) = pipeline.rules.rates.clone() else { return Ok(Ok(())) };
    // The local token is returned also if this future is dropped while it waits for the file.
    let mut guard = TokenGuard(Some(pipeline.clone()));
    let asking = pipeline.clone();
    let shared = context.blocking_pool.run_waiting(move || asking.policy.take_shared(&file, waited)).await?;
    match shared {
        Ok(Ok(())) => {
            guard.0 = None;
            Ok(Ok(()))
        }
        Ok(Err(wait)) => Ok(Err(wait)),
        Err(error) => {
            let label = &pipeline.label;
            pipeline.notify("rate", &format!("{label}: {error}"));
            let message = format!("{label} cannot be called now: its calls cannot be counted");
            Err(CapabilityError::new(Code::CallDenied, message))
        }
    }
}

/// Returns the local token on drop, unless it was spent.
struct TokenGuard(Option<Arc<Pipeline>>);

impl Drop for TokenGuard {
    fn drop(&mut self) {
        if let Some(pipeline) = &self.0 {
            pipeline.policy.give_back();
        }
    }
}
