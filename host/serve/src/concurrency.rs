//! Concurrency limiter with a FIFO queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Default limit of concurrent runs.
pub const DEFAULT_CONCURRENCY: usize = 10;

/// Semaphore that admits waiters in FIFO order. Clones share state.
///
/// A waiter that is dropped, for example because its client disconnected, leaves the queue at once.
///
/// ```
/// # tokio_test(async {
/// let limiter = agent_spaces_serve::concurrency::ConcurrencyLimiter::new(1);
/// let permit = limiter.enter().await;
/// assert!(limiter.try_enter().is_none());
/// drop(permit);
/// assert!(limiter.try_enter().is_some());
/// # });
/// # fn tokio_test(work: impl Future<Output = ()>) {
/// #     tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ConcurrencyLimiter {
    permits: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

/// Permit, released on drop.
#[derive(Debug)]
pub struct ConcurrencyPermit(#[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>);

impl ConcurrencyLimiter {
    /// Creates a limiter with `most` permits, at least one.
    pub fn new(most: usize) -> ConcurrencyLimiter {
        let permits = Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS));
        ConcurrencyLimiter { permits: Arc::new(permits), waiting: Arc::default() }
    }

    /// Waits for a permit.
    pub async fn enter(&self) -> ConcurrencyPermit {
        /// Counts a waiter until it is dropped.
        struct Waiting<'a>(&'a AtomicUsize);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        // The semaphore is never closed.
        ConcurrencyPermit(self.permits.clone().acquire_owned().await.ok())
    }

    /// Returns a permit if one is free and nothing waits for it.
    pub fn try_enter(&self) -> Option<ConcurrencyPermit> {
        self.permits.clone().try_acquire_owned().ok().map(|permit| ConcurrencyPermit(Some(permit)))
    }

    /// Returns the number of waiters.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }
}

impl Default for ConcurrencyLimiter {
    fn default() -> ConcurrencyLimiter {
        ConcurrencyLimiter::new(DEFAULT_CONCURRENCY)
    }
}

#[cfg(test)]
mod tests {
    use crate::concurrency::ConcurrencyLimiter;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn waiters_are_admitted_in_fifo_order() {
        let limiter = ConcurrencyLimiter::new(1);
        let permit = limiter.enter().await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 0..20 {
            let (line, order) = (limiter.clone(), order.clone());
            tasks.push(tokio::spawn(async move {
                let _permit = line.enter().await;
                order.lock().unwrap().push(number);
            }));
            while limiter.waiting() <= number {
                tokio::task::yield_now().await;
            }
        }
        assert!(limiter.try_enter().is_none());
        drop(permit);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn a_dropped_waiter_leaves_the_queue() {
        let limiter = ConcurrencyLimiter::new(1);
        let permit = limiter.enter().await;
        let abandoned = timeout(Duration::from_millis(5), limiter.enter()).await;
        assert!(abandoned.is_err());
        assert_eq!(limiter.waiting(), 0);
        let next = tokio::spawn({
            let limiter = limiter.clone();
            async move { limiter.enter().await }
        });
        drop(permit);
        timeout(Duration::from_secs(5), next).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn the_default_is_ten_permits_and_the_minimum_one() {
        let limiter = ConcurrencyLimiter::default();
        let permits: Vec<_> = std::iter::from_fn(|| limiter.try_enter()).collect();
        assert_eq!(permits.len(), 10);
        assert!(ConcurrencyLimiter::new(0).try_enter().is_some());
        assert!(ConcurrencyLimiter::new(usize::MAX).try_enter().is_some());
    }
}
