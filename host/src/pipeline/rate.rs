//! Whether the function, its capability or its space was called too often.

use super::Pipeline;
use crate::handlers::CapabilityError;
use serde_json::json;
use std::time::{Duration, Instant};

/// Takes a turn, waiting for one where a rule says so.
pub(super) async fn take(pipeline: &Pipeline) -> Result<(), CapabilityError> {
    let begun = Instant::now();
    let mut waited = Duration::ZERO;
    while let Err(wait) = pipeline.policy.take(Instant::now(), waited) {
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
