//! Blocking work pool: work on large values, off the async threads.
//!
//! Parsing, validating and encoding a few megabytes takes tenths of a second. On an async thread that would delay every
//! other request, so it is done on tokio's blocking threads, with a concurrency limit: one job per run, half of the
//! permits per caller, and all cores but one per process. The number of waiting jobs is bounded by the runs' in-flight
//! limits. Where tenants [take turns](crate::turns), it is done in turns of its run, one job per run: a blocking thread would
//! compute beside the turns, and with a higher priority than those that poll runs.
//!
//! All permits of a job are acquired at once. wasmtime does not poll the futures of a run's calls while its guest
//! computes or is blocked in another call, so a job that held some permits while it waited for others could keep them
//! until its run's time is up.
//!
//! A job whose call is gone, because its run ended or timed out, sees its [`StopFlag`] set, and keeps its permits until
//! it returns: abandoned jobs do not pile up.

use crate::turns::{Turns, in_turn};
use agent_spaces_types::caller::Caller;
use agent_spaces_types::capability_error::CapabilityError;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// Values smaller than this are processed inline: a tenth of a millisecond, less than a thread switch may take.
pub const MAX_INLINE_BYTES: u64 = 64 << 10;

/// Concurrent jobs of this process: all cores but one, which is left to the async threads.
static PROCESS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(max_jobs())));

/// Notified whenever permits are released.
static RELEASED: Notify = Notify::const_new();

/// Held while permits are acquired: either all of them are, or none.
static ACQUIRING: Mutex<()> = Mutex::new(());

/// Semaphores of named callers.
static CALLERS: LazyLock<Mutex<HashMap<Arc<Caller>, Weak<Semaphore>>>> = LazyLock::new(Mutex::default);

/// Returns the number of concurrent jobs of the process. It is asked for by every run, and on Linux the standard library reads files
/// of the control group for the answer: a third of a short run's time.
fn max_jobs() -> usize {
    static JOBS: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1));
    *JOBS
}

/// Handle of one run to the blocking work pool. Clones share its limits.
#[derive(Clone, Debug)]
pub struct BlockingPool {
    run: Arc<Semaphore>,
    caller: Arc<Semaphore>,
}

/// Permit for one job; released when it is dropped.
pub struct Permit {
    permits: Vec<OwnedSemaphorePermit>,
}

impl Permit {
    /// Waits until all these semaphores have a permit.
    async fn acquire_all<const N: usize>(semaphores: [&Arc<Semaphore>; N]) -> Permit {
        loop {
            // Subscribe before trying, so that no notification is missed.
            let mut released = pin!(RELEASED.notified());
            released.as_mut().enable();
            if let Some(permits) = try_acquire_all(semaphores) {
                return Permit { permits };
            }
            released.await;
        }
    }
}

fn try_acquire_all<const N: usize>(semaphores: [&Arc<Semaphore>; N]) -> Option<Vec<OwnedSemaphorePermit>> {
    let _acquiring = ACQUIRING.lock().unwrap_or_else(PoisonError::into_inner);
    semaphores.into_iter().map(|semaphore| semaphore.clone().try_acquire_owned().ok()).collect()
}

impl Drop for Permit {
    fn drop(&mut self) {
        // Release before notifying.
        self.permits.clear();
        RELEASED.notify_waiters();
    }
}

/// Flag that tells a job to stop, because nobody waits for its result any more.
#[derive(Clone, Debug, Default)]
pub struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    /// Returns true if the job should stop.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets the flag when the future that waits for the job is dropped.
struct StopOnDrop(StopFlag);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

impl BlockingPool {
    /// Creates the handle of a new run of this caller.
    pub fn new(caller: &Arc<Caller>) -> BlockingPool {
        BlockingPool { run: Arc::new(Semaphore::new(1)), caller: semaphore_of(caller) }
    }

    /// Waits for a permit.
    pub async fn acquire(&self) -> Permit {
        Permit::acquire_all([&self.run, &self.caller, &*PROCESS]).await
    }

    /// Runs a CPU-bound job: in a turn of its own, where tenants take turns on the processors, and on a blocking thread
    /// elsewhere. The job must check its [`StopFlag`] now and then.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&StopFlag) -> T + Send + 'static,
    ) -> Result<T, CapabilityError> {
        let turns = Turns::current();
        let permit = match &turns {
            // The turns decide who is next, and how many there are at a time. A permit of all tenants, held by a job whose turn has
            // not come, would keep the others waiting.
            Some(_) => Permit::acquire_all([&self.run]).await,
            None => self.acquire().await,
        };
        let waiting = StopOnDrop(StopFlag::default());
        let stop = waiting.0.clone();
        let job = move || {
            let _permit = permit;
            work(&stop)
        };
        let done = match turns {
            Some(turns) => in_turn(Some(turns), async { catch_unwind(AssertUnwindSafe(job)).ok() }).await.flatten(),
            None => tokio::task::spawn_blocking(job).await.ok(),
        };
        done.ok_or_else(|| CapabilityError::failed("The call's worker stopped"))
    }

    /// Runs a job that waits for other processes, such as for a file lock, on a blocking thread. Each run has at most
    /// one such thread. It takes no permit of CPU-bound jobs.
    pub async fn run_waiting<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CapabilityError> {
        let permit = Permit::acquire_all([&self.run]).await;
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.map_err(|_| CapabilityError::failed("The call's worker stopped"))
    }

    /// Runs a job on borrowed data on this thread: see [`Permit::work`].
    pub async fn in_place<T>(&self, work: impl FnOnce() -> T) -> T {
        self.acquire().await.work(work)
    }
}

