//! Concurrency limiter with a queue: FIFO, or in turn by caller.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Default limit of concurrent runs.
pub const DEFAULT_CONCURRENCY: usize = 10;

/// Semaphore that admits waiters in FIFO order, or callers in turn ([`ConcurrencyLimiter::enter_as`]). Clones share
/// state.
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
    /// By caller, a semaphore with one permit: whoever holds it is the caller's waiter in the queue.
    turns: Arc<Mutex<HashMap<Arc<str>, Weak<Semaphore>>>>,
}

/// Counts a waiter until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Waiting<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Permit, released on drop.
#[derive(Debug)]
pub struct ConcurrencyPermit(#[expect(dead_code, reason = "held for its drop")] Option<OwnedSemaphorePermit>);

impl ConcurrencyLimiter {
    /// Creates a limiter with `most` permits, at least one.
    pub fn new(most: usize) -> ConcurrencyLimiter {
        let permits = Semaphore::new(most.clamp(1, Semaphore::MAX_PERMITS));
        ConcurrencyLimiter { permits: Arc::new(permits), waiting: Arc::default(), turns: Arc::default() }
    }

    /// Waits for a permit.
    pub async fn enter(&self) -> ConcurrencyPermit {
        let _waiting = Waiting::new(&self.waiting);
        self.acquire().await
    }

    /// Waits for a permit in turn with other callers: each has one waiter in the queue, and its others wait behind that
    /// one. So a caller with many waiters delays another by one permit.
    pub async fn enter_as(&self, caller: &Arc<str>) -> ConcurrencyPermit {
        let _waiting = Waiting::new(&self.waiting);
        let turn = self.turn(caller);
        // The semaphore is never closed.
        let _turn = turn.acquire().await.ok();
        self.acquire().await
    }

    async fn acquire(&self) -> ConcurrencyPermit {
        // The semaphore is never closed.
        ConcurrencyPermit(self.permits.clone().acquire_owned().await.ok())
    }

    /// Returns the turn of a caller. Those of callers without waiters are dropped.
    fn turn(&self, caller: &Arc<str>) -> Arc<Semaphore> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(caller).and_then(Weak::upgrade) {
            return turn;
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::new(Semaphore::new(1));
        turns.insert(caller.clone(), Arc::downgrade(&turn));
        turn
    }

    /// Returns a permit if one is free and nothing waits for it.
    pub fn try_enter(&self) -> Option<ConcurrencyPermit> {
        // Waiters behind that of their caller are not in the semaphore's queue.
        if self.waiting() > 0 {
            return None;
        }
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
    async fn callers_are_admitted_in_turn() {
        let limiter = ConcurrencyLimiter::new(1);
        let permit = limiter.enter().await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for (number, caller) in ["ann", "ann", "ann", "bob", "eve", "bob"].into_iter().enumerate() {
            let (line, order) = (limiter.clone(), order.clone());
            let caller: Arc<str> = Arc::from(caller);
            tasks.push(tokio::spawn(async move {
                let _permit = line.enter_as(&caller).await;
                order.lock().unwrap().push(number);
            }));
            while limiter.waiting() <= number {
                tokio::task::yield_now().await;
            }
        }
        drop(permit);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), [0, 3, 4, 1, 5, 2]);
        let ida: Arc<str> = Arc::from("ida");
        let _permit = limiter.enter_as(&ida).await;
        assert_eq!(limiter.turns.lock().unwrap().len(), 1, "turns of others are gone");
    }

    #[tokio::test]
    async fn a_dropped_waiter_leaves_its_turn_to_the_next_of_its_caller() {
        let limiter = ConcurrencyLimiter::new(1);
        let ann: Arc<str> = Arc::from("ann");
        let permit = limiter.enter().await;
        let mut first = Box::pin(limiter.enter_as(&ann));
        assert!(timeout(Duration::from_millis(5), &mut first).await.is_err());
        let second = tokio::spawn({
            let (limiter, ann) = (limiter.clone(), ann.clone());
            async move { limiter.enter_as(&ann).await }
        });
        while limiter.waiting() < 2 {
            tokio::task::yield_now().await;
        }
        drop(first);
        drop(permit);
        timeout(Duration::from_secs(5), second).await.unwrap().unwrap();
        assert_eq!(limiter.waiting(), 0);
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
