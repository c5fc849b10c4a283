//! Sliding-window rate limiter.

use crate::rate::Rate;
use crate::window::Window;
use agent_spaces_types::rate_limit::Period;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Entries of one rate limit in memory: exact up to this many calls in a period, coarser beyond.
const MAX_ENTRIES: usize = 1_024;

/// One rate limit. All takers of a policy hold one lock.
pub(crate) struct Limiter {
    pub(crate) rate: Rate,
    /// Location of the limit in the configuration.
    pub(crate) place: String,
    /// Key among all rate limits of its space.
    pub(crate) key: String,
    /// Times in nanoseconds since the policy was created.
    calls: Mutex<Window>,
}

impl Limiter {
    pub(crate) fn new(rate: Rate, place: String, key: String) -> Limiter {
        Limiter { rate, place, key, calls: Mutex::default() }
    }

    /// Returns how long until the next call is allowed, or `None` if it is allowed now.
    pub(crate) fn wait(&self, now: u64) -> Option<Duration> {
        let period = u64::try_from(self.period().as_nanos()).unwrap_or(u64::MAX);
        self.calls().wait(now, period, self.rate.requests).map(Duration::from_nanos)
    }

    /// Counts one call.
    pub(crate) fn add(&self, now: u64) {
        self.calls().add(now, MAX_ENTRIES);
    }

    /// Uncounts the last call, which was not made.
    pub(crate) fn give_back(&self) {
        self.calls().give_back();
    }

    pub(crate) fn period(&self) -> Duration {
        Duration::from_secs(match self.rate.period {
            Period::Second => 1,
            Period::Minute => 60,
            Period::Hour => 60 * 60,
            Period::Day => 24 * 60 * 60,
        })
    }

    fn calls(&self) -> MutexGuard<'_, Window> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Limiter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} by {}", self.rate, self.place)
    }
}
