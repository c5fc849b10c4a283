//! Queue of writes: lanes that write at the same time, each in the order of its calls.
//!
//! All writes to a run, or to a document, are in one lane. The server flushes the commits of all connections together. In
//! a lane, appends of a claim that wait are one statement.

use crate::database::Database;
use crate::runs;
use agent_spaces_journal::{Claim, Completion, Entry, StoreError};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, watch};

/// Bytes that a write has in the queue besides its data.
pub(crate) const OVERHEAD: usize = 256;

/// Bytes of appends from which on no more are written with them, and most of them.
const MAX_MERGED: usize = 1 << 20;
const MAX_APPENDS: usize = 1000;

/// State shared by the store and its tasks.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Bytes in the queue.
    pub(crate) queued: AtomicUsize,
    /// Number of those who wait for changes.
    pub(crate) watchers: Arc<AtomicUsize>,
    /// Told when somebody waits for changes.
    pub(crate) watched: Notify,
    /// Told when this process wrote.
    pub(crate) written: Notify,
    /// Changes with every write, ours or others'. It starts at 1.
    pub(crate) version: watch::Sender<u64>,
}

impl Shared {
    pub(crate) fn new() -> Shared {
        Shared {
            queued: AtomicUsize::new(0),
            watchers: Arc::default(),
            watched: Notify::new(),
            written: Notify::new(),
            version: watch::Sender::new(1),
        }
    }

    /// Takes a write from the count of the queue, and tells those who wait for changes.
    pub(crate) fn settle(&self, cost: usize, is_written: bool) {
        self.queued.fetch_sub(cost, Ordering::SeqCst);
        if is_written {
            self.version.send_modify(|version| *version += 1);
            self.written.notify_one();
        }
    }
}

/// Queued write.
pub(crate) enum Job {
    Append(Append),
    /// Anything else. It tells its caller itself.
    Work(Pin<Box<dyn Future<Output = ()> + Send>>),
}

/// Entries to append.
pub(crate) struct Append {
    pub(crate) claim: Claim,
    pub(crate) seq: u64,
    pub(crate) entries: Vec<Entry>,
    pub(crate) completion: Completion,
    pub(crate) cost: usize,
}

/// Appends that are written together.
struct Merged {
    seq: u64,
    entries: Vec<Entry>,
    bytes: usize,
    parts: Vec<(Claim, Completion, usize)>,
}

/// Writes until the store is dropped and the queue is empty.
pub(crate) async fn run(database: Arc<Database>, shared: Arc<Shared>, mut queue: UnboundedReceiver<Job>) {
    let mut next = None;
    loop {
        let job = match next.take() {
            Some(job) => job,
            None => match queue.recv().await {
                Some(job) => job,
                None => return,
            },
        };
        match job {
            Job::Work(work) => work.await,
            Job::Append(first) => {
                let mut merged = Merged::new(first);
                while merged.has_room() {
                    match queue.try_recv() {
                        Ok(Job::Append(append)) if merged.takes(&append) => merged.push(append),
                        Ok(other) => {
                            next = Some(other);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                merged.write(&database, &shared).await;
            }
        }
    }
}

impl Merged {
    fn new(first: Append) -> Merged {
        let Append { claim, seq, entries, completion, cost } = first;
        Merged { seq, entries, bytes: cost, parts: vec![(claim, completion, cost)] }
    }

    fn has_room(&self) -> bool {
        self.bytes < MAX_MERGED && self.parts.len() < MAX_APPENDS
    }

    /// True if an append is of the same owner and goes on where these end.
    fn takes(&self, append: &Append) -> bool {
        let is_next = append.seq == self.seq.saturating_add(self.entries.len() as u64);
        let is_same = |claim: &Claim| claim.run == append.claim.run && claim.epoch == append.claim.epoch;
        let is_valid = |claim: &Claim| claim.check().is_ok();
        is_next && is_valid(&append.claim) && self.parts.iter().all(|(claim, ..)| is_same(claim) && is_valid(claim))
    }

    fn push(&mut self, append: Append) {
        self.entries.extend(append.entries);
        self.bytes = self.bytes.saturating_add(append.cost);
        self.parts.push((append.claim, append.completion, append.cost));
    }

    async fn write(self, database: &Database, shared: &Shared) {
        let outcome = match self.parts.first() {
            Some((claim, ..)) => runs::append(database, claim, self.seq, &self.entries).await,
            None => Err(StoreError::closed()),
        };
        for (claim, completion, cost) in self.parts {
            if let Err(error) = &outcome {
                claim.fail(error);
            }
            shared.settle(cost, outcome.is_ok());
            completion.complete(outcome.clone());
        }
    }
}
