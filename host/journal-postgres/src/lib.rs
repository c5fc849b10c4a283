//! Durable storage of runs and documents in Postgres, for several hosts: [`PostgresStore`] behind the trait
//! [`Store`](agent_spaces_journal::Store).
//!
//! # How the promises are kept
//! - **Durable**: a ticket resolves after the commit. A server that would lose commits is refused at the start.
//! - **Fenced**: a write is one statement, and its condition on the run's epoch is the fence. Leases are counted by the
//!   server's clock; they only say when others may try.
//! - **Whole**: one statement creates a run with its entries and its content; another one stores a request for approval with
//!   the entries that tell of it.
//! - **Ordered**: the owner numbers entries, and a statement has the number that it expects.
//! - **No lost wakeup**: the events of a run are in its row, which parking and signalling both lock.
//! - **Bounded**: each write counts itself in its transaction, and has the limit as a condition.
//!
//! No statement depends on state of a session, so a pooler in transaction mode may stand between.
//!
//! # Layout
//! - `address`, `tls`, `settings`: where the store is, and its limits
//! - `database`: connections and statements; `outage`: times without; `value`: their parameters; `fault`: failures; `sql/`:
//!   the statements
//! - `schema`, `schema-1.sql` and on: what is needed of the server, tables, migrations; `rows`: rows as data
//! - `queue`, `lanes`, `fair_queue`: the queues of statements, fair between tenants; `bounds`, `pace`: their limits;
//!   `panics`: work that panics; `shared`: state of the store and its tasks; `pending_approvals`: where decisions are queued
//! - `appends`, `runs`, `blobs`, `signals`, `documents`, `prune`, `transfer`: what lanes write
//! - `lists`: filters as SQL; `watch`: changes by other hosts
//! - `store`: the methods of the trait

mod address;
mod appends;
mod blobs;
mod bounds;
mod connection;
mod database;
mod direct;
mod documents;
mod fair_queue;
mod fault;
mod lanes;
mod lists;
mod outage;
mod pace;
mod panics;
mod pending_approvals;
mod prune;
mod queue;
mod rows;
mod runs;
mod schema;
mod settings;
mod shared;
mod signals;
mod store;
mod tls;
mod transfer;
mod value;
mod watch;

pub use address::Address;
pub use settings::Settings;

use agent_spaces_journal::{Owner, StoreError};
use database::Database;
use lanes::{Kind, Lanes};
use pending_approvals::PendingApprovals;
use shared::Shared;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{Builder, JoinHandle};
use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

/// Threads of the store: statements wait for the server, so a few serve many.
const WORKERS: usize = 2;

/// Store in Postgres, with threads of its own. Dropping it blocks until what is queued is written, and frees the runs
/// that it owns.
pub struct PostgresStore {
    address: Address,
    owner: Owner,
    handle: Handle,
    database: Arc<Database>,
    shared: Arc<Shared>,
    lanes: Arc<Lanes>,
    /// Those with queued writes.
    approvals: Arc<PendingApprovals>,
    /// Ends the threads when it is dropped.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Parts of a store that its threads make.
struct Opened {
    handle: Handle,
    database: Arc<Database>,
    shared: Arc<Shared>,
    lanes: Arc<Lanes>,
}

impl PostgresStore {
    /// Opens the store, and creates its tables if they are missing. It blocks until the server has answered.
    pub fn open(address: Address, settings: Settings) -> Result<PostgresStore, StoreError> {
        let owner = Owner::random()?;
        let (ready, opened) = sync_channel(1);
        let (stop, stopped) = oneshot::channel();
        let threads = Threads { address: address.clone(), settings, owner: owner.clone() };
        let thread = Builder::new().name("journal-postgres".to_owned()).spawn(move || threads.run(&ready, stopped));
        let thread = thread.map_err(|error| StoreError::Io(error.to_string()))?;
        let Opened { handle, database, shared, lanes } = opened.recv().map_err(|_| ended())??;
        let (stop, thread) = (Some(stop), Some(thread));
        let approvals = Arc::default();
        Ok(PostgresStore { address, owner, handle, database, shared, lanes, approvals, stop, thread })
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut store = formatter.debug_struct("PostgresStore");
        store.field("address", &self.address).field("owner", &self.owner).finish_non_exhaustive()
    }
}

impl Drop for PostgresStore {
    fn drop(&mut self) {
        // What is queued is written if the server can be reached, and given up otherwise.
        self.database.set_hasty(true);
        self.lanes.close();
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the threads of a store need.
struct Threads {
    address: Address,
    settings: Settings,
    owner: Owner,
}

impl Threads {
    /// Opens the store, says so, and works until the store is dropped.
    fn run(self, ready: &SyncSender<Result<Opened, StoreError>>, stopped: oneshot::Receiver<()>) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .thread_name("journal-postgres")
            .enable_all()
            .build();
        match runtime {
            Ok(runtime) => runtime.block_on(self.work(ready, stopped)),
            // The receiver waits for it.
            Err(error) => drop(ready.send(Err(StoreError::Io(error.to_string())))),
        }
    }

    async fn work(self, ready: &SyncSender<Result<Opened, StoreError>>, stopped: oneshot::Receiver<()>) {
        let (database, lanes, opened) = match self.open().await {
            Ok(opened) => opened,
            Err(error) => return drop(ready.send(Err(error))),
        };
        if ready.send(Ok(opened)).is_err() {
            return;
        }
        // It ends when the store drops the other end.
        let _ = stopped.await;
        for lane in lanes {
            let _ = lane.await;
        }
        // Others need not wait for the ends of the leases. If it fails, they do.
        let _ = runs::disown(&database, &self.owner).await;
        database.close();
    }

    /// Connects, checks the tables, and starts the tasks.
    async fn open(&self) -> Result<(Arc<Database>, Vec<tokio::task::JoinHandle<()>>, Opened), StoreError> {
        let (database, connector) = Database::new(&self.address, self.settings.clone())?;
        let (database, shared) = (Arc::new(database), Arc::new(Shared::new(self.settings.max_queued)));
        schema::open(&database).await?;
        let seen = watch::writes(&database).await?;
        database.set_hasty(false);
        let hint = self.address.listens.then(|| Arc::new(Notify::new()));
        if let Some(hint) = &hint {
            let (config, schema) = (self.address.config.clone(), self.address.schema.clone());
            tokio::spawn(watch::listen(config, connector, schema, Arc::clone(hint)));
            tokio::spawn(watch::notify(Arc::clone(&database), Arc::clone(&shared)));
        }
        tokio::spawn(watch::poll(Arc::clone(&database), Arc::clone(&shared), hint, seen));
        // Half of the connections write, so that reads do not wait for all of the writes, nor leases for reads.
        let lanes = Arc::new(Lanes::new(self.address.connections));
        let (writes, reads) = lanes::counts(self.address.connections);
        let start = |kind| tokio::spawn(Arc::clone(&lanes).run(kind, Arc::clone(&database), Arc::clone(&shared)));
        let kinds = std::iter::repeat_n(Kind::Write, writes).chain(std::iter::repeat_n(Kind::Read, reads));
        let tasks = kinds.map(start).collect();
        let opened =
            Opened { handle: Handle::current(), database: Arc::clone(&database), shared: Arc::clone(&shared), lanes };
        Ok((database, tasks, opened))
    }
}

/// Error of a store whose threads ended before it was open.
fn ended() -> StoreError {
    StoreError::Io("the threads of the store ended; its log has the reason".to_owned())
}
