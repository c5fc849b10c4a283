//! Provider call, with its concurrency limit and timeout.

use super::Pipeline;
use agent_spaces_calls::call::Call;
use agent_spaces_calls::clock::RunClock;
use agent_spaces_calls::handlers::Handler;
use agent_spaces_calls::provider::Provider;
use agent_spaces_policy::{FunctionId, Middleware};
use agent_spaces_types::capability_error::{Answer, CapabilityError};
use agent_spaces_types::code::Code;
use futures_util::FutureExt;
use serde_json::json;
use std::any::Any;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// A function's handler with its concurrency limit and timeout.
pub(super) struct LimitedHandler {
    handler: Arc<Handler>,
    /// The provider behind the handler, unless that is a closure. It may have to be started first.
    provider: Option<Arc<dyn Provider>>,
    /// Concurrency limit; fair, in the order of the calls.
    permits: Option<Arc<Semaphore>>,
    timeout: Option<Duration>,
    /// True if a second call has no further effect.
    is_idempotent: bool,
}

/// Calls a function's provider. A panic of the handler fails this call alone.
/// `leave` is awaited when nothing is left to wait for.
pub(super) async fn call(
    pipeline: &Pipeline,
    call: Call,
    leave: impl Future<Output = Result<(), CapabilityError>>,
) -> Answer {
    // Unwind safe: handlers share state only behind locks, which a panic poisons.
    let answer = AssertUnwindSafe(pipeline.handler.call(call, leave)).catch_unwind();
    answer.await.unwrap_or_else(|panic| {
        let (label, why) = (&pipeline.label, pipeline.redactor().text(message(&*panic)));
        pipeline.notify("panic", &format!("{label}: its handler panicked: {why}"));
        // Only the operator sees the panic message: it may hold internals of the host.
        Err(CapabilityError::failed(format!("{label}: its handler panicked")))
    })
}

/// Returns the message of a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no panic message")
}

/// Semaphores by function, for functions with a concurrency limit. All scripts of a space share them, and so do clones.
#[derive(Clone, Debug, Default)]
pub struct ConcurrencyLimits(Arc<Mutex<HashMap<FunctionId, Arc<Semaphore>>>>);

impl ConcurrencyLimits {
    fn of(&self, id: &FunctionId, most: u32) -> Arc<Semaphore> {
        let mut limits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let limit = limits.entry(id.clone()).or_insert_with(|| Arc::new(Semaphore::new(most.max(1) as usize)));
        limit.clone()
    }
}

impl LimitedHandler {
    pub(super) fn new(
        handler: Arc<Handler>,
        provider: Option<Arc<dyn Provider>>,
        middleware: &Middleware,
        id: &FunctionId,
        limits: &ConcurrencyLimits,
    ) -> LimitedHandler {
        let permits = middleware.concurrency.map(|most| limits.of(id, most));
        LimitedHandler { handler, provider, permits, timeout: middleware.timeout, is_idempotent: middleware.idempotent }
    }

    pub(super) async fn call(&self, call: Call, leave: impl Future<Output = Result<(), CapabilityError>>) -> Answer {
        let _permit = match &self.permits {
            Some(permits) => permits.acquire().await.ok(),
            None => None,
        };
        let Some(timeout) = self.timeout else {
            leave.await?;
            return (self.handler)(call).await;
        };
        if let Some(provider) = &self.provider {
            // Starting a server does not count against the call's timeout.
            provider.clone().get_ready(&call).await?;
        }
        leave.await?;
        // A script provider may wait for an approval, which does not count against the timeout.
        let clock = call.clock.clone().unwrap_or_else(|| RunClock::new(Instant::now()));
        clock.timeout(timeout, (self.handler)(call)).await.unwrap_or_else(|| {
            let mut error = CapabilityError::new(Code::CallTimeout, "Tool execution timed out");
            error.details = Some(json!({ "afterMs": timeout.as_millis() as u64 }));
            // The call may have taken effect, so only an idempotent one may be retried.
            error.retryable = self.is_idempotent;
            Err(error)
        })
    }
}
