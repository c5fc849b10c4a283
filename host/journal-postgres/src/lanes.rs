//! Lanes to the server: they write or read at the same time, and take statements from fair queues.
//!
//! All writes to a run, or to a document, follow each other in the order of the calls. The server flushes the commits of all
//! connections together. Appends of a claim that wait are one statement. A statement that takes long holds up its lane
//! alone: others take the next free one, and no tenant has all of them while another needs one.

use crate::database::Database;
use crate::fair_queue::{FairQueue, Permit, Source, Taken, Waiting};
use crate::pace::{Pace, SMALL};
use crate::panics::caught;
use crate::runs;
use crate::shared::Shared;
use agent_spaces_journal::{Claim, Completion, Entry, StoreError};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

/// Bytes that a write has in the queue besides its data.
pub(crate) const OVERHEAD: usize = 256;

/// Bytes of appends from which on no more are written with them, and most of them.
const MAX_MERGED: usize = 1 << 20;
const MAX_APPENDS: usize = 1000;

/// Longest time that a write rests: what ends a run has to be there long before its lease is over.
const MAX_REST: Duration = Duration::from_secs(5);

/// Queued statement.
pub(crate) enum Job {
    Append(Append),
    /// Anything else, with its bytes. It tells its caller itself, also of a panic.
    Work(usize, Work),
}

impl Job {
    fn bytes(&self) -> usize {
        match self {
            Job::Append(append) => append.cost,
            Job::Work(bytes, _) => *bytes,
        }
    }
}

pub(crate) type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Entries to append.
pub(crate) struct Append {
    pub(crate) claim: Claim,
    /// Source that its bytes are counted for.
    pub(crate) source: Source,
    pub(crate) seq: u64,
    pub(crate) entries: Vec<Entry>,
    pub(crate) completion: Completion,
    pub(crate) cost: usize,
}

/// Statements that a lane carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Write,
    Read,
}

/// All lanes of a store.
pub(crate) struct Lanes {
    queues: Mutex<Queues>,
    /// Notified for each statement that is queued.
    written: Notify,
    read: Notify,
}

struct Queues {
    writes: FairQueue<Job>,
    reads: FairQueue<Work>,
    /// Marks with the number of writes before them.
    marks: VecDeque<(u64, oneshot::Sender<()>)>,
    pace: Pace,
    /// Most lanes of one tenant, while another needs some.
    most_writing: usize,
    most_reading: usize,
    /// Statements that the server works on.
    at_once: usize,
    /// Nothing more is queued.
    is_closed: bool,
}

/// Statement that has its turn.
struct Turn {
    place: Place,
    statement: Statement,
}

/// Place of a statement at the server.
struct Place {
    taken: Taken,
    kind: Kind,
    bytes: usize,
    /// Others at the same time, and itself.
    at_once: usize,
    begun: Instant,
}

/// Next action of a lane.
enum Statement {
    Append(Merged),
    Work(Work),
}

/// Appends that are written together.
struct Merged {
    seq: u64,
    entries: Vec<Entry>,
    bytes: usize,
    parts: Vec<(Claim, Source, Completion, usize)>,
}

/// Returns how many of so many connections write, and how many read: at least one of each.
pub(crate) fn counts(connections: usize) -> (usize, usize) {
    let writes = (connections / 2).max(1);
    (writes, connections.saturating_sub(writes).max(1))
}

impl Lanes {
    /// For this many connections.
    pub(crate) fn new(connections: usize) -> Lanes {
        let (writes, reads) = counts(connections);
        // Half of the connections may be all that write, or all that read.
        let but_one = |lanes: usize| lanes.saturating_sub(1).max(1);
        let queues = Queues {
            writes: FairQueue::new(),
            reads: FairQueue::new(),
            marks: VecDeque::new(),
            pace: Pace::new(connections),
            most_writing: but_one(writes),
            most_reading: but_one(reads),
            at_once: 0,
            is_closed: false,
        };
        Lanes { queues: Mutex::new(queues), written: Notify::new(), read: Notify::new() }
    }

    /// Queues a write. Those with the same key keep their order.
    pub(crate) fn write(&self, source: Source, key: u64, job: Job) {
        {
            let mut queues = self.queues();
            queues.pace.queue(&source, Instant::now());
            queues.writes.push(source, key, job);
        }
        self.written.notify_one();
    }

