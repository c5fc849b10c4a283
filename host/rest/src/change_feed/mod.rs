//! Change feed: broadcasts changes of runs and approvals to its followers. Those of calls in memory are told to it.
//!
//! One task reads the store for all of them, and only while somebody follows. It sees changes by other processes with the
//! same store too.
//!
//! - `look`: polling of the store for changes since the last look

mod look;
#[cfg(test)]
mod tests;

use crate::approval_request::ApprovalStatus;
use agent_spaces_approvals::CallListener;
use agent_spaces_journal::{RunRow, Store};
use look::{Looker, Missed};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast};

/// Shortest time between two looks.
const MIN_INTERVAL: Duration = Duration::from_millis(200);

/// Interval at which requests for approval are looked for whose time is over, which no write tells.
const TICK: Duration = Duration::from_secs(1);

/// Changes that a follower may be behind. One that is further behind is told that it missed some.
const MAX_BEHIND: usize = 4_096;

/// Most followers of one owner.
const MAX_FOLLOWERS: usize = 32;

/// Change of a run or an approval.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// A run is new or has another state.
    Run {
        /// It, without its outcome.
        row: Box<RunRow>,
        /// True if it is in memory and calls of it wait for approval.
        has_pending: bool,
    },
    /// A request for approval is new, was decided, or its time is over.
    Approval {
        /// Id of the request.
        id: String,
        /// Run that asks.
        run: String,
        /// Caller who started the run.
        owner: String,
        /// State.
        status: ApprovalStatus,
    },
    /// A call of an agent waits for approval, was decided, or does not wait any more.
    AgentApproval {
        /// Id of the request.
        id: String,
        /// Agent that asks.
        agent: String,
        /// Caller whose question it is.
        owner: String,
        /// State.
        status: ApprovalStatus,
    },
    /// Some changes were missed: whoever follows must read everything again.
    Missed,
}

/// Changes of a project. Clones share state.
#[derive(Clone)]
pub(crate) struct ChangeFeed(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    project: String,
    sender: broadcast::Sender<Arc<Change>>,
    /// True while the task runs. Whoever begins to follow holds it.
    is_running: Mutex<bool>,
    /// Followers that each owner may still have. The configuration bounds the number of owners.
    permits: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A follower, until this is dropped.
pub(crate) struct Following {
    changes: broadcast::Receiver<Arc<Change>>,
    _permit: OwnedSemaphorePermit,
}

impl ChangeFeed {
    pub(crate) fn new(store: Arc<dyn Store>, project: &str) -> ChangeFeed {
        ChangeFeed(Arc::new(Inner {
            store,
            project: project.to_owned(),
            sender: broadcast::Sender::new(MAX_BEHIND),
            is_running: Mutex::default(),
            permits: Mutex::default(),
        }))
    }

    /// Follows all changes from now on; `None` if the owner has too many followers.
    pub(crate) fn follow(&self, owner: &str) -> Option<Following> {
        let permits = {
            let mut all = self.0.permits.lock().unwrap_or_else(PoisonError::into_inner);
            all.entry(owner.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(MAX_FOLLOWERS))).clone()
        };
        let permit = permits.try_acquire_owned().ok()?;
        let mut is_running = self.0.is_running.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = self.0.sender.subscribe();
        if !std::mem::replace(&mut *is_running, true) {
            tokio::spawn(look_again_and_again(Arc::downgrade(&self.0)));
        }
        Some(Following { changes, _permit: permit })
    }

    /// Returns who tells the followers of calls that wait in memory.
    pub(crate) fn call_listener(&self) -> CallListener {
        // Whoever has the calls keeps neither the feed nor the store.
        let feed = Arc::downgrade(&self.0);
        Box::new(move |call| {
            if let Some(inner) = feed.upgrade() {
                let (id, agent, owner) = (call.id.clone(), call.agent.clone(), call.owner.clone());
                inner.tell(Change::AgentApproval { id, agent, owner, status: ApprovalStatus::of_waiting(call) });
            }
        })
    }
}

impl Following {
    /// Waits for the next change.
    pub(crate) async fn next(&mut self) -> Arc<Change> {
        match self.changes.recv().await {
            Ok(change) => change,
            Err(RecvError::Lagged(_) | RecvError::Closed) => Arc::new(Change::Missed),
        }
    }

    /// Returns the next change, if there is one now.
    pub(crate) fn next_now(&mut self) -> Option<Arc<Change>> {
        match self.changes.try_recv() {
            Ok(change) => Some(change),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Lagged(_) | TryRecvError::Closed) => Some(Arc::new(Change::Missed)),
        }
    }
}

/// Looks whenever the store changes, until nobody follows any more.
async fn look_again_and_again(feed: Weak<Inner>) {
    let (mut looker, mut version, mut is_changed) = (None, 0, true);
    loop {
        let Some(inner) = feed.upgrade() else { return };
        if inner.is_over() {
            return;
        }
        match inner.look(&mut looker, is_changed).await {
            Ok(changes) => changes.into_iter().for_each(|change| inner.tell(change)),
            Err(Missed) => {
                looker = None;
                inner.tell(Change::Missed);
            }
        }
        let changed = inner.store.changed(version);
        // While it waits it keeps nothing: neither the service nor the store.
        drop(inner);
        tokio::time::sleep(MIN_INTERVAL).await;
        is_changed = tokio::select! {
            found = changed => {
                if found == version {
                    // The store is closed.
                    return;
                }
                version = found;
                true
            }
            () = tokio::time::sleep(TICK) => false,
        };
    }
}

impl Inner {
    /// Returns true if nobody follows. Whoever follows next starts another task.
    fn is_over(&self) -> bool {
        let mut is_running = self.is_running.lock().unwrap_or_else(PoisonError::into_inner);
        *is_running = self.sender.receiver_count() > 0;
        !*is_running
    }

    /// Returns what changed since the last look.
    async fn look(&self, looker: &mut Option<Looker>, is_changed: bool) -> Result<Vec<Change>, Missed> {
        if looker.is_none() {
            *looker = Some(Looker::begin(&*self.store, &self.project).await?);
        }
        let Some(looker) = looker else { return Ok(Vec::new()) };
        let mut changes = looker.expired(&*self.store).await?;
        if is_changed {
            changes.extend(looker.look(&*self.store).await?);
        }
        Ok(changes)
    }

    fn tell(&self, change: Change) {
        // It fails if nobody follows.
        let _told = self.sender.send(Arc::new(change));
    }
}
