//! Queued writes: what is done inside a transaction, and who is told afterwards.

use super::fault::Failure;
use super::owner::Owners;
use crate::error::StoreError;
use rusqlite::{Connection, Params};
use std::cell::Cell;

/// Bytes that a write has in the queue besides its data.
pub(super) const OVERHEAD: usize = 256;

/// Transaction of a batch, as a write sees it.
pub(super) struct Batch<'a> {
    pub(super) connection: &'a Connection,
    pub(super) owners: &'a Owners,
    /// Milliseconds since the Unix epoch.
    pub(super) now: i64,
    /// Bytes in use, and most of them.
    pub(super) used: Cell<u64>,
    pub(super) max_bytes: u64,
}

impl Batch<'_> {
    /// Executes a cached statement and returns the number of changed rows.
    pub(super) fn execute(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
        self.connection.prepare_cached(sql)?.execute(values)
    }

    /// Counts bytes that are about to be stored, or refuses them.
    pub(super) fn reserve(&self, bytes: u64) -> Result<(), StoreError> {
        let used = self.used.get().saturating_add(bytes);
        if used > self.max_bytes {
            let text = "the journal has reached its limit of";
            let text = format!("{text} {} bytes: prune ended runs, or raise the limit", self.max_bytes);
            return Err(StoreError::Full(text));
        }
        self.used.set(used);
        Ok(())
    }
}

/// One write.
pub(super) struct Command {
    /// Bytes in the queue.
    pub(super) cost: usize,
    pub(super) work: Box<dyn Work>,
}

/// Both halves of a write, on the writer's thread.
pub(super) trait Work: Send {
    /// Writes. It is called again if the batch was undone, so it must not depend on an earlier call. A refusal comes
    /// before the first change.
    fn apply(&mut self, batch: &Batch<'_>) -> Result<(), Failure>;

    /// Tells the caller, after the commit.
    fn complete(self: Box<Self>, outcome: Result<(), StoreError>);
}

/// Write made of two closures.
pub(super) struct Job<T, A, C> {
    value: Option<T>,
    apply: A,
    complete: C,
}

impl<T, A, C> Job<T, A, C>
where
    A: FnMut(&Batch<'_>) -> Result<T, Failure>,
    C: FnOnce(Result<T, StoreError>),
{
    pub(super) fn new(apply: A, complete: C) -> Job<T, A, C> {
        Job { value: None, apply, complete }
    }
}

impl<T, A, C> Work for Job<T, A, C>
where
    T: Send,
    A: FnMut(&Batch<'_>) -> Result<T, Failure> + Send,
    C: FnOnce(Result<T, StoreError>) + Send,
{
    fn apply(&mut self, batch: &Batch<'_>) -> Result<(), Failure> {
        self.value = None;
        self.value = Some((self.apply)(batch)?);
        Ok(())
    }

    fn complete(self: Box<Self>, outcome: Result<(), StoreError>) {
        let Job { value, complete, .. } = *self;
        complete(outcome.and_then(|()| value.ok_or_else(StoreError::closed)));
    }
}
