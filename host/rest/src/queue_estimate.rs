//! Runs of a caller that wait for their turn in the store, as far as this host knows.
//!
//! To count them in the store for every request would make refusals as expensive as runs. What this host adds and takes
//! is counted here, and the store is read once a second: other hosts add and take runs too.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most runs of a caller that wait for their turn.
pub(crate) const MAX_QUEUED: usize = 100;

/// Time for which a number that was read is trusted.
const TRUSTED_FOR: Duration = Duration::from_secs(1);

/// Most runs of this host that are remembered. Other hosts take some of them, and this one is not told.
const MAX_IDS: usize = 1_000;

/// Queue of one caller.
#[derive(Default)]
pub(crate) struct QueueEstimate {
    known: Mutex<Known>,
    /// Held while the store is read.
    reading: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Known {
    /// Runs in the queue.
    count: usize,
    /// Runs that are about to be added.
    reserved: usize,
    /// Runs that this host has added, to tell them from others that it continues.
    ids: HashSet<String>,
    /// Runs that were added and taken since the last read began: it may have missed them.
    added: usize,
    taken: usize,
    /// End of the last read.
    read: Option<Instant>,
}

/// Room for a run in the queue, until it is added or this is dropped.
pub(crate) struct Reserved {
    queue: Arc<QueueEstimate>,
}

impl QueueEstimate {
    /// Returns true if the queue is known to be full, without a look at the store.
    pub(crate) fn is_known_full(&self) -> bool {
        let known = self.known();
        known.is_fresh() && known.is_full()
    }

    /// Returns true if the queue is full, after a look at the store if the last one is a while ago. `read` counts the runs
    /// in the store, and is dropped if it is not needed.
    pub(crate) async fn is_full<E>(&self, read: impl Future<Output = Result<usize, E>>) -> Result<bool, E> {
        self.refresh(read).await?;
        Ok(self.known().is_full())
    }

    /// Reserves room for a run, after the same look at the store; `None` if the queue is full.
    pub(crate) async fn reserve<E>(
        self: &Arc<QueueEstimate>,
        read: impl Future<Output = Result<usize, E>>,
    ) -> Result<Option<Reserved>, E> {
        self.refresh(read).await?;
        let mut known = self.known();
        if known.is_full() {
            return Ok(None);
        }
        known.reserved += 1;
        Ok(Some(Reserved { queue: self.clone() }))
    }

    /// Takes note that a run leaves the queue, if this host added it.
    pub(crate) fn taken(&self, run: &str) {
        let mut known = self.known();
        if known.ids.remove(run) {
            known.count = known.count.saturating_sub(1);
            known.taken += 1;
        }
    }

    async fn refresh<E>(&self, read: impl Future<Output = Result<usize, E>>) -> Result<(), E> {
        let (is_fresh, is_known) = self.state();
        if is_fresh {
            return Ok(());
        }
        let _reading = match self.reading.try_lock() {
            Ok(reading) => reading,
            // One request reads, and others go by what was known.
            Err(_) if is_known => return Ok(()),
            Err(_) => self.reading.lock().await,
        };
        // Another request may have read it just now.
        if self.state().0 {
            return Ok(());
        }
        self.begin();
        let count = read.await?;
        self.note(count);
        Ok(())
    }

    /// Returns whether the number was read a moment ago, and whether it ever was.
    fn state(&self) -> (bool, bool) {
        let known = self.known();
        (known.is_fresh(), known.read.is_some())
    }

    fn begin(&self) {
        let mut known = self.known();
        (known.added, known.taken) = (0, 0);
    }

