//! The Postgres store against a real server: the suite of all stores, and what only several hosts have.
//!
//! The tests start a cluster of their own, as an unprivileged user. Without the server's programs (Debian: `postgresql`)
//! they are reported and skipped; with `AGENT_SPACES_CI=1` they fail.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests may stop at the first surprise")]

mod cluster;
mod faults;
mod formats;
mod hosts;
mod limits;
mod pooler;
mod statements;

use agent_spaces_journal::suite::{Fixture, START};
use agent_spaces_journal::{Claim, Entry, NewRun, Store, Summary};
use agent_spaces_journal_postgres::{Address, PostgresStore, Settings};
use cluster::Cluster;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Lease by the server's clock: longer than a test.
const LEASE: Duration = Duration::from_secs(600);

agent_spaces_journal::store_suite!(fixture);

fn fixture() -> Option<Fixture> {
    let cluster = Cluster::get()?;
    let now = Arc::new(AtomicI64::new(START));
    let (here, elsewhere) = (cluster.address(), cluster.address());
    let open = |address: &Address| {
        let clock = Arc::clone(&now);
        let settings = Settings { clock: Some(Arc::new(move || clock.load(Ordering::SeqCst))), ..Settings::default() };
        Arc::new(PostgresStore::open(address.clone(), settings).unwrap())
    };
    let (store, other, elsewhere) = (open(&here), open(&here), open(&elsewhere));
    Some(Fixture { store, other, elsewhere, now, guard: Box::new(()) })
}

fn open(address: &Address) -> PostgresStore {
    PostgresStore::open(address.clone(), Settings::default()).unwrap()
}

fn new(id: &str) -> NewRun {
    NewRun { id: id.to_owned(), summary: Summary::default(), lease: LEASE, content: vec![] }
}

fn entry(body: &str) -> Entry {
    Entry::new("note", START, body)
}

async fn create(store: &PostgresStore, id: &str) -> Claim {
    let (claim, created) = store.create(new(id), store.owner(), vec![]);
    created.await.unwrap();
    claim
}
