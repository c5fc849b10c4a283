//! Work on large values, away from the threads that serve.
//!
//! Parsing, checking and encoding a few megabytes takes tenths of a second. Done where requests are served, it holds up
//! everybody else; so it is done on threads for blocking, a few at one time: one piece of a run, and a caller no more than
//! half of the places. Those who wait are no more than the calls that runs may have in flight.
//!
//! Whoever waits for a turn holds nothing meanwhile. wasmtime does not poll what answers a run's calls while its guest
//! computes or stands still in another call; a place that such a one was given, or a part of what it needs, would be
//! nobody's until the run's time is up.
//!
//! Work whose call is gone, because its run ended or its time is up, is told to [`Stop`], and holds its place until it
//! has: abandoned work does not pile up.

use crate::handlers::CapabilityError;
use crate::run::Caller;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// What is smaller is done where it is: a tenth of a millisecond, which is less than changing threads may take.
pub(crate) const MAX_INLINE_BYTES: u64 = 64 << 10;

/// Pieces of work at one time in this process: all cores but one, which serves.
static PLACES: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(places())));

/// Told whenever a turn is over.
static OVER: Notify = Notify::const_new();

/// Held while a turn is taken: all that it needs, or nothing.
static TAKING: Mutex<()> = Mutex::new(());

/// The places of callers who have a name.
static CALLERS: LazyLock<Mutex<HashMap<Arc<Caller>, Weak<Semaphore>>>> = LazyLock::new(Mutex::default);

fn places() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1)
}

/// The turns of one run; clones are one.
#[derive(Clone, Debug)]
pub(crate) struct Turns {
    run: Arc<Semaphore>,
    caller: Arc<Semaphore>,
}

/// A place in which work may be done; leaving is dropping it.
pub(crate) struct Turn {
    places: Vec<OwnedSemaphorePermit>,
}

impl Turn {
    /// Waits until there is room in all of these.
    async fn in_all<const N: usize>(rooms: [&Arc<Semaphore>; N]) -> Turn {
        loop {
            // Listens before it looks, so that nothing falls in between.
            let mut over = pin!(OVER.notified());
            over.as_mut().enable();
            if let Some(places) = try_all(rooms) {
                return Turn { places };
            }
            over.await;
        }
    }
}

fn try_all<const N: usize>(rooms: [&Arc<Semaphore>; N]) -> Option<Vec<OwnedSemaphorePermit>> {
    let _taking = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
    rooms.into_iter().map(|room| room.clone().try_acquire_owned().ok()).collect()
}

impl Drop for Turn {
    fn drop(&mut self) {
        // They are free before anybody is told.
        self.places.clear();
        OVER.notify_waiters();
    }
}

/// Whether somebody still waits for a piece of work.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    #[cfg(any(feature = "compiler", test))]
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Tells work to stop when whoever waits for it is gone.
struct Waiting(Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

impl Turns {
    /// Of a new run of this caller.
    pub(crate) fn new(caller: &Arc<Caller>) -> Turns {
        Turns { run: Arc::new(Semaphore::new(1)), caller: places_of(caller) }
    }

    /// Waits for a turn.
    pub(crate) async fn take(&self) -> Turn {
        Turn::in_all([&self.run, &self.caller, &*PLACES]).await
    }

    /// Does work on a thread for blocking when it is its turn. The work must look at its [`Stop`] now and then.
    pub(crate) async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Stop) -> T + Send + 'static,
    ) -> Result<T, CapabilityError> {
        let turn = self.take().await;
        let waiting = Waiting(Stop::default());
        let stop = waiting.0.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work(&stop)
        });
        done.await.map_err(|_| CapabilityError::failed("The call could not be worked on"))
    }

    /// Does something that waits for other processes on a thread for blocking: one of a run at a time, so that a run holds
    /// one such thread. It takes no place of those who compute.
    pub(crate) async fn waiting<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, CapabilityError> {
        let turn = Turn::in_all([&self.run]).await;
        let done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work()
        });
        done.await.map_err(|_| CapabilityError::failed("The call could not be worked on"))
    }

    /// Does work on what is only borrowed when it is its turn: here, as [`Turn::work`] does.
    pub(crate) async fn in_place<T>(&self, work: impl FnOnce() -> T) -> T {
        self.take().await.work(work)
    }
}

