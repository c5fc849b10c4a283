//! State that the store and its tasks share.

use crate::bounds::QueuedBytes;
use crate::fair_queue::Source;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};

/// State shared by the store and its tasks.
#[derive(Debug)]
pub(crate) struct Shared {
    queued: Mutex<QueuedBytes>,
    /// Number of those who wait for changes.
    pub(crate) watchers: Arc<AtomicUsize>,
    /// Told when somebody waits for changes.
    pub(crate) watched: Notify,
    /// Told when this process wrote.
    pub(crate) written: Notify,
    /// Changes with every write, ours or others'. It starts at 1.
    pub(crate) version: watch::Sender<u64>,
}

impl Shared {
    /// For a queue of at most this many bytes.
    pub(crate) fn new(max_queued: usize) -> Shared {
        Shared {
            queued: Mutex::new(QueuedBytes::new(max_queued)),
            watchers: Arc::default(),
            watched: Notify::new(),
            written: Notify::new(),
            version: watch::Sender::new(1),
        }
    }

    /// Returns the count of the queue.
    pub(crate) fn queued(&self) -> MutexGuard<'_, QueuedBytes> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a write from the count of the queue, and tells those who wait for changes.
    pub(crate) fn settle(&self, source: &Source, cost: usize, is_written: bool) {
        self.queued().remove(source, cost);
        if is_written {
            self.tell();
        }
    }

    /// Tells those who wait for changes.
    pub(crate) fn tell(&self) {
        self.version.send_modify(|version| *version += 1);
        self.written.notify_one();
    }
}
