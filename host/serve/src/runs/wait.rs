//! Waiting for a run: until it ends, needs an approval, or a deadline passes.

use super::{Ended, RunEnd, ServedRun};
use agent_spaces_approvals::Request;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// A pending approval is reported after this time without other progress of the run.
const QUIET_INTERVAL: Duration = Duration::from_millis(500);

/// A pending approval is reported after this time at the latest, even if other calls progress.
const MAX_DELAY: Duration = Duration::from_secs(3);

/// Time a run continues without a waiting request: enough for an agent to think and to come back with `resume`.
const ABANDONED_AFTER: Duration = Duration::from_secs(5 * 60);

/// Result of waiting for a run.
pub(crate) enum Waited {
    Ended(Arc<Ended>),
    /// The durable run left memory.
    Left,
    /// The run continues; these approvals are pending and new.
    News(Vec<Arc<Request>>),
    /// The run continues and the deadline passed. These approvals are pending.
    TimeOver(Vec<Arc<Request>>),
}

impl ServedRun {
    /// Waits for its end or for new pending approvals, at most until `until`.
    pub(crate) async fn wait(&self, until: Instant, is_news: impl Fn(&[Arc<Request>]) -> bool) -> Waited {
        let _counted = WaiterGuard::new(&self.waiting);
        let mut ended = self.ended.clone();
        let over = async {
            let found = ended.wait_for(Option::is_some).await;
            found.ok().and_then(|ended| ended.clone())
        };
        tokio::select! {
            biased;
            ended = over => match ended {
                Some(RunEnd::Ended(ended)) => Waited::Ended(ended),
                Some(RunEnd::Left) => Waited::Left,
                // Its task ended without a result, which happens only at shutdown.
                None => Waited::TimeOver(Vec::new()),
            },
            waiting = self.stalled_on_approvals(is_news) => Waited::News(waiting),
            () = tokio::time::sleep_until(until) => Waited::TimeOver(self.pending.list()),
        }
    }

    /// Waits until new approvals are pending and the run has made no other progress for a while.
    async fn stalled_on_approvals(&self, is_news: impl Fn(&[Arc<Request>]) -> bool) -> Vec<Arc<Request>> {
        let mut progress = self.progress();
        let mut seen = None;
        loop {
            let moved = tokio::time::timeout(QUIET_INTERVAL, progress.changed()).await;
            if let Ok(Err(_)) = moved {
                std::future::pending::<()>().await;
            }
            let waiting = self.pending.list();
            if waiting.is_empty() || !is_news(&waiting) {
                seen = None;
                continue;
            }
            let since = *seen.get_or_insert_with(Instant::now);
            if moved.is_err() || since.elapsed() >= MAX_DELAY {
                return waiting;
            }
        }
    }
}

/// Ids of the pending approvals that were last reported to the agent.
#[derive(Default)]
pub(crate) struct ReportedApprovals(Mutex<BTreeSet<String>>);

impl ReportedApprovals {
    /// Returns true if exactly these were reported.
    pub(crate) fn is(&self, waiting: &[Arc<Request>]) -> bool {
        let reported = self.ids();
        reported.len() == waiting.len() && waiting.iter().all(|request| reported.contains(&request.id))
    }

    /// Records that these are reported now.
    pub(crate) fn set(&self, waiting: &[Arc<Request>]) {
        *self.ids() = waiting.iter().map(|request| request.id.clone()).collect();
    }

    fn ids(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until a run has had no waiting request for [`ABANDONED_AFTER`].
pub(super) async fn abandoned(mut waiting: watch::Receiver<usize>) {
    loop {
        let somebody = async { waiting.wait_for(|count| *count > 0).await.is_ok() };
        match tokio::time::timeout(ABANDONED_AFTER, somebody).await {
            Ok(true) => {}
            // The run was evicted, or no request came.
            Ok(false) | Err(_) => return,
        }
        if waiting.wait_for(|count| *count == 0).await.is_err() {
            return;
        }
    }
}

/// Counts one waiting request until it is dropped.
struct WaiterGuard<'a>(&'a watch::Sender<usize>);

impl<'a> WaiterGuard<'a> {
    fn new(count: &'a watch::Sender<usize>) -> WaiterGuard<'a> {
        count.send_modify(|count| *count += 1);
        WaiterGuard(count)
    }
}

impl Drop for WaiterGuard<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
