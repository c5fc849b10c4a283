//! Followers of runs, notified of new entries. One task polls for all of them: every write of any run changes the
//! store, and hundreds of followers that each polled would keep it busy.

use agent_spaces_journal::{Progress, Status, Store};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::{Notify, watch};

/// Shortest time between two looks.
const MIN_INTERVAL: Duration = Duration::from_millis(20);

/// Most runs that are looked up at once.
const PAGE: usize = 1_000;

/// Followed runs. Clones share state.
#[derive(Clone)]
pub(crate) struct Followers(Arc<Inner>);

struct Inner {
    store: Arc<dyn Store>,
    runs: Mutex<HashMap<String, Followed>>,
    /// Notified when a run is followed or has ended here, and when nobody has this any more.
    wake: Arc<Notify>,
    /// True once the task runs.
    is_started: Mutex<bool>,
}

struct Followed {
    position: watch::Sender<Position>,
    followers: usize,
}

/// Progress of a run in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// Number of its entries on disk.
    pub(crate) entries: u64,
    /// State; `None` until it is known, or if the run was removed.
    pub(crate) status: Option<Status>,
}

/// A follower of one run, until this is dropped.
pub(crate) struct Follower {
    of: Followers,
    run: String,
    position: watch::Receiver<Position>,
}

impl Followers {
    pub(crate) fn new(store: Arc<dyn Store>) -> Followers {
        let inner = Inner { store, runs: Mutex::default(), wake: Arc::default(), is_started: Mutex::default() };
        Followers(Arc::new(inner))
    }

    /// Follows a run.
    pub(crate) fn follow(&self, run: &str) -> Follower {
        let new = || Followed { position: watch::Sender::new(Position { entries: 0, status: None }), followers: 0 };
        let mut runs = self.runs();
        let followed = runs.entry(run.to_owned()).or_insert_with(new);
        followed.followers += 1;
        let position = followed.position.subscribe();
        drop(runs);
        self.start();
        self.0.wake.notify_one();
        Follower { of: self.clone(), run: run.to_owned(), position }
    }

    /// Looks at the followed runs now: one of them ended or left memory here.
    pub(crate) fn look_now(&self) {
        if !self.runs().is_empty() {
            self.0.wake.notify_one();
        }
    }

    /// Waits until a run has ended, at most for this time.
    pub(crate) async fn ended(&self, run: &str, wait: Duration) {
        if wait.is_zero() {
            return;
        }
        let mut follower = self.follow(run);
        let ended = async {
            while !follower.position().status.is_some_and(Status::is_ended) {
                follower.changed().await;
            }
        };
        let _late_is_fine = tokio::time::timeout(wait, ended).await;
    }

    /// Starts the task, once.
    fn start(&self) {
        let mut is_started = self.0.is_started.lock().unwrap_or_else(PoisonError::into_inner);
        if !std::mem::replace(&mut *is_started, true) {
            tokio::spawn(look(Arc::downgrade(&self.0)));
        }
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<String, Followed>> {
        self.0.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks at the followed runs whenever the store changes, until nobody has them any more.
async fn look(followers: Weak<Inner>) {
    let mut version = 0;
    loop {
        let Some(inner) = followers.upgrade() else { return };
        let (wake, followers) = (inner.wake.clone(), Followers(inner));
        let ids: Vec<String> = followers.runs().keys().cloned().collect();
        if ids.is_empty() {
            // While it waits it keeps nothing: neither the service nor the store.
            drop(followers);
            wake.notified().await;
            continue;
        }
        for page in ids.chunks(PAGE) {
            // A store that cannot be read now is asked again.
            if let Ok(found) = followers.0.store.progress(page.to_vec()).await {
                followers.tell(page, &found);
            }
        }
        let changed = followers.0.store.changed(version);
        drop(followers);
        tokio::time::sleep(MIN_INTERVAL).await;
        tokio::select! {
            changed = changed => {
                if changed == version {
                    // The store is closed.
                    return;
                }
                version = changed;
            }
            () = wake.notified() => {}
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The task finds that this is gone, now or when it waits next.
        self.wake.notify_one();
    }
}

impl Followers {
    /// Tells the followers of these runs how far they are.
    fn tell(&self, asked: &[String], found: &[Progress]) {
        let found: HashMap<&str, &Progress> = found.iter().map(|progress| (progress.run.as_str(), progress)).collect();
        let runs = self.runs();
        for run in asked {
            let Some(followed) = runs.get(run) else { continue };
            let position = match found.get(run.as_str()) {
                Some(progress) => Position { entries: progress.next_seq, status: Some(progress.status) },
                None => Position { entries: 0, status: None },
            };
            followed.position.send_if_modified(|known| std::mem::replace(known, position) != position);
        }
    }
}

impl Follower {
    /// Returns how far the run is, as far as is known.
    pub(crate) fn position(&mut self) -> Position {
        *self.position.borrow_and_update()
    }

    /// Waits until the run is further.
    pub(crate) async fn changed(&mut self) {
        if self.position.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut runs = self.of.runs();
        if let Some(followed) = runs.get_mut(&self.run) {
            followed.followers = followed.followers.saturating_sub(1);
            if followed.followers == 0 {
                runs.remove(&self.run);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Followers;
    use agent_spaces_journal::{SqliteStore, Store};
    use std::sync::Arc;
    use std::time::Duration;

    /// The task is the only other one that has the store.
    async fn ends(store: &Arc<dyn Store>) -> bool {
        for _ in 0..1_000 {
            if Arc::strong_count(store) == 1 {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }

    #[tokio::test]
    async fn the_task_ends_when_nobody_has_the_followers() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("journal"), Default::default()).unwrap();
        let store: Arc<dyn Store> = Arc::new(store);
        for is_followed in [false, true] {
            let followers = Followers::new(store.clone());
            let follower = followers.follow("run_1");
            tokio::time::sleep(Duration::from_millis(50)).await;
            if is_followed {
                drop(followers);
                assert!(Arc::strong_count(&store) > 1, "it goes on for those who follow");
                drop(follower);
            } else {
                drop(follower);
                drop(followers);
            }
            assert!(ends(&store).await, "followed: {is_followed}");
        }
    }
}