impl Turn {
    /// Does work here, with all that this thread would do otherwise handed to another. A runtime of one thread has no
    /// other.
    pub(crate) fn work<T>(self, work: impl FnOnce() -> T) -> T {
        match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
            Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
            _ => work(),
        }
    }
}

fn places_of(caller: &Arc<Caller>) -> Arc<Semaphore> {
    let new = || Arc::new(Semaphore::new((places() / 2).max(1)));
    // Nobody in particular is not one caller.
    if caller.name.is_none() {
        return new();
    }
    let mut callers = CALLERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = callers.get(caller).and_then(Weak::upgrade) {
        return known;
    }
    callers.retain(|_, places| places.strong_count() > 0);
    let places = new();
    callers.insert(caller.clone(), Arc::downgrade(&places));
    places
}

#[cfg(test)]
mod tests {
    use super::{Stop, Turns, places};
    use crate::run::Caller;
    use futures_util::FutureExt;
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    fn named(name: &str) -> Arc<Caller> {
        Arc::new(Caller { name: Some(name.to_owned()), ..Caller::default() })
    }

    /// Works until it is told to stop.
    fn endless(stop: &Stop) {
        while !stop.is_set() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[tokio::test]
    async fn a_run_has_one_turn_at_a_time_and_a_caller_leaves_places_to_others() {
        let of_ann = Turns::new(&named("ann of turns"));
        let first = of_ann.take().await;
        let soon = Duration::from_millis(50);
        assert!(tokio::time::timeout(soon, of_ann.take()).await.is_err(), "one turn to a run");
        // As many runs as there are places: the caller's own end first, where there are several.
        let others: Vec<Turns> = (0..places()).map(|_| Turns::new(&named("ann of turns"))).collect();
        let mut held = vec![first];
        for turns in &others {
            if let Ok(turn) = tokio::time::timeout(soon, turns.take()).await {
                held.push(turn);
            }
        }
        assert!(held.len() <= (places() / 2).max(1), "{} of {}", held.len(), places());
        drop(held);
        of_ann.take().await;
    }

    #[tokio::test]
    async fn who_waits_and_is_not_polled_keeps_nothing_from_others() {
        let of_bob = || Turns::new(&named("bob of turns"));
        let mut held = Vec::new();
        for _ in 0..(places() / 2).max(1) {
            held.push(of_bob().take().await);
        }
        let turns = of_bob();
        let mut waiting = Box::pin(turns.take());
        assert!(waiting.as_mut().now_or_never().is_none(), "the caller has all of their places");
        drop(held);
        let soon = Duration::from_secs(20);
        assert!(tokio::time::timeout(soon, turns.take()).await.is_ok(), "the same run, in another call");
        assert!(tokio::time::timeout(soon, waiting).await.is_ok());
    }

    #[tokio::test]
    async fn abandoned_work_stops_and_gives_its_place_back() {
        let turns = Turns::new(&Arc::default());
        let (begin, begun) = tokio::sync::oneshot::channel();
        let (end, ended) = channel();
        let working = turns.clone();
        let work = tokio::spawn(async move {
            let endless = move |stop: &Stop| {
                let _ = begin.send(());
                endless(stop);
                let _ = end.send(());
            };
            working.off_thread(endless).await
        });
        begun.await.unwrap();
        work.abort();
        assert!(work.await.is_err());
        assert!(ended.recv_timeout(Duration::from_secs(20)).is_ok(), "it was told to stop");
        assert_eq!(turns.off_thread(|_| 7).await.unwrap(), 7, "the run's turn is free again");
    }
}
