//! Places of runs in this process, and whose turn it is when there are not enough.
//!
//! A run needs a free place of the process, of its tenant and of its caller. One that waits does so in the queue of its
//! caller. A place that becomes free goes to the tenant that has the fewest, among equals to the one whose last start is
//! longest ago, and in the tenant to a caller by the same rule. So a tenant with many waiting runs delays another by one
//! run, not by its queue. Runs that have a place take turns on the processors: see [`processors`].

mod processors;
mod state;

pub(crate) use processors::{Account, Processors};

use processors::Panicked;
use state::State;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Places of a process. Clones share state.
#[derive(Clone)]
pub(crate) struct Places {
    state: Arc<Mutex<State>>,
    processors: Processors,
}

/// Whose run needs a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// Key of the tenant.
    pub(crate) tenant: Arc<str>,
    /// Most places of the tenant in this process.
    pub(crate) most: usize,
    /// True if that is a quota of the tenant: more hosts would not give it more.
    pub(crate) is_quota: bool,
    /// Name of the caller.
    pub(crate) caller: Arc<str>,
}

/// Place of a run, until it is dropped.
pub(crate) struct Place {
    places: Places,
    seat: Seat,
}

/// Load of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Places.
    pub places: usize,
    /// Runs that have one.
    pub running: usize,
    /// Runs that wait for one here, but for those that a quota of their tenant keeps waiting.
    pub waiting: usize,
    /// Time for which the first of them has waited.
    pub longest_wait: Duration,
}

impl Places {
    /// Creates this many places, of which one caller has at most `of_caller`; at least one of each. Their runs compute on
    /// these processors.
    pub(crate) fn new(places: usize, of_caller: usize, processors: Processors) -> Places {
        let state = State::new(places.max(1), of_caller.max(1));
        Places { state: Arc::new(Mutex::new(state)), processors }
    }

    /// Returns a place if one is free.
    pub(crate) fn try_enter(&self, seat: &Seat) -> Option<Place> {
        // Whoever waits could not take it either: free places are given away at once.
        self.state().take(seat).then(|| self.place(seat))
    }

    /// Returns true if a place is free.
    pub(crate) fn is_free(&self, seat: &Seat) -> bool {
        self.state().is_free(seat)
    }

    /// Returns the answer to a request of a tenant, which takes turns with runs and with requests of others on the
    /// processors. Apart from its runs: a tenant whose runs compute would wait for each of them.
    pub(crate) fn answer<F>(&self, tenant: &Arc<str>, answering: F) -> impl Future<Output = F::Output> + Send + use<F>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.processors.share(requests_of(tenant), answering)
    }

    /// Computes something for a request, in turn with runs and other requests.
    pub(crate) fn compute<T, F>(
        &self,
        tenant: &Arc<str>,
        work: F,
    ) -> impl Future<Output = Result<T, Panicked>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        self.processors.compute(requests_of(tenant), work)
    }

    /// Waits for a place. Dropping the future leaves the queue.
    pub(crate) async fn enter(&self, seat: &Seat) -> Place {
        if let Some(place) = self.try_enter(seat) {
            return place;
        }
        let (number, given) = self.state().wait(seat);
        let mut waiting = Waiting { places: self, seat, number, is_over: false };
        // The sender stays in the queue until it has sent.
        let _is_given = given.await;
        waiting.is_over = true;
        self.place(seat)
    }

    /// Returns the load.
    pub(crate) fn load(&self) -> Load {
        self.state().load()
    }

    fn place(&self, seat: &Seat) -> Place {
        Place { places: self.clone(), seat: seat.clone() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Returns the execution of the run that has this place, which takes turns with others on the processors.
    pub(crate) fn execute<F>(&self, execution: F) -> impl Future<Output = F::Output> + Send + use<F>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let tenant = self.seat.tenant.clone();
        self.places.processors.share(Account { name: tenant.clone(), tenant }, execution)
    }
}

/// Requests of a tenant take turns on the processors by another name than its runs.
fn requests_of(tenant: &Arc<str>) -> Account {
    Account { name: format!("requests of {tenant}").into(), tenant: tenant.clone() }
}

impl fmt::Debug for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Place").field("seat", &self.seat).finish_non_exhaustive()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.places.state().give_back(&self.seat);
    }
}

/// A run in a queue.
struct Waiting<'a> {
    places: &'a Places,
    seat: &'a Seat,
    number: u64,
    is_over: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut state = self.places.state();
        if !state.leave(self.seat, self.number) {
            // It got a place at the same moment.
            state.give_back(self.seat);
        }
    }
}

#[cfg(test)]
mod noise_tests;
#[cfg(test)]
mod tests;
