//! State of each caller: locks, permits and activity.

use crate::service::Service;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// Runs with all their output that one caller reads at once: each may have megabytes.
const MAX_VIEWS: usize = 8;

/// State of all callers. The configuration bounds their number.
#[derive(Default)]
pub(crate) struct CallerStates(Mutex<HashMap<String, Arc<CallerState>>>);

struct CallerState {
    /// Held while something is counted and stored, so that two requests at once do not both pass a limit.
    making: Arc<tokio::sync::Mutex<()>>,
    views: Arc<Semaphore>,
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
}

impl Default for CallerState {
    fn default() -> CallerState {
        CallerState { making: Arc::default(), views: Arc::new(Semaphore::new(MAX_VIEWS)), activity: Mutex::default() }
    }
}

impl CallerState {
    fn activity(&self) -> MutexGuard<'_, Activity> {
        self.activity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Waits for the lock under which a caller's spaces and programs are counted and stored.
    pub(crate) async fn making(&self, owner: &str) -> OwnedMutexGuard<()> {
        self.0.callers.of(owner).making.clone().lock_owned().await
    }

    /// Waits until a caller may read another run with all its output.
    pub(crate) async fn view_permit(&self, owner: &str) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed.
        self.0.callers.of(owner).views.clone().acquire_owned().await.ok()
    }

    /// Counts a run of a caller in memory.
    pub(crate) fn active_run(&self, owner: &str) -> ActiveRun {
        let state = self.0.callers.of(owner);
        state.activity().runs += 1;
        ActiveRun(state)
    }

    /// Returns the time until which a caller had runs in memory: now if it has some, `None` if it never had.
    pub fn last_activity(&self, owner: &str) -> Option<Instant> {
        let state = self.0.callers.of(owner);
        let activity = state.activity();
        if activity.runs > 0 { Some(Instant::now()) } else { activity.last }
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
    use super::MAX_VIEWS;
    use crate::service::test_service;
    use futures_util::FutureExt;
    use std::time::Duration;

    #[tokio::test]
    async fn a_caller_is_active_until_its_last_run_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        assert!(service.last_activity("ann").is_none());
        let (first, second) = (service.active_run("ann"), service.active_run("ann"));
        drop(first);
        let busy = service.last_activity("ann").unwrap();
        tokio::time::sleep(Duration::from_millis(2)).await;
        assert!(service.last_activity("ann").unwrap() > busy, "it goes on");
        drop(second);
        let ended = service.last_activity("ann");
        assert!(ended.is_some() && service.last_activity("ann") == ended, "it does not change any more");
        assert!(service.last_activity("bob").is_none());
    }

    #[tokio::test]
    async fn locks_and_permits_are_of_one_caller() {
        let folder = tempfile::tempdir().unwrap();
        let service = test_service(folder.path());
        let making = service.making("ann").await;
        assert!(service.making("ann").now_or_never().is_none() && service.making("bob").now_or_never().is_some());
        drop(making);
        assert!(service.making("ann").now_or_never().is_some());
        let mut views = Vec::new();
        for _ in 0..MAX_VIEWS {
            views.push(service.view_permit("ann").await);
        }
        assert!(service.view_permit("ann").now_or_never().is_none());
        assert!(service.view_permit("bob").now_or_never().is_some());
        views.pop();
        assert!(service.view_permit("ann").now_or_never().is_some());
    }
}
