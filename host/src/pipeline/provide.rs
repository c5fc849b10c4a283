//! The provider itself: not too many calls at one time, and not for too long.

use super::Pipeline;
use crate::handlers::{Answer, Call, CapabilityError, Handler};
use crate::providers;
use crate::run::RunClock;
use agent_spaces_policy::{FunctionId, Middleware};
use futures_util::FutureExt;
use serde_json::json;
use std::any::Any;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

pub(super) struct Provider {
    handler: Arc<Handler>,
    /// What the handler is, where it is no closure: it may have to be made ready first.
    answering: Option<Arc<dyn providers::Provider>>,
    /// In the order of their coming; whoever stops waiting is gone.
    places: Option<Arc<Semaphore>>,
    timeout: Option<Duration>,
    /// Whether calling twice is the same as calling once.
    is_idempotent: bool,
}

/// Asks a function's provider. A handler that panics fails its call, and nothing else.
pub(super) async fn call(pipeline: &Pipeline, call: Call) -> Answer {
    // What the handler shares with others is behind locks of its own, which know that somebody panicked.
    let answering = AssertUnwindSafe(pipeline.provider.call(call)).catch_unwind();
    answering.await.unwrap_or_else(|panic| {
        let (label, why) = (&pipeline.label, pipeline.redactor().text(message(&*panic)));
        pipeline.notify("panic", &format!("{label}: its handler panicked: {why}"));
        // Why is for the operator: it may be about anything of the host.
        Err(CapabilityError::failed(format!("{label}: its handler panicked")))
    })
}

/// What was said at a panic.
fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&'static str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it did not say why")
}

/// Those who wait for a place, by function: the same for all scripts of a space. Clones are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines(Arc<Mutex<HashMap<FunctionId, Arc<Semaphore>>>>);

impl Lines {
    fn of(&self, id: &FunctionId, most: u32) -> Arc<Semaphore> {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = lines.entry(id.clone()).or_insert_with(|| Arc::new(Semaphore::new(most.max(1) as usize)));
        line.clone()
    }
}

impl Provider {
    pub(super) fn new(
        handler: Arc<Handler>,
        answering: Option<Arc<dyn providers::Provider>>,
        middleware: &Middleware,
        id: &FunctionId,
        lines: &Lines,
    ) -> Provider {
        let places = middleware.concurrency.map(|most| lines.of(id, most));
        Provider { handler, answering, places, timeout: middleware.timeout, is_idempotent: middleware.idempotent }
    }

    pub(super) async fn call(&self, call: Call) -> Answer {
        let _place = match &self.places {
            Some(places) => places.acquire().await.ok(),
            None => None,
        };
        let Some(timeout) = self.timeout else { return (self.handler)(call).await };
        if let Some(answering) = &self.answering {
            // A server that is started for this call has time of its own for that.
            answering.clone().get_ready(&call).await?;
        }
        // A script that answers may wait for a person, whose time is not the function's.
        let clock = call.clock.clone().unwrap_or_else(|| RunClock::new(Instant::now()));
        clock.timeout(timeout, (self.handler)(call)).await.unwrap_or_else(|| {
            let mut error = CapabilityError::new("call.timeout", "Tool execution timed out");
            error.details = Some(json!({ "afterMs": timeout.as_millis() as u64 }));
            // Whether it took effect is unknown: a script may make it again only where that does no harm.
            error.retryable = self.is_idempotent;
            Err(error)
        })
    }
}
