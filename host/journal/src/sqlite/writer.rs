//! Writer thread: group commit of queued writes.
//!
//! It takes everything that is queued, up to a bound, and writes it in one transaction, so a hundred runs that append at
//! once share one flush. Refused writes change nothing and do not affect the others. A database error in the middle may
//! have left half a write: then the batch is undone, and each of its writes gets a transaction of its own, so that
//! only the faulty one fails.

use super::command::{Batch, Command};
use super::fault::Failure;
use super::owner::Owners;
use super::prune::PruneJob;
use super::rows;
use super::settings::{FaultPoint, Settings, What, When};
use super::turn::Turn;
use crate::error::StoreError;
use rusqlite::Connection;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;
use tokio::sync::watch;

/// Most writes and bytes of one batch: a transaction of some 100 ms on a slow disk, which is what others wait for.
const MAX_BATCH: usize = 4096;
const MAX_BATCH_BYTES: usize = 8 << 20;

/// Interval of looking for changes by other processes, while somebody waits for changes.
const POLL: Duration = Duration::from_millis(100);

/// Message to the writer.
pub(super) enum Message {
    Write(Command),
    Prune(PruneJob),
    /// Somebody waits for changes.
    Watch,
}

/// State shared with the store.
#[derive(Debug)]
pub(super) struct Shared {
    /// Bytes in the queue.
    pub(super) queued: AtomicUsize,
    /// Number of those who wait for changes.
    pub(super) watchers: Arc<AtomicUsize>,
    /// Changes with every commit, ours or others'. It starts at 1. Those who wait do not own it: it ends with the store.
    pub(super) version: watch::Sender<u64>,
}

pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) owners: Owners,
    pub(super) turn: Turn,
    pub(super) settings: Settings,
    pub(super) receiver: Receiver<Message>,
    pub(super) shared: Arc<Shared>,
    pub(super) prunes: VecDeque<PruneJob>,
    /// Number that SQLite changes when another connection commits.
    pub(super) data_version: i64,
    pub(super) next_fault: u64,
}

/// Failure of a whole batch.
enum Undone {
    /// One of its writes failed: the others may still succeed.
    Write(StoreError),
    /// The transaction failed.
    Transaction(StoreError),
}

impl Writer {
    /// Writes until the store is dropped and the queue is empty.
    pub(super) fn run(mut self) {
        while let Some(batch) = self.take() {
            if !batch.is_empty() {
                self.write(batch);
            }
            self.prune();
            self.look_for_changes();
        }
    }

