//! Embedded store: one SQLite file in WAL mode, shared by the processes of one machine.
//!
//! Not for network file systems: SQLite's shared memory and locks need one kernel. People open the file with
//! `sqlite3 -readonly`.
//!
//! # Layout
//! - `settings`: limits, clock
//! - `schema`, `schema-1.sql` and on: file, connections, tables, migrations; `rows`: rows as data
//! - `writer`: the thread that writes, with group commit; `command`: what is queued for it; `fault`: failures
//! - `runs`, `blobs`, `signals`, `documents`, `prune`, `transfer`: what it writes
//! - `reader`: threads that read; `lists`: filters as SQL
//! - `owner`: living processes; `turn`: order among those that write

mod blobs;
mod command;
mod documents;
mod fault;
mod lists;
mod owner;
mod prune;
mod reader;
mod rows;
mod runs;
mod schema;
mod settings;
mod signals;
mod store;
#[cfg(test)]
mod tests;
mod transfer;
mod turn;
mod writer;

pub use settings::{Clock, Settings};
#[doc(hidden)]
pub use settings::{FaultPoint, What, When};

use crate::claim::{Claim, Owner};
use crate::error::StoreError;
use crate::store::Pending;
use crate::ticket::Ticket;
use agent_spaces_private_fs::lock;
use command::{Batch, Command, Job, OVERHEAD};
use fault::Failure;
use owner::Owners;
use reader::Readers;
use std::collections::VecDeque;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};
use tokio::sync::{oneshot, watch};
use turn::Turn;
use writer::{Message, Shared, Writer};

/// Reader threads: a long export does not hold up the others.
const READERS: usize = 2;

/// Embedded store. Dropping it blocks until what is queued is written, and frees the runs that it owns.
#[derive(Debug)]
pub struct SqliteStore {
    file: PathBuf,
    settings: Settings,
    owners: Owners,
    owner: Owner,
    shared: Arc<Shared>,
    /// Some until the store is dropped.
    sender: Option<Sender<Message>>,
    writer: Option<JoinHandle<()>>,
    readers: Option<Readers>,
    /// Held until the writer has ended.
    _alive: File,
}

/// Admission of a write to the queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Admission {
    /// Refused if the queue is full.
    Bounded,
    /// Like `Bounded`; if it fails, its claim never was one.
    Create,
    /// Queued nevertheless: it is small, or there is at most one for each claim.
    Always,
    /// Queued even if the claim is void.
    Release,
}

impl SqliteStore {
    /// Opens the store in a folder, and creates what is missing: the folder with mode 0700, the file with mode 0600.
    /// Symlinks are refused.
    pub fn open(folder: &Path, settings: Settings) -> Result<SqliteStore, StoreError> {
        let folder = schema::make_folder(folder)?;
        // One process at a time creates and migrates the file, and removes files of dead owners.
        let path = folder.join("open.lock");
        let opening = lock::hold(&path, settings.busy_timeout).map_err(schema::io("lock", &path))?;
        let _opening = opening.ok_or(StoreError::Busy)?;
        schema::make_file(&folder)?;
        let connection = schema::open_writer(&folder, &settings)?;
        let connections = (0..READERS).map(|_| schema::open_reader(&folder, &settings)).collect::<Result<_, _>>()?;
        let owners = Owners::open(&folder)?;
        let (owner, alive) = owners.add()?;
        let shared =
            Arc::new(Shared { queued: AtomicUsize::new(0), watchers: Arc::default(), version: watch::Sender::new(1) });
        let data_version = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        let (sender, receiver) = channel();
        let writer = Writer {
            connection,
            owners: owners.clone(),
            turn: Turn::open(&folder, settings.busy_timeout)?,
            settings: settings.clone(),
            receiver,
            shared: Arc::clone(&shared),
            prunes: VecDeque::new(),
            data_version,
            next_fault: 0,
        };
        let writer = Builder::new().name("journal-writer".to_owned()).spawn(move || writer.run());
        let writer = writer.map_err(|error| StoreError::Io(error.to_string()))?;
        let (sender, writer, readers) = (Some(sender), Some(writer), Some(Readers::start(connections)?));
        let file = folder.join(schema::FILE);
        Ok(SqliteStore { file, settings, owners, owner, shared, sender, writer, readers, _alive: alive })
    }

