//! Runs in the memory of this process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Runs that this process executes, or that wait here for a place. Clones share state.
#[derive(Clone)]
pub(crate) struct LiveRuns {
    runs: Arc<Mutex<HashMap<String, CancellationToken>>>,
    count: watch::Sender<usize>,
}

impl Default for LiveRuns {
    fn default() -> LiveRuns {
        LiveRuns { runs: Arc::default(), count: watch::Sender::new(0) }
    }
}

/// A run in memory, until this is dropped.
pub(crate) struct LiveRun {
    of: LiveRuns,
    id: String,
    /// Cancels it.
    pub(crate) cancel: CancellationToken,
}

impl LiveRuns {
    /// Adds a run; `None` if it is in memory already.
    pub(crate) fn add(&self, id: &str) -> Option<LiveRun> {
        let cancel = CancellationToken::new();
        let mut runs = self.runs();
        if runs.contains_key(id) {
            return None;
        }
        runs.insert(id.to_owned(), cancel.clone());
        self.count.send_replace(runs.len());
        Some(LiveRun { of: self.clone(), id: id.to_owned(), cancel })
    }

    /// Adds a run as soon as it is not in memory any more.
    pub(crate) async fn enter(&self, id: &str) -> LiveRun {
        let mut count = self.count.subscribe();
        loop {
            if let Some(run) = self.add(id) {
                return run;
            }
            // The sender is held by `self`.
            let _is_open = count.changed().await;
        }
    }

    /// Returns true if a run is in memory.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.runs().contains_key(id)
    }

    /// Cancels a run. Returns false if it is not in memory.
    pub(crate) fn cancel(&self, id: &str) -> bool {
        let token = self.runs().get(id).cloned();
        token.inspect(CancellationToken::cancel).is_some()
    }

    /// Waits until none of these runs is in memory, at most for this time.
    pub(crate) async fn left(&self, ids: &[String], within: Duration) {
        let mut count = self.count.subscribe();
        let left = async {
            while ids.iter().any(|id| self.contains(id)) {
                // The sender is held by `self`.
                let _is_open = count.changed().await;
            }
        };
        let _is_in_time = tokio::time::timeout(within, left).await;
    }

    /// Waits until there are none.
    pub(crate) async fn ended(&self) {
        // The sender is held by `self`.
        let mut count = self.count.subscribe();
        let _is_empty = count.wait_for(|count| *count == 0).await;
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for LiveRun {
    fn drop(&mut self) {
        let mut runs = self.of.runs();
        runs.remove(&self.id);
        self.of.count.send_replace(runs.len());
    }
}

#[cfg(test)]
mod tests {
    use super::LiveRuns;
    use std::time::Duration;

    #[tokio::test]
    async fn a_run_is_in_memory_once_and_until_it_is_dropped() {
        let live = LiveRuns::default();
        let run = live.add("run_1").unwrap();
        assert!(live.add("run_1").is_none() && live.contains("run_1") && *live.count.borrow() == 1);
        assert!(live.cancel("run_1") && run.cancel.is_cancelled() && !live.cancel("run_2"));
        drop(run);
        live.ended().await;
        assert!(!live.contains("run_1") && live.add("run_1").is_some());
    }

    #[tokio::test]
    async fn runs_that_leave_are_waited_for() {
        let live = LiveRuns::default();
        let (first, other) = (live.add("run_1").unwrap(), live.add("run_2").unwrap());
        let ids = ["run_1".to_owned(), "run_3".to_owned()];
        live.left(&ids, Duration::from_millis(1)).await;
        assert!(live.contains("run_1"), "the time is over before");
        let leaving = tokio::spawn(async move {
            tokio::task::yield_now().await;
            drop(first);
        });
        live.left(&ids, Duration::from_secs(60)).await;
        assert!(!live.contains("run_1") && live.contains("run_2"), "others do not count");
        leaving.await.unwrap();
        drop(other);
    }
}