    /// Queues a read.
    pub(crate) fn read(&self, source: Source, work: Work) {
        {
            let mut queues = self.queues();
            let number = queues.reads.pushed();
            queues.pace.queue(&source, Instant::now());
            queues.reads.push(source, number, work);
        }
        self.read.notify_one();
    }

    /// Is answered when everything that is queued now is written or has failed.
    pub(crate) fn mark(&self) -> oneshot::Receiver<()> {
        let (mark, marked) = oneshot::channel();
        let mut queues = self.queues();
        let before = queues.writes.pushed();
        queues.marks.push_back((before, mark));
        queues.answer_marks();
        drop(queues);
        // What rests need not any more.
        self.written.notify_one();
        marked
    }

    /// Ends the lanes once the queues are empty.
    pub(crate) fn close(&self) {
        self.queues().is_closed = true;
        self.written.notify_waiters();
        self.read.notify_waiters();
    }

    /// Works as a lane until the store is dropped and the queue is empty.
    pub(crate) async fn run(self: Arc<Self>, kind: Kind, database: Arc<Database>, shared: Arc<Shared>) {
        let news = match kind {
            Kind::Write => &self.written,
            Kind::Read => &self.read,
        };
        loop {
            let Some(Turn { place, statement }) = self.turn(kind, news).await else { return };
            let work = async {
                match statement {
                    Statement::Append(merged) => merged.write(&database, &shared).await,
                    Statement::Work(work) => work.await,
                }
                Ok(())
            };
            // What it is for was told. Here a panic would take the lane, and the place of its statement in the queue.
            let _told = caught(work).await;
            self.done(place);
        }
    }

    /// Waits for the next turn; `None` when lanes end. A lane that works does not listen: it would take the news from one that
    /// waits.
    async fn turn(&self, kind: Kind, news: &Notify) -> Option<Turn> {
        loop {
            let mut told = pin!(news.notified());
            // What comes after the look is told.
            told.as_mut().enable();
            let rest = {
                let mut queues = self.queues();
                let now = Instant::now();
                if let Some(turn) = queues.next(kind, now) {
                    return Some(turn);
                }
                if queues.is_closed && queues.is_empty(kind) {
                    return None;
                }
                queues.rest(kind, now)
            };
            match rest {
                // Nobody tells the end of a rest.
                Some(rest) => drop(timeout(rest, told).await),
                None => told.await,
            }
        }
    }