impl Permit {
    /// Runs a job on this thread with `block_in_place`, which moves other tasks to another thread. A single-threaded
    /// runtime has no other, and runs it inline.
    pub fn work<T>(self, work: impl FnOnce() -> T) -> T {
        match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
            _ => work(),
        }
    }
}

fn semaphore_of(caller: &Arc<Caller>) -> Arc<Semaphore> {
    let new = || Arc::new(Semaphore::new((max_jobs() / 2).max(1)));
    // Anonymous callers are not one caller.
    if caller.name.is_none() {
        return new();
    }
    let mut callers = CALLERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = callers.get(caller).and_then(Weak::upgrade) {
        return known;
    }
    callers.retain(|_, semaphore| semaphore.strong_count() > 0);
    let semaphore = new();
    callers.insert(caller.clone(), Arc::downgrade(&semaphore));
    semaphore
}

#[cfg(test)]
mod tests {
    use crate::blocking_pool::{BlockingPool, StopFlag, max_jobs};
    use crate::turns::Turns;
    use agent_spaces_types::caller::Caller;
    use futures_util::FutureExt;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;
    use std::time::Duration;

    fn named(name: &str) -> Arc<Caller> {
        Arc::new(Caller { name: Some(name.to_owned()), ..Caller::default() })
    }

    /// Works until its flag is set.
    fn endless(stop: &StopFlag) {
        while !stop.is_set() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[tokio::test]
    async fn a_run_has_one_permit_and_a_caller_at_most_half_of_them() {
        let of_ann = BlockingPool::new(&named("ann of the pool"));
        let first = of_ann.acquire().await;
        let soon = Duration::from_millis(50);
        assert!(tokio::time::timeout(soon, of_ann.acquire()).await.is_err(), "one job per run");
        // As many runs as the process has permits: the caller's own run out first, if there are several.
        let others: Vec<BlockingPool> = (0..max_jobs()).map(|_| BlockingPool::new(&named("ann of the pool"))).collect();
        let mut held = vec![first];
        for pool in &others {
            if let Ok(permit) = tokio::time::timeout(soon, pool.acquire()).await {
                held.push(permit);
            }
        }
        assert!(held.len() <= (max_jobs() / 2).max(1), "{} of {}", held.len(), max_jobs());
        drop(held);
        of_ann.acquire().await;
    }

    #[tokio::test]
    async fn a_waiting_future_that_is_not_polled_holds_no_permit() {
        let of_bob = || BlockingPool::new(&named("bob of the pool"));
        let mut held = Vec::new();
        for _ in 0..(max_jobs() / 2).max(1) {
            held.push(of_bob().acquire().await);
        }
        let pool = of_bob();
        let mut waiting = Box::pin(pool.acquire());
        assert!(waiting.as_mut().now_or_never().is_none(), "the caller has no permit left");
        drop(held);
        let soon = Duration::from_secs(20);
        assert!(tokio::time::timeout(soon, pool.acquire()).await.is_ok(), "the same run, in another call");
        assert!(tokio::time::timeout(soon, waiting).await.is_ok());
    }

    #[tokio::test]
    async fn an_abandoned_job_stops_and_releases_its_permit() {
        let pool = BlockingPool::new(&Arc::default());
        let (begin, begun) = tokio::sync::oneshot::channel();
        let (end, ended) = channel();
        let working = pool.clone();
        let work = tokio::spawn(async move {
            let endless = move |stop: &StopFlag| {
                let _ = begin.send(());
                endless(stop);
                let _ = end.send(());
            };
            working.run(endless).await
        });
        begun.await.unwrap();
        work.abort();
        assert!(work.await.is_err());
        assert!(ended.recv_timeout(Duration::from_secs(20)).is_ok(), "it was told to stop");
        assert_eq!(pool.run(|_| 7).await.unwrap(), 7, "the run's permit is free again");
    }

    #[tokio::test]
    async fn a_job_takes_a_turn_where_there_are_turns_and_no_permit_of_all() {
        let taken = Arc::new(AtomicUsize::new(0));
        let counted = taken.clone();
        let turns = Turns::new(move |work| {
            counted.fetch_add(1, Ordering::SeqCst);
            work
        });
        let _entered = turns.enter();
        let mut held = Vec::new();
        while let Some(permit) = BlockingPool::new(&Arc::default()).acquire().now_or_never() {
            held.push(permit);
        }
        let (pool, thread) = (BlockingPool::new(&named("cid of the pool")), std::thread::current().id());
        let job = pool.run(move |_| std::thread::current().id() == thread);
        assert!(job.await.unwrap(), "whoever polls the turns does it");
        let panicked: Result<(), _> = pool.run(|_| std::panic::resume_unwind(Box::new(()))).await;
        assert!(panicked.is_err());
        assert_eq!((pool.run(|_| 7).await.unwrap(), taken.load(Ordering::SeqCst)), (7, 3));
        drop(held);
    }
}
