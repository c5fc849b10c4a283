//! Tests of the embedded store: the suite of all stores, and what only files have.

mod crash;
mod documents;
mod files;
mod limits;
mod lists;
mod migration;
mod sharing;

use crate::claim::Claim;
use crate::entry::Entry;
use crate::run::{NewRun, Summary};
use crate::sqlite::{FaultPoint, Settings, SqliteStore, What, When};
use crate::store::Store;
use crate::suite::{Fixture, LEASE, START};
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

crate::store_suite!(fixture);

fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let now = Arc::new(AtomicI64::new(START));
    let open = |name| {
        let clock = Arc::clone(&now);
        let settings = Settings { clock: Arc::new(move || clock.load(Ordering::SeqCst)), ..Settings::default() };
        Arc::new(SqliteStore::open(&folder.path().join(name), settings).unwrap())
    };
    let (store, other, elsewhere) = (open("here"), open("here"), open("elsewhere"));
    Fixture { store, other, elsewhere, now, guard: Box::new(folder) }
}

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder, Settings::default()).unwrap()
}

fn new(id: &str) -> NewRun {
    NewRun { id: id.to_owned(), summary: Summary::default(), lease: LEASE, content: vec![] }
}

fn entry(bytes: usize) -> Entry {
    Entry::new("e", START, vec![b'x'; bytes])
}

fn create(store: &SqliteStore, id: &str) -> Claim {
    let (claim, ticket) = store.create(new(id), store.owner(), vec![]);
    ticket.wait().unwrap();
    claim
}

/// Runs one future.
fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// Holds up the writer, and counts its commits.
#[derive(Default)]
struct Gate {
    closed: Mutex<()>,
    passed: AtomicU64,
    commits: AtomicU64,
}

impl Gate {
    fn settings(self: &Arc<Gate>, settings: Settings) -> Settings {
        let gate = Arc::clone(self);
        let faults = move |point: FaultPoint| {
            gate.passed.fetch_add(1, Ordering::SeqCst);
            if (point.when, point.what) == (When::After, What::Commit) {
                gate.commits.fetch_add(1, Ordering::SeqCst);
            }
            drop(gate.closed.lock().unwrap());
        };
        Settings { faults: Some(Arc::new(faults)), ..settings }
    }

    /// Returns when the writer waits in the middle of a batch: what is queued then is in the next one.
    fn close(&self, store: &SqliteStore) -> MutexGuard<'_, ()> {
        store.flush().wait().unwrap();
        let closed = self.closed.lock().unwrap();
        let before = self.passed.load(Ordering::SeqCst);
        drop(store.flush());
        while self.passed.load(Ordering::SeqCst) == before {
            std::thread::sleep(Duration::from_millis(1));
        }
        closed
    }
}
