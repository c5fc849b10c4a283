//! State of each caller: locks, permits, queue and activity.

use crate::queue_estimate::QueueEstimate;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// Runs with all their output that one caller reads at once: each may have megabytes.
const MAX_VIEWS: usize = 8;

/// Exports of the audit log that one caller reads at once: each has a megabyte in memory.
const MAX_EXPORTS: usize = 4;

/// Checks of types of one caller at once: each takes a core, and the compilers are shared by all callers.
const MAX_CHECKS: usize = 1;

/// State of all callers. The configuration bounds their number.
#[derive(Default)]
pub(crate) struct CallerStates(Mutex<HashMap<String, Arc<CallerState>>>);

struct CallerState {
    /// Held while something is counted and stored, so that two requests at once do not both pass a limit.
    making: Arc<tokio::sync::Mutex<()>>,
    views: Arc<Semaphore>,
    exports: Arc<Semaphore>,
    checks: Arc<Semaphore>,
    queue: Arc<QueueEstimate>,
    activity: Mutex<Activity>,
}

#[derive(Default)]
struct Activity {
    runs: usize,
    /// End of the last run.
    last: Option<Instant>,
}

/// A run of a caller in memory, until this is dropped.
pub(crate) struct ActiveRun(Arc<CallerState>);

impl CallerStates {
    fn of(&self, owner: &str) -> Arc<CallerState> {
        let mut states = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        states.entry(owner.to_owned()).or_default().clone()
    }

    /// Waits for the lock under which a caller's spaces and programs are counted and stored.
    pub(crate) async fn making(&self, owner: &str) -> OwnedMutexGuard<()> {
        self.of(owner).making.clone().lock_owned().await
    }

    /// Waits until a caller may read another run with all its output.
    pub(crate) async fn view_permit(&self, owner: &str) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        self.of(owner).views.clone().acquire_owned().await.ok()
    }

    /// Returns the permit of an export; `None` for a caller who has too many.
    pub(crate) fn export_permit(&self, owner: &str) -> Option<OwnedSemaphorePermit> {
        self.of(owner).exports.clone().try_acquire_owned().ok()
    }

    /// Waits until a caller may have the types of another program checked.
    pub(crate) async fn check_permit(&self, owner: &str) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        self.of(owner).checks.clone().acquire_owned().await.ok()
    }

    /// Returns what is known of the runs of a caller that wait for their turn.
    pub(crate) fn queue(&self, owner: &str) -> Arc<QueueEstimate> {
        self.of(owner).queue.clone()
    }

    /// Counts a run of a caller in memory.
    pub(crate) fn active_run(&self, owner: &str) -> ActiveRun {
        let state = self.of(owner);
        state.activity().runs += 1;
        ActiveRun(state)
    }

    /// Returns the time until which a caller had runs in memory: now if it has some, `None` if it never had.
    pub(crate) fn last_activity(&self, owner: &str) -> Option<Instant> {
        let state = self.of(owner);
        let activity = state.activity();
        if activity.runs > 0 { Some(Instant::now()) } else { activity.last }
    }
}

impl Default for CallerState {
    fn default() -> CallerState {
        CallerState {
            making: Arc::default(),
            views: Arc::new(Semaphore::new(MAX_VIEWS)),
            exports: Arc::new(Semaphore::new(MAX_EXPORTS)),
            checks: Arc::new(Semaphore::new(MAX_CHECKS)),
            queue: Arc::default(),
            activity: Mutex::default(),
        }
    }
}

impl CallerState {
    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ActiveRun {
    fn drop(&mut self) {
        let mut activity = self.0.activity();
        activity.runs = activity.runs.saturating_sub(1);
        activity.last = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::{CallerStates, MAX_VIEWS};
    use futures_util::FutureExt;
    use std::time::Duration;

    #[tokio::test]
    async fn a_caller_is_active_until_its_last_run_has_ended() {
        let callers = CallerStates::default();
        assert!(callers.last_activity("ann").is_none());
        let (first, second) = (callers.active_run("ann"), callers.active_run("ann"));
        drop(first);
        let busy = callers.last_activity("ann").unwrap();
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert!(callers.last_activity("ann").unwrap() > busy, "it goes on");
        drop(second);
        let ended = callers.last_activity("ann");
        assert!(ended.is_some() && callers.last_activity("ann") == ended, "it does not change any more");
        assert!(callers.last_activity("bob").is_none());
    }

    #[tokio::test]
    async fn locks_and_permits_are_of_one_caller() {
        let callers = CallerStates::default();
        let making = callers.making("ann").await;
        assert!(callers.making("ann").now_or_never().is_none() && callers.making("bob").now_or_never().is_some());
        drop(making);
        assert!(callers.making("ann").now_or_never().is_some());
        let mut views = Vec::new();
        for _ in 0..MAX_VIEWS {
            views.push(callers.view_permit("ann").await);
        }
        assert!(callers.view_permit("ann").now_or_never().is_none());
        assert!(callers.view_permit("bob").now_or_never().is_some());
        views.pop();
        assert!(callers.view_permit("ann").now_or_never().is_some());
        let check = callers.check_permit("ann").await;
        assert!(callers.check_permit("ann").now_or_never().is_none());
        assert!(callers.check_permit("bob").now_or_never().is_some());
        drop(check);
        assert!(callers.check_permit("ann").now_or_never().is_some());
    }
}
