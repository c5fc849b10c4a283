//! Waiting for a run: until it ends, until somebody must act, or until the time is over.

use super::runs::{Ended, ServedRun};
use agent_spaces_approvals::Request;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// A call that waits for a person while nothing else moves is worth telling, after so long.
const QUIET: Duration = Duration::from_millis(500);

/// The same while other calls of the run go on.
const LOUD: Duration = Duration::from_secs(3);

/// How long a run goes on while nobody waits for it: time enough for an agent to think, and to come back with `resume`.
const ALONE_FOR: Duration = Duration::from_secs(5 * 60);

/// What a request that waited found.
pub(super) enum Waited {
    Ended(Arc<Ended>),
    /// It goes on, and these calls wait for a person, which is news.
    News(Vec<Arc<Request>>),
    /// It goes on, and the time is over. These calls wait for a person.
    TimeOver(Vec<Arc<Request>>),
}

impl ServedRun {
    /// Waits for its end, or until calls wait for a person that are news, at most until then.
    pub(super) async fn wait(&self, until: Instant, is_news: impl Fn(&[Arc<Request>]) -> bool) -> Waited {
        let _counted = Counted::new(&self.waiting);
        let mut ended = self.ended.clone();
        let over = async {
            let found = ended.wait_for(Option::is_some).await;
            found.ok().and_then(|ended| ended.clone())
        };
        tokio::select! {
            biased;
            ended = over => match ended {
                Some(ended) => Waited::Ended(ended),
                // Its task is gone, which only a shutdown does.
                None => Waited::TimeOver(Vec::new()),
            },
            waiting = self.stands_still(is_news) => Waited::News(waiting),
            () = tokio::time::sleep_until(until) => Waited::TimeOver(self.pending.list()),
        }
    }

    /// Until calls wait for a person that are news, and nothing else has moved for a while.
    async fn stands_still(&self, is_news: impl Fn(&[Arc<Request>]) -> bool) -> Vec<Arc<Request>> {
        let mut progress = self.progress();
        let mut seen = None;
        loop {
            let moved = tokio::time::timeout(QUIET, progress.changed()).await;
            if let Ok(Err(_)) = moved {
                std::future::pending::<()>().await;
            }
            let waiting = self.pending.list();
            if waiting.is_empty() || !is_news(&waiting) {
                seen = None;
                continue;
            }
            let since = *seen.get_or_insert_with(Instant::now);
            if moved.is_err() || since.elapsed() >= LOUD {
                return waiting;
            }
        }
    }
}

/// The requests of a run of which its agent was told last.
#[derive(Default)]
pub(super) struct Told(Mutex<BTreeSet<String>>);

impl Told {
    /// Whether these are the ones.
    pub(super) fn is(&self, waiting: &[Arc<Request>]) -> bool {
        let told = self.ids();
        told.len() == waiting.len() && waiting.iter().all(|request| told.contains(&request.id))
    }

    /// The agent is told of these now.
    pub(super) fn set(&self, waiting: &[Arc<Request>]) {
        *self.ids() = waiting.iter().map(|request| request.id.clone()).collect();
    }

    fn ids(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Until nobody has waited for a run for long.
pub(super) async fn left_alone(mut waiting: watch::Receiver<usize>) {
    loop {
        let somebody = async { waiting.wait_for(|count| *count > 0).await.is_ok() };
        match tokio::time::timeout(ALONE_FOR, somebody).await {
            Ok(true) => {}
            // The run is forgotten, or nobody came.
            Ok(false) | Err(_) => return,
        }
        if waiting.wait_for(|count| *count == 0).await.is_err() {
            return;
        }
    }
}

/// Counts one who waits, for as long as it lives.
struct Counted<'a>(&'a watch::Sender<usize>);

impl<'a> Counted<'a> {
    fn new(count: &'a watch::Sender<usize>) -> Counted<'a> {
        count.send_modify(|count| *count += 1);
        Counted(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count = count.saturating_sub(1));
    }
}
