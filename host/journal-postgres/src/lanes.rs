//! Queue of writes: lanes that write at the same time, each of them fair between callers.
//!
//! All writes to a run, or to a document, are in one lane, and in the order of the calls. The server flushes the commits of
//! all connections together. In a lane, appends of a claim that wait are one statement.

use crate::bounds::QueuedBytes;
use crate::database::Database;
use crate::fair_queue::{FairQueue, Source};
use crate::runs;
use agent_spaces_journal::{Claim, Completion, Entry, StoreError};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, oneshot, watch};

/// Bytes that a write has in the queue besides its data.
pub(crate) const OVERHEAD: usize = 256;

/// Bytes of appends from which on no more are written with them, and most of them.
const MAX_MERGED: usize = 1 << 20;
const MAX_APPENDS: usize = 1000;

/// State shared by the store and its tasks.
#[derive(Debug)]
pub(crate) struct Shared {
    queued: Mutex<QueuedBytes>,
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
            queued: Mutex::default(),
            watchers: Arc::default(),
            watched: Notify::new(),
            written: Notify::new(),
            version: watch::Sender::new(1),
        }
    }

    /// Returns the count of the queue.
    pub(crate) fn queued(&self) -> MutexGuard<'_, QueuedBytes> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a write from the count of the queue, and tells those who wait for changes.
    pub(crate) fn settle(&self, source: &Source, cost: usize, is_written: bool) {
        self.queued().remove(source, cost);
        if is_written {
            self.tell();
        }
    }

    /// Tells those who wait for changes.
    pub(crate) fn tell(&self) {
        self.version.send_modify(|version| *version += 1);
        self.written.notify_one();
    }
}

/// Message to a lane.
pub(crate) enum Message {
    /// Write, by its source. Those with the same key keep their order.
    Write { source: Source, key: u64, job: Job },
    /// Answered when everything before it is written or has failed.
    Mark(oneshot::Sender<()>),
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

/// What a lane does next.
enum Statement {
    Append(Merged),
    Work(Pin<Box<dyn Future<Output = ()> + Send>>),
}

/// Queue of a lane.
struct Lane {
    jobs: FairQueue<Job>,
    /// Marks with the number of writes before them.
    marks: VecDeque<(u64, oneshot::Sender<()>)>,
}

/// Appends that are written together.
struct Merged {
    seq: u64,
    entries: Vec<Entry>,
    bytes: usize,
    parts: Vec<(Claim, Completion, usize)>,
}

/// Writes until the store is dropped and the queue is empty.
pub(crate) async fn run(database: Arc<Database>, shared: Arc<Shared>, mut messages: UnboundedReceiver<Message>) {
    let mut lane = Lane::new();
    loop {
        // All of them: who has its turn depends on who waits.
        while let Ok(message) = messages.try_recv() {
            lane.accept(message);
        }
        lane.answer_marks();
        match lane.next_statement() {
            Some(Statement::Append(merged)) => merged.write(&database, &shared).await,
            Some(Statement::Work(work)) => work.await,
            None => match messages.recv().await {
                Some(message) => lane.accept(message),
                None => return,
            },
        }
    }
}

impl Lane {
    fn new() -> Lane {
        Lane { jobs: FairQueue::new(), marks: VecDeque::new() }
    }

    fn accept(&mut self, message: Message) {
        match message {
            Message::Write { source, key, job } => self.jobs.push(source, key, job),
            Message::Mark(mark) => self.marks.push_back((self.jobs.pushed(), mark)),
        }
    }

    /// Answers marks whose writes were all taken. Call it when the last of them is done.
    fn answer_marks(&mut self) {
        while self.marks.front().is_some_and(|(number, _)| self.jobs.has_passed(*number))
            && let Some((_, mark)) = self.marks.pop_front()
        {
            // Nobody may wait for it any more.
            let _ = mark.send(());
        }
    }

    /// Takes the next turn. Appends of a claim that follow each other in its line are one statement.
    fn next_statement(&mut self) -> Option<Statement> {
        let mut merged = match self.jobs.pop()? {
            Job::Append(first) => Merged::new(first),
            Job::Work(work) => return Some(Statement::Work(work)),
        };
        while merged.has_room() {
            let next = self.jobs.pop_if(|job| matches!(job, Job::Append(append) if merged.takes(append)));
            let Some(Job::Append(append)) = next else { break };
            merged.push(append);
        }
        Some(Statement::Append(merged))
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
            shared.settle(&Source::of(&claim), cost, outcome.is_ok());
            completion.complete(outcome.clone());
        }
    }
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
