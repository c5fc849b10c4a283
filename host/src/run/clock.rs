//! How long a run has been going, without the time in which it waited for a person.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The clock of one run; clones are one.
#[derive(Clone, Debug)]
pub(crate) struct RunClock {
    hands: Arc<Mutex<Hands>>,
    /// That of the run that waits for this one: it stands while this one stands.
    parent: Option<Arc<RunClock>>,
}

#[derive(Debug)]
struct Hands {
    started: Instant,
    /// How long it stood still, up to the last time that it went on.
    stood: Duration,
    /// How many hold it, and since when it stands.
    held: Option<(u32, Instant)>,
}

/// Longer than any run, and short enough to be added to an instant.
pub(super) const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// How long is waited at least before a clock that stood is looked at again.
const WAIT: Duration = Duration::from_millis(10);

/// Holds the clock for as long as it lives.
pub(crate) struct Held<'a>(&'a RunClock);

impl RunClock {
    pub(crate) fn new(started: Instant) -> RunClock {
        let hands = Hands { started, stood: Duration::ZERO, held: None };
        RunClock { hands: Arc::new(Mutex::new(hands)), parent: None }
    }

    /// The clock of a run that another one waits for.
    pub(crate) fn under(started: Instant, parent: Option<&RunClock>) -> RunClock {
        RunClock { parent: parent.cloned().map(Arc::new), ..RunClock::new(started) }
    }

    /// How much of `limit` is left. While the clock is held this does not change.
    pub(crate) fn left(&self, limit: Duration) -> Duration {
        let hands = self.hands();
        let now = hands.held.map_or_else(Instant::now, |(_, since)| since);
        limit.saturating_sub(now.duration_since(hands.started).saturating_sub(hands.stood))
    }

    /// Waits for something until this clock has gone on for so long; nothing where that was not enough.
    pub(crate) async fn timeout<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let begun = self.left(FAR);
        let mut work = pin!(work);
        let mut left = limit;
        loop {
            if let Ok(done) = tokio::time::timeout(left, &mut work).await {
                return Some(done);
            }
            left = limit.saturating_sub(begun.saturating_sub(self.left(FAR)));
            if left.is_zero() {
                return None;
            }
            // The clock stood meanwhile, and may stand still.
            left = left.max(WAIT);
        }
    }

    /// Stops the clock until what is given is dropped. Says whether it went before.
    pub(crate) fn hold(&self) -> (Held<'_>, bool) {
        (Held(self), self.stop())
    }

    fn stop(&self) -> bool {
        if let Some(parent) = &self.parent {
            parent.stop();
        }
        let mut hands = self.hands();
        let (count, since) = hands.held.unwrap_or_else(|| (0, Instant::now()));
        hands.held = Some((count + 1, since));
        count == 0
    }

    fn hands(&self) -> std::sync::MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held<'_> {
    /// Lets the clock go; gives how long it stood if nobody else holds it.
    pub(crate) fn release(self) -> Option<Duration> {
        let stood = self.0.let_go();
        std::mem::forget(self);
        stood
    }
}

impl RunClock {
    fn let_go(&self) -> Option<Duration> {
        if let Some(parent) = &self.parent {
            parent.let_go();
        }
        let mut hands = self.hands();
        match hands.held.take() {
            Some((1, since)) => {
                let stood = since.elapsed();
                hands.stood += stood;
                Some(stood)
            }
            Some((count, since)) => {
                hands.held = Some((count.saturating_sub(1), since));
                None
            }
            None => None,
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.let_go();
    }
}

#[cfg(test)]
mod tests {
    use super::RunClock;
    use std::time::{Duration, Instant};

    const LIMIT: Duration = Duration::from_secs(10);

    #[test]
    fn time_that_somebody_holds_does_not_count() {
        let clock = RunClock::new(Instant::now() - Duration::from_secs(4));
        let (first, was_going) = clock.hold();
        assert!(was_going);
        let (second, was_going) = clock.hold();
        assert!(!was_going);
        let left = clock.left(LIMIT);
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(clock.left(LIMIT), left, "it stands");
        assert_eq!(first.release(), None, "somebody else holds it");
        assert_eq!(clock.left(LIMIT), left);
        let stood = second.release().unwrap();
        assert!(stood >= Duration::from_millis(20));
        assert!(clock.left(LIMIT) <= left);
        assert!(clock.left(LIMIT) > left - Duration::from_secs(1));
    }

    #[test]
    fn a_run_that_waits_for_another_stands_with_it() {
        let parent = RunClock::new(Instant::now());
        let child = RunClock::under(Instant::now(), Some(&parent));
        let held = child.hold();
        let left = parent.left(LIMIT);
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(parent.left(LIMIT), left);
        drop(held);
        std::thread::sleep(Duration::from_millis(5));
        assert!(parent.left(LIMIT) < left);
    }

    #[tokio::test]
    async fn a_wait_does_not_count_the_time_in_which_the_clock_stands() {
        const SHORT: Duration = Duration::from_millis(40);
        let clock = RunClock::new(Instant::now());
        let held = clock.hold();
        let work = async {
            tokio::time::sleep(SHORT * 4).await;
            drop(held);
            "done"
        };
        assert_eq!(clock.timeout(SHORT, work).await, Some("done"));
        let begun = Instant::now();
        assert_eq!(clock.timeout(SHORT, std::future::pending::<()>()).await, None);
        assert!(begun.elapsed() >= SHORT);
    }

    #[test]
    fn what_is_dropped_lets_go_too_and_time_runs_out() {
        let clock = RunClock::new(Instant::now() - Duration::from_secs(11));
        drop(clock.hold());
        assert_eq!(clock.left(LIMIT), Duration::ZERO);
    }
}
