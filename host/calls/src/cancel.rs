//! Cancellation of a run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Cancellation handle of a run. Clones share state.
#[derive(Clone, Debug, Default)]
pub struct CancelHandle(Arc<Signal>);

#[derive(Debug, Default)]
struct Signal {
    is_cancelled: AtomicBool,
    notify: Notify,
}

impl CancelHandle {
    /// Creates a handle for a run that has not started.
    pub fn new() -> CancelHandle {
        CancelHandle::default()
    }

    /// Cancels the run within a few milliseconds: a busy one at its next yield, a waiting one at once.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Release);
        self.0.notify.notify_waiters();
    }

    /// Returns true once the run is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Acquire)
    }

    /// Waits for the cancellation.
    pub async fn cancelled(&self) {
        loop {
            let notified = self.0.notify.notified();
            if self.is_cancelled() {
                return;
            }
            notified.await;
        }
    }
}