    /// Ends a turn, and tells those that may have waited for it: a tenant may have been at its limit.
    fn done(&self, place: Place) {
        let mut queues = self.queues();
        queues.done(place, Instant::now());
        if queues.is_closed {
            self.written.notify_waiters();
            self.read.notify_waiters();
            return;
        }
        if queues.writes.has_ready() {
            self.written.notify_one();
        }
        if queues.reads.has_ready() {
            self.read.notify_one();
        }
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queues {
    /// Takes the next turn. Appends of a claim that follow each other are one statement.
    fn next(&mut self, kind: Kind, now: Instant) -> Option<Turn> {
        let Queues { writes, reads, marks, pace, is_closed, .. } = self;
        let most = match kind {
            Kind::Write => self.most_writing,
            Kind::Read => self.most_reading,
        };
        // All that the server has of a source counts.
        let permit = |source: &Source, busy: usize, others: usize| match pace.limit(source, now) {
            Some(limit) if busy >= most || busy.saturating_add(others) >= limit => Permit::Nothing,
            Some(_) if kind == Kind::Write && !pace.may_write_large(source, now) => Permit::Small,
            _ => Permit::All,
        };
        // Nobody waits for a rest: a store that ends does not, nor does who asked for the end of all writes before.
        let urgent = if *is_closed { u64::MAX } else { marks.back().map_or(0, |(number, _)| *number) };
        let needs_no_rest = |Waiting { value, number, since }: Waiting<'_, Job>| {
            value.bytes() <= SMALL || number < urgent || now.saturating_duration_since(since) >= MAX_REST
        };
        let (taken, bytes, statement) = match kind {
            Kind::Write => {
                let permit = |source: &Source, busy: usize| permit(source, busy, reads.busy(source));
                match writes.take(permit, needs_no_rest)? {
                    (taken, Job::Work(bytes, work)) => (taken, bytes, Statement::Work(work)),
                    (mut taken, Job::Append(first)) => {
                        let mut merged = Merged::new(first);
                        let most = if taken.permit() == Permit::Small { SMALL } else { usize::MAX };
                        while merged.has_room() {
                            let is_wanted =
                                |job: &Job| matches!(job, Job::Append(append) if merged.takes(append, most));
                            let next = writes.take_more(&mut taken, is_wanted);
                            let Some(Job::Append(append)) = next else { break };
                            merged.push(append);
                        }
                        (taken, merged.bytes, Statement::Append(merged))
                    }
                }
            }
            Kind::Read => {
                let permit = |source: &Source, busy: usize| permit(source, busy, writes.busy(source));
                let (taken, work) = reads.take(permit, |_| true)?;
                (taken, 0, Statement::Work(work))
            }
        };
        if bytes > SMALL {
            pace.begin_large(taken.source());
        }
        self.at_once += 1;
        Some(Turn { place: Place { taken, kind, bytes, at_once: self.at_once, begun: now }, statement })
    }

    /// Returns the time until a tenant that rests may write again; `None` if none does.
    fn rest(&self, kind: Kind, now: Instant) -> Option<Duration> {
        match kind {
            Kind::Write if self.writes.has_ready() => self.pace.rest(now),
            _ => None,
        }
    }

    /// Ends a turn.
    fn done(&mut self, place: Place, now: Instant) {
        let Place { taken, kind, bytes, at_once, begun } = place;
        for source in taken.sources() {
            self.pace.done(source, now);
        }
        let took = now.saturating_duration_since(begun);
        if bytes > SMALL {
            self.pace.end_large(taken.source(), took, now);
        } else if kind == Kind::Write {
            // It was disturbed by those that came later, too.
            self.pace.measured(took, at_once.max(self.at_once), now);
        }
        match kind {
            Kind::Write => self.writes.done(taken),
            Kind::Read => self.reads.done(taken),
        }
        self.at_once = self.at_once.saturating_sub(1);
        self.answer_marks();
    }

    fn is_empty(&self, kind: Kind) -> bool {
        match kind {
            Kind::Write => self.writes.is_empty(),
            Kind::Read => self.reads.is_empty(),
        }
    }

    /// Answers marks whose writes are all done.
    fn answer_marks(&mut self) {
        while self.marks.front().is_some_and(|(number, _)| self.writes.has_passed(*number))
            && let Some((_, mark)) = self.marks.pop_front()
        {
            // Nobody may wait for it any more.
            let _ = mark.send(());
        }
    }
}

impl Merged {
    fn new(first: Append) -> Merged {
        let Append { claim, source, seq, entries, completion, cost } = first;
        Merged { seq, entries, bytes: cost, parts: vec![(claim, source, completion, cost)] }
    }

    fn has_room(&self) -> bool {
        self.bytes < MAX_MERGED && self.parts.len() < MAX_APPENDS
    }

    /// True if an append is of the same owner and goes on where these end, and all have at most so many bytes.
    fn takes(&self, append: &Append, most: usize) -> bool {
        if self.bytes.saturating_add(append.cost) > most {
            return false;
        }
        let is_next = append.seq == self.seq.saturating_add(self.entries.len() as u64);
        let is_same = |claim: &Claim| claim.run == append.claim.run && claim.epoch == append.claim.epoch;
        let is_valid = |claim: &Claim| claim.check().is_ok();
        is_next && is_valid(&append.claim) && self.parts.iter().all(|(claim, ..)| is_same(claim) && is_valid(claim))
    }

    fn push(&mut self, append: Append) {
        self.entries.extend(append.entries);
        self.bytes = self.bytes.saturating_add(append.cost);
        self.parts.push((append.claim, append.source, append.completion, append.cost));
    }

    async fn write(self, database: &Database, shared: &Shared) {
        let outcome = match self.parts.first() {
            Some((claim, ..)) => caught(runs::append(database, claim, self.seq, &self.entries)).await,
            None => Err(StoreError::closed()),
        };
        for (claim, source, completion, cost) in self.parts {
            if let Err(error) = &outcome {
                claim.fail(error);
            }
            shared.settle(&source, cost, outcome.is_ok());
            completion.complete(outcome.clone());
        }
    }
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