    /// Queues a write. `complete` is called on the writer's thread.
    fn queue<T: Send + 'static>(
        &self,
        bytes: usize,
        admission: Admission,
        apply: impl FnMut(&Batch<'_>) -> Result<T, Failure> + Send + 'static,
        complete: impl FnOnce(Result<T, StoreError>) + Send + 'static,
    ) -> Result<(), StoreError> {
        let cost = bytes.saturating_add(OVERHEAD);
        let is_bounded = matches!(admission, Admission::Bounded | Admission::Create);
        let most = if is_bounded { self.settings.max_queued } else { usize::MAX };
        let add = |queued: usize| queued.checked_add(cost).filter(|queued| *queued <= most);
        if self.shared.queued.fetch_update(Ordering::SeqCst, Ordering::SeqCst, add).is_err() {
            let text = format!("the journal's queue of {most} bytes is full: write less, or wait for earlier writes");
            return Err(StoreError::QueueFull(text));
        }
        self.send(Message::Write(Command { cost, work: Box::new(Job::new(apply, complete)) }));
        Ok(())
    }

    fn send(&self, message: Message) {
        if let Some(sender) = &self.sender {
            // If the writer has ended, the message's channel is closed, which its receiver reports.
            let _ = sender.send(message);
        }
    }

    /// Queues a write and returns its answer.
    fn ask<T: Send + 'static>(
        &self,
        bytes: usize,
        admission: Admission,
        apply: impl FnMut(&Batch<'_>) -> Result<T, Failure> + Send + 'static,
    ) -> Pending<T> {
        let (sender, receiver) = oneshot::channel();
        let queued = self.queue(bytes, admission, apply, move |outcome| drop(sender.send(outcome)));
        Box::pin(async move {
            queued?;
            receiver.await.unwrap_or_else(|_| Err(StoreError::closed()))
        })
    }

    /// Queues a write under a claim, which is void if the write fails.
    fn write(
        &self,
        claim: &Claim,
        bytes: usize,
        admission: Admission,
        mut apply: impl FnMut(&Batch<'_>, &Claim) -> Result<(), Failure> + Send + 'static,
    ) -> Ticket {
        if admission != Admission::Release
            && let Some(fault) = claim.fault()
        {
            return Ticket::failed(fault.clone());
        }
        let (completion, ticket) = Ticket::pair();
        let (applying, failing) = (claim.clone(), claim.clone());
        let fail = move |claim: &Claim, error: &StoreError| match admission {
            Admission::Create => claim.fail_create(error),
            Admission::Bounded | Admission::Always | Admission::Release => claim.fail(error),
        };
        let apply = move |batch: &Batch<'_>| {
            apply(batch, &applying).inspect_err(|failure| match failure {
                // At once, so that the claim's next write, which may be in the same batch, is refused too. If the batch is
                // undone later, so are the claim's writes before this one: nobody was told that they were flushed.
                Failure::Refused(error) => fail(&applying, error),
                // It may be tried again.
                Failure::Database(_) => {}
            })
        };
        let complete = move |outcome: Result<(), StoreError>| {
            if let Err(error) = &outcome {
                fail(&failing, error);
            }
            completion.complete(outcome);
        };
        self.queue(bytes, admission, apply, complete).map_or_else(
            |error| {
                match admission {
                    Admission::Create => claim.fail_create(&error),
                    Admission::Bounded | Admission::Always | Admission::Release => claim.fail_queue(&error),
                }
                Ticket::failed(error)
            },
            |()| ticket,
        )
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // The writer closes the last connection, which moves the log into the file.
        self.readers = None;
        self.sender = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}
