//! Whether the function, its capability or its space was called too often: by this process, and by all of its project.

use super::Pipeline;
use crate::handlers::CapabilityError;
use crate::run::RunContext;
use agent_spaces_policy::Wait;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Takes a turn, waiting for one where a rule says so.
pub(super) async fn take(pipeline: &Arc<Pipeline>, context: &Arc<RunContext>) -> Result<(), CapabilityError> {
    if !pipeline.policy.has_rates() {
        return Ok(());
    }
    let begun = Instant::now();
    let mut waited = Duration::ZERO;
    while let Err(wait) = turn(pipeline, context, waited).await? {
        if !wait.may_wait {
            pipeline.notify("rate", &wait.operator);
            let mut error = CapabilityError::new("call.rate_limited", wait.message());
            error.retryable = true;
            error.details = Some(json!({ "reason": "RATE_LIMITED", "retryAfter": wait.seconds() }));
            return Err(error);
        }
        tokio::time::sleep(wait.retry_after).await;
        waited = begun.elapsed();
    }
    Ok(())
}

/// A turn of this process, and then one of all that share a file.
async fn turn(
    pipeline: &Arc<Pipeline>,
    context: &Arc<RunContext>,
    waited: Duration,
) -> Result<Result<(), Wait>, CapabilityError> {
    if let Err(wait) = pipeline.policy.take(Instant::now(), waited) {
        return Ok(Err(wait));
    }
    let Some(file) = pipeline.rules.rates.clone() else { return Ok(Ok(())) };
    // It is given back also where nobody waits for the file any more.
    let mut turn = Turn(Some(pipeline.clone()));
    let asking = pipeline.clone();
    let shared = context.turns.waiting(move || asking.policy.take_shared(&file, waited)).await?;
    match shared {
        Ok(Ok(())) => {
            turn.0 = None;
            Ok(Ok(()))
        }
        Ok(Err(wait)) => Ok(Err(wait)),
        Err(error) => {
            let label = &pipeline.label;
            pipeline.notify("rate", &format!("{label}: {error}"));
            let message = format!("{label} cannot be called now: its calls cannot be counted");
            Err(CapabilityError::new("call.denied", message))
        }
    }
}

/// Gives a turn back, unless the call is made.
struct Turn(Option<Arc<Pipeline>>);

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(pipeline) = &self.0 {
            pipeline.policy.give_back();
        }
    }
}