    /// Takes what is queued; waits for it, unless there is something else to do. Returns `None` at the end.
    fn take(&mut self) -> Option<Vec<Command>> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        let first = if !self.prunes.is_empty() {
            self.receiver.try_recv().map_err(|error| error == TryRecvError::Disconnected)
        } else if self.shared.watchers.load(Ordering::SeqCst) > 0 {
            self.receiver.recv_timeout(POLL).map_err(|error| error == RecvTimeoutError::Disconnected)
        } else {
            self.receiver.recv().map_err(|_| true)
        };
        let mut next = match first {
            Ok(message) => Some(message),
            Err(true) => return None,
            Err(false) => None,
        };
        while let Some(message) = next {
            match message {
                Message::Write(command) => {
                    bytes += command.cost;
                    batch.push(command);
                }
                Message::Prune(job) => self.prunes.push_back(job),
                Message::Watch => {}
            }
            let has_room = batch.len() < MAX_BATCH && bytes < MAX_BATCH_BYTES;
            next = if has_room { self.receiver.try_recv().ok() } else { None };
        }
        Some(batch)
    }

    fn write(&mut self, mut batch: Vec<Command>) {
        match self.attempt(&mut batch) {
            Ok(outcomes) => {
                batch.into_iter().zip(outcomes).for_each(|(command, outcome)| self.settle(command, outcome))
            }
            Err(Undone::Write(_)) if batch.len() > 1 => {
                for mut command in batch {
                    let outcome = match self.attempt(std::slice::from_mut(&mut command)) {
                        Ok(mut outcomes) => outcomes.pop().unwrap_or(Ok(())),
                        Err(Undone::Write(error) | Undone::Transaction(error)) => Err(error),
                    };
                    // Before the next, which may be of the same claim.
                    self.settle(command, outcome);
                }
            }
            Err(Undone::Write(error) | Undone::Transaction(error)) => {
                batch.into_iter().for_each(|command| self.settle(command, Err(error.clone())));
            }
        }
    }

    fn settle(&self, command: Command, outcome: Result<(), StoreError>) {
        self.shared.queued.fetch_sub(command.cost, Ordering::SeqCst);
        command.work.complete(outcome);
    }

    /// Writes commands in one transaction. Each has an outcome of its own, unless all is undone.
    fn attempt(&mut self, commands: &mut [Command]) -> Result<Vec<Result<(), StoreError>>, Undone> {
        let before = self.connection.total_changes();
        self.begin().map_err(Undone::Transaction)?;
        let outcomes = match self.apply(commands) {
            Ok(outcomes) => outcomes,
            Err(undone) => {
                self.roll_back();
                return Err(undone);
            }
        };
        self.fault(When::Before, What::Commit);
        if let Err(error) = self.commit() {
            self.roll_back();
            return Err(Undone::Transaction(error.into()));
        }
        self.fault(When::After, What::Commit);
        if self.connection.total_changes() != before {
            self.shared.version.send_modify(|version| *version += 1);
        }
        Ok(outcomes)
    }

    fn apply(&mut self, commands: &mut [Command]) -> Result<Vec<Result<(), StoreError>>, Undone> {
        let mut outcomes = Vec::with_capacity(commands.len());
        let mut used = used_bytes(&self.connection).map_err(|error| Undone::Transaction(error.into()))?;
        for command in commands {
            self.fault(When::Before, What::Write);
            let connection = &self.connection;
            let (now, max_bytes) = ((self.settings.clock)(), self.settings.max_bytes);
            let batch = Batch { connection, owners: &self.owners, now, used: Cell::new(used), max_bytes };
            let before = connection.total_changes();
            match command.work.apply(&batch) {
                Ok(()) => outcomes.push(Ok(())),
                Err(Failure::Refused(error)) if connection.total_changes() == before => outcomes.push(Err(error)),
                // It broke its promise, so it is treated as if the database had failed.
                Err(Failure::Refused(error)) => return Err(Undone::Write(error)),
                Err(Failure::Database(error)) => return Err(Undone::Write(error.into())),
            }
            used = batch.used.get();
            self.fault(When::After, What::Write);
        }
        Ok(outcomes)
    }

    /// Begins a transaction that writes. It waits here for other processes, never in the middle.
    pub(super) fn begin(&self) -> Result<(), StoreError> {
        let _turn = self.turn.take()?;
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(())
    }

    pub(super) fn commit(&self) -> rusqlite::Result<()> {
        self.connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }

    /// Undoes the transaction. Some errors have done so already.
    pub(super) fn roll_back(&self) {
        if !self.connection.is_autocommit() {
            // If it fails, the next batch cannot begin, and says so.
            let _ = self.connection.execute_batch("ROLLBACK");
        }
    }

    fn look_for_changes(&mut self) {
        let found = rows::query(&self.connection, "PRAGMA data_version", [], |row| row.get::<_, i64>(0));
        if let Ok(Some(found)) = found
            && found != self.data_version
        {
            self.data_version = found;
            self.shared.version.send_modify(|version| *version += 1);
        }
    }

    fn fault(&mut self, when: When, what: What) {
        if let Some(faults) = &self.settings.faults {
            faults(FaultPoint { when, what, index: self.next_fault });
            self.next_fault += 1;
        }
    }
}

/// Returns the bytes of the pages that are in use, as the current transaction sees them.
pub(super) fn used_bytes(connection: &Connection) -> rusqlite::Result<u64> {
    let number = |sql| rows::query(connection, sql, [], |row| row.get::<_, u64>(0)).map(Option::unwrap_or_default);
    let (all, free) = (number("PRAGMA page_count")?, number("PRAGMA freelist_count")?);
    Ok(all.saturating_sub(free).saturating_mul(number("PRAGMA page_size")?))
}