    fn note(&self, count: usize) {
        let mut known = self.known();
        known.count = count.saturating_add(known.added).saturating_sub(known.taken);
        known.read = Some(Instant::now());
        if known.count == 0 {
            known.ids.clear();
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn is_fresh(&self) -> bool {
        self.read.is_some_and(|read| read.elapsed() < TRUSTED_FOR)
    }

    fn is_full(&self) -> bool {
        self.count.saturating_add(self.reserved) >= MAX_QUEUED
    }
}

impl Reserved {
    /// Takes note that the run is in the queue.
    pub(crate) fn added(self, run: &str) {
        let mut known = self.queue.known();
        known.count += 1;
        known.added += 1;
        if known.ids.len() >= MAX_IDS {
            known.ids.clear();
        }
        known.ids.insert(run.to_owned());
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        let mut known = self.queue.known();
        known.reserved = known.reserved.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_QUEUED, QueueEstimate, Reserved, TRUSTED_FOR};
    use futures_util::FutureExt;
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Store with some runs, which counts how often it is read.
    #[derive(Default)]
    struct Counted {
        runs: AtomicUsize,
        reads: AtomicUsize,
    }

    impl Counted {
        async fn read(&self) -> Result<usize, Infallible> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            Ok(self.runs.load(Ordering::Relaxed))
        }

        fn reads(&self) -> usize {
            self.reads.load(Ordering::Relaxed)
        }
    }

    /// Lets the time pass for which a number is trusted.
    fn expire(queue: &QueueEstimate) {
        let mut known = queue.known();
        known.read = known.read.and_then(|read| read.checked_sub(TRUSTED_FOR));
    }

    async fn reserve(queue: &Arc<QueueEstimate>, store: &Counted) -> Option<Reserved> {
        queue.reserve(store.read()).await.unwrap()
    }

    #[tokio::test]
    async fn a_full_queue_refuses_without_a_look_at_the_store() {
        let (queue, store) = (Arc::<QueueEstimate>::default(), Counted::default());
        assert!(!queue.is_known_full());
        for number in 0..MAX_QUEUED {
            reserve(&queue, &store).await.unwrap().added(&format!("run_{number}"));
        }
        for _ in 0..1_000 {
            assert!(queue.is_known_full() && queue.is_full(store.read()).await.unwrap());
            assert!(reserve(&queue, &store).await.is_none());
        }
        assert_eq!(store.reads(), 1);
        queue.taken("run_of_another_host");
        assert!(queue.is_known_full(), "it was not counted");
        queue.taken("run_7");
        queue.taken("run_7");
        let last = reserve(&queue, &store).await.unwrap();
        assert!(reserve(&queue, &store).await.is_none(), "two requests at once do not both pass");
        drop(last);
        assert!(reserve(&queue, &store).await.is_some(), "the first was not added");
        assert_eq!(store.reads(), 1);
    }

    #[tokio::test]
    async fn what_other_hosts_do_is_known_a_second_later() {
        let (queue, store) = (Arc::<QueueEstimate>::default(), Counted::default());
        assert!(!queue.is_full(store.read()).await.unwrap());
        store.runs.store(MAX_QUEUED, Ordering::Relaxed);
        assert!(!queue.is_full(store.read()).await.unwrap(), "it was read a moment ago");
        expire(&queue);
        assert!(queue.is_full(store.read()).await.unwrap() && queue.is_known_full());
        store.runs.store(0, Ordering::Relaxed);
        expire(&queue);
        assert!(!queue.is_known_full());
        assert!(!queue.is_full(store.read()).await.unwrap());
        assert_eq!(store.reads(), 3);
    }

    #[tokio::test]
    async fn one_request_reads_and_others_do_not_wait() {
        let (queue, store) = (Arc::<QueueEstimate>::default(), Counted::default());
        let (answer, answered) = tokio::sync::oneshot::channel::<usize>();
        let slow = async { Ok::<_, Infallible>(answered.await.unwrap()) };
        let mut first = Box::pin(queue.is_full(slow));
        assert!((&mut first).now_or_never().is_none());
        let mut waiting = Box::pin(reserve(&queue, &store));
        assert!((&mut waiting).now_or_never().is_none(), "nothing is known yet");
        answer.send(MAX_QUEUED - 1).unwrap();
        assert!(!first.await.unwrap());
        let reserved = waiting.await.unwrap();
        assert_eq!(store.reads(), 0, "it goes by what the first read");
        // The next read begins before this run is added, and ends after that.
        expire(&queue);
        let (answer, answered) = tokio::sync::oneshot::channel::<usize>();
        let slow = async { Ok::<_, Infallible>(answered.await.unwrap()) };
        let mut again = Box::pin(queue.is_full(slow));
        assert!((&mut again).now_or_never().is_none());
        assert!(queue.is_full(store.read()).now_or_never().unwrap().unwrap(), "others do not wait");
        reserved.added("run_1");
        answer.send(MAX_QUEUED - 1).unwrap();
        assert!(again.await.unwrap(), "it counts");
        assert_eq!(store.reads(), 0);
    }

    #[tokio::test]
    async fn a_read_that_fails_or_is_dropped_is_made_again() {
        let (queue, store) = (Arc::<QueueEstimate>::default(), Counted::default());
        assert_eq!(queue.is_full(async { Err("unreachable") }).await, Err("unreachable"));
        let never = std::future::pending::<Result<usize, Infallible>>();
        assert!(queue.is_full(never).now_or_never().is_none());
        store.runs.store(MAX_QUEUED, Ordering::Relaxed);
        assert!(queue.is_full(store.read()).await.unwrap());
        assert_eq!(store.reads(), 1);
    }
}
