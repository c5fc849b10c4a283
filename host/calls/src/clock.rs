//! Run clock: elapsed time of a run, paused while it waits for approval.

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Clock of one run. Clones share state.
#[derive(Clone, Debug)]
pub struct RunClock {
    state: Arc<Mutex<ClockState>>,
    /// Clock of the run that waits for this one: it is paused while this one is.
    parent: Option<Arc<RunClock>>,
}

#[derive(Debug)]
struct ClockState {
    started: Instant,
    /// Total duration of earlier pauses.
    paused: Duration,
    /// Number of holders, and start of the pause.
    held: Option<(u32, Instant)>,
}

/// A year: longer than any run, and short enough to be added to an [`Instant`].
pub const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);

/// Minimum wait before a clock that was paused is checked again.
const MIN_WAIT: Duration = Duration::from_millis(10);

/// Guard that pauses the clock while it lives.
#[derive(Debug)]
pub struct Held(Option<RunClock>);

impl RunClock {
    /// Creates a clock that started at `started`.
    pub fn new(started: Instant) -> RunClock {
        let state = ClockState { started, paused: Duration::ZERO, held: None };
        RunClock { state: Arc::new(Mutex::new(state)), parent: None }
    }

    /// Creates the clock of a run that another one waits for.
    pub fn under(started: Instant, parent: Option<&RunClock>) -> RunClock {
        RunClock { parent: parent.cloned().map(Arc::new), ..RunClock::new(started) }
    }

    /// Returns the time left of `limit`. It does not change while the clock is paused.
    pub fn left(&self, limit: Duration) -> Duration {
        let state = self.state();
        let now = state.held.map_or_else(Instant::now, |(_, since)| since);
        limit.saturating_sub(now.duration_since(state.started).saturating_sub(state.paused))
    }

    /// Awaits `work` with a timeout on this clock. Returns `None` after the timeout.
    pub async fn timeout<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
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
            // The clock was paused meanwhile, and may still be.
            left = left.max(MIN_WAIT);
        }
    }

    /// Pauses the clock until the guard is dropped. The flag is true if it was running before.
    pub fn hold(&self) -> (Held, bool) {
        let was_running = self.pause();
        (Held(Some(self.clone())), was_running)
    }

    /// Pauses the clock until one [`RunClock::resume`]. Returns true if it was running before.
    fn pause(&self) -> bool {
        if let Some(parent) = &self.parent {
            parent.pause();
        }
        let mut state = self.state();
        let (count, since) = state.held.unwrap_or_else(|| (0, Instant::now()));
        state.held = Some((count + 1, since));
        count == 0
    }

    /// Undoes one pause. Returns its duration if nothing else holds the clock.
    fn resume(&self) -> Option<Duration> {
        if let Some(parent) = &self.parent {
            parent.resume();
        }
        let mut state = self.state();
        match state.held.take() {
            Some((1, since)) => {
                let paused = since.elapsed();
                state.paused += paused;
                Some(paused)
            }
            Some((count, since)) => {
                state.held = Some((count.saturating_sub(1), since));
                None
            }
            None => None,
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, ClockState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Releases the clock. Returns the duration of the pause if no other guard holds it.
    pub fn release(mut self) -> Option<Duration> {
        self.0.take()?.resume()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(clock) = self.0.take() {
            clock.resume();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::clock::RunClock;
    use std::time::{Duration, Instant};

    const LIMIT: Duration = Duration::from_secs(10);

    #[test]
    fn paused_time_does_not_count() {
        let clock = RunClock::new(Instant::now() - Duration::from_secs(4));
        let (first, was_going) = clock.hold();
        assert!(was_going);
        let (second, was_going) = clock.hold();
        assert!(!was_going);
        let left = clock.left(LIMIT);
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(clock.left(LIMIT), left, "it is paused");
        assert_eq!(first.release(), None, "another guard holds it");
        assert_eq!(clock.left(LIMIT), left);
        let paused = second.release().unwrap();
        assert!(paused >= Duration::from_millis(20));
        assert!(clock.left(LIMIT) <= left);
        assert!(clock.left(LIMIT) > left - Duration::from_secs(1));
    }

    #[test]
    fn a_parent_clock_is_paused_with_its_child() {
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
    async fn a_timeout_does_not_count_paused_time() {
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
    fn dropping_the_guard_resumes_the_clock_and_time_runs_out() {
        let clock = RunClock::new(Instant::now() - Duration::from_secs(11));
        drop(clock.hold());
        assert_eq!(clock.left(LIMIT), Duration::ZERO);
    }
}
