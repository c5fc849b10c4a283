//! How many things one surface does at one time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How many runs a surface has under way unless its operator says otherwise.
pub const DEFAULT_CONCURRENCY: usize = 10;

/// Lets so many in at one time, in the order of their coming; clones are one.
///
/// Whoever stops waiting, because a client went away, is out of the line at once and never let in.
///
/// ```
/// # tokio_test(async {
/// let limiter = agent_spaces::ConcurrencyLimiter::new(1);
/// let place = limiter.enter().await;
/// assert!(limiter.try_enter().is_none());
/// drop(place);
/// assert!(limiter.try_enter().is_some());
/// # });
/// # fn tokio_test(work: impl Future<Output = ()>) {
/// #     tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct ConcurrencyLimiter {
    places: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

/// A place; leaving is dropping it.
#[derive(Debug)]
pub struct ConcurrencyPlace(#[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>);

impl ConcurrencyLimiter {
    /// At least one is let in.
    pub fn new(most: usize) -> ConcurrencyLimiter {
        let places = Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS));
        ConcurrencyLimiter { places: Arc::new(places), waiting: Arc::default() }
    }

    /// Waits for a place.
    pub async fn enter(&self) -> ConcurrencyPlace {
        /// Counts for as long as it lives: a waiter that is dropped does not wait.
        struct Waiting<'a>(&'a AtomicUsize);
        impl Drop for Waiting<'_> {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::Relaxed);
            }
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        // Nobody closes it.
        ConcurrencyPlace(self.places.clone().acquire_owned().await.ok())
    }

    /// A place, if there is one and nobody waits for it.
    pub fn try_enter(&self) -> Option<ConcurrencyPlace> {
        self.places.clone().try_acquire_owned().ok().map(|place| ConcurrencyPlace(Some(place)))
    }

    /// How many wait.
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
    use super::ConcurrencyLimiter;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test]
    async fn s1_47_they_are_let_in_in_the_order_of_their_coming() {
        let limiter = ConcurrencyLimiter::new(1);
        let place = limiter.enter().await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for number in 0..20 {
            let (line, order) = (limiter.clone(), order.clone());
            tasks.push(tokio::spawn(async move {
                let _place = line.enter().await;
                order.lock().unwrap().push(number);
            }));
            while limiter.waiting() <= number {
                tokio::task::yield_now().await;
            }
        }
        assert!(limiter.try_enter().is_none());
        drop(place);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn s1_48_whoever_stops_waiting_is_never_let_in() {
        let limiter = ConcurrencyLimiter::new(1);
        let place = limiter.enter().await;
        let abandoned = timeout(Duration::from_millis(5), limiter.enter()).await;
        assert!(abandoned.is_err());
        assert_eq!(limiter.waiting(), 0);
        let next = tokio::spawn({
            let limiter = limiter.clone();
            async move { limiter.enter().await }
        });
        drop(place);
        timeout(Duration::from_secs(5), next).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn ten_at_one_time_unless_told_otherwise_and_never_none() {
        let limiter = ConcurrencyLimiter::default();
        let places: Vec<_> = std::iter::from_fn(|| limiter.try_enter()).collect();
        assert_eq!(places.len(), 10);
        assert!(ConcurrencyLimiter::new(0).try_enter().is_some());
        assert!(ConcurrencyLimiter::new(usize::MAX).try_enter().is_some());
    }
}
