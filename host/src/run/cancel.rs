//! Ending a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Ends the run it belongs to, wherever it is. May be cloned and sent.
#[derive(Clone, Debug, Default)]
pub struct CancelHandle(Arc<Signal>);

#[derive(Debug, Default)]
struct Signal {
    is_cancelled: AtomicBool,
    notify: Notify,
}

impl CancelHandle {
    /// A handle for a run that is still to begin.
    pub fn new() -> CancelHandle {
        CancelHandle::default()
    }

    /// Ends the run within a few milliseconds: in a loop at its next yield, in a wait at once.
    pub fn cancel(&self) {
        self.0.is_cancelled.store(true, Ordering::Release);
        self.0.notify.notify_waiters();
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.is_cancelled.load(Ordering::Acquire)
    }

    /// Resolves when the run is to end.
    pub(crate) async fn cancelled(&self) {
        loop {
            let notified = self.0.notify.notified();
            if self.is_cancelled() {
                return;
            }
            notified.await;
        }
    }
}
