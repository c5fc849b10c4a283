//! One rate, kept with `governor`: what was taken can be given back while nobody else is looking.

use crate::rates::Rate;
use capability_gen::definition::Period;
use governor::clock;
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::{NotKeyed, StateStore};
use governor::{Quota, RateLimiter};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A number that only the holder of the policy's lock reads and writes.
#[derive(Clone, Default)]
struct Shared(Arc<AtomicU64>);

impl Shared {
    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// The time since a policy was made, as its limiters are told.
#[derive(Clone, Default)]
pub(crate) struct Clock(Shared);

impl Clock {
    pub(crate) fn set(&self, since_start: Duration) {
        // Half of what there is, so that adding a period to it cannot overflow.
        let most = u64::MAX / 2;
        self.0.set(u64::try_from(since_start.as_nanos()).map_or(most, |nanos| nanos.min(most)));
    }
}

impl clock::Clock for Clock {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        self.0.get().into()
    }
}

/// How much was taken: the time at which all of it is forgotten.
#[derive(Clone, Default)]
struct Level(Shared);

impl StateStore for Level {
    type Key = NotKeyed;

    fn measure_and_replace<T, F, E>(&self, _key: &NotKeyed, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let (outcome, level) = measure(Some(self.0.get().into()))?;
        self.0.set(level.into());
        Ok(outcome)
    }
}

/// One rate. All takers of a policy hold one lock.
pub(crate) struct Limiter {
    pub(crate) rate: Rate,
    /// Where the rate stands.
    pub(crate) place: String,
    clock: Clock,
    level: Level,
    /// Nothing for a rate of nothing.
    gate: Option<RateLimiter<NotKeyed, Level, Clock, NoOpMiddleware<Nanos>>>,
}

impl Limiter {
    pub(crate) fn new(rate: Rate, place: String, clock: Clock) -> Limiter {
        // More than four thousand million in a period is as good as no limit.
        let requests = NonZeroU32::new(u32::try_from(rate.requests).unwrap_or(u32::MAX));
        let quota = requests.and_then(|requests| {
            let interval = (period(rate.period) / requests.get()).max(Duration::from_nanos(1));
            Quota::with_period(interval).map(|quota| quota.allow_burst(requests))
        });
        let level = Level::default();
        let gate = quota.map(|quota| RateLimiter::new(quota, level.clone(), clock.clone()));
        Limiter { rate, place, clock, level, gate }
    }

    /// Takes one, or says how long until there is one.
    pub(crate) fn take(&self) -> Result<(), Duration> {
        let Some(gate) = &self.gate else { return Err(period(self.rate.period)) };
        let now = clock::Clock::now(&self.clock);
        gate.check().map_err(|refused| refused.wait_time_from(now))
    }

    pub(crate) fn level(&self) -> u64 {
        self.level.0.get()
    }

    pub(crate) fn set_level(&self, level: u64) {
        self.level.0.set(level);
    }
}

impl fmt::Display for Limiter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} by {}", self.rate, self.place)
    }
}

fn period(period: Period) -> Duration {
    Duration::from_secs(match period {
        Period::Second => 1,
        Period::Minute => 60,
        Period::Hour => 60 * 60,
        Period::Day => 24 * 60 * 60,
    })
}
