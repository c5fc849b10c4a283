//! Bounded queue between recorders and the writer thread.

use crate::gap::Gap;
use crate::log::AuditLog;
use crate::presence::{Counts, Presence};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Most queued entries and bytes: what a slow disk is behind in a second or two, and little memory.
pub(crate) const MAX_ENTRIES: usize = 8192;
pub(crate) const MAX_BYTES: usize = 8 << 20;

/// From here on callers that can wait do: the other half is for those that cannot.
const ROOM_ENTRIES: usize = MAX_ENTRIES / 2;
const ROOM_BYTES: usize = MAX_BYTES / 2;

/// Most entries and bytes of one batch.
const MAX_BATCH: usize = 256;
const MAX_BATCH_BYTES: usize = 1 << 20;

/// Entries dropped because the queue was full.
struct Lost {
    entries: u64,
    from: SystemTime,
    to: SystemTime,
}

/// Reason why writing fails, and since when.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    pub(crate) since: Instant,
    pub(crate) why: String,
}

/// Batch of entries being written.
#[derive(Clone)]
pub(crate) struct Batch {
    /// Entries, and possibly a gap record after them.
    pub(crate) texts: Arc<Vec<String>>,
    /// Entries that were queued.
    queued: u64,
    /// Entries settled when it is written, including those covered by the gap record.
    settles: u64,
    bytes: usize,
}

#[derive(Default)]
pub(crate) struct Queue {
    waiting: VecDeque<String>,
    batch: Option<Batch>,
    /// Bytes of the queue and the batch.
    bytes: usize,
    /// Total of queued entries, and of those in the log.
    queued: u64,
    pub(crate) written: u64,
    lost: Option<Lost>,
    counts: Counts,
    pub(crate) presence: Option<Presence>,
    /// Already opened, for the writer to take.
    pub(crate) log: Option<AuditLog>,
    pub(crate) failing: Option<Failing>,
    /// Deadline of closing.
    pub(crate) closing: Option<Instant>,
    pub(crate) has_writer: bool,
    /// Earliest time to retry starting the writer.
    pub(crate) next_start: Option<Instant>,
    wakers: Vec<Waker>,
}

impl Queue {
    /// Queues an entry and returns its number, or counts it as lost and returns `None` if the queue is full.
    pub(crate) fn take(&mut self, text: String) -> Option<u64> {
        let now = SystemTime::now();
        if self.counts.open() == 0 {
            self.counts.since =
                now.duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0));
        }
        self.counts.accepted += 1;
        let entries = self.outstanding();
        let is_full = entries >= MAX_ENTRIES || self.bytes.saturating_add(text.len()) > MAX_BYTES;
        let taken = if is_full || self.closing.is_some() {
            let lost = self.lost.get_or_insert(Lost { entries: 0, from: now, to: now });
            lost.entries += 1;
            lost.to = now;
            None
        } else {
            self.bytes += text.len();
            self.waiting.push_back(text);
            self.queued += 1;
            Some(self.queued)
        };
        self.show();
        taken
    }

    /// Returns the next batch; the same until it is settled.
    pub(crate) fn batch(&mut self) -> Option<Batch> {
        if self.batch.is_none() && (!self.waiting.is_empty() || self.lost.is_some()) {
            let mut texts = Vec::new();
            let mut bytes = 0;
            while texts.len() < MAX_BATCH && bytes < MAX_BATCH_BYTES {
                let Some(text) = self.waiting.pop_front() else { break };
                bytes += text.len();
                texts.push(text);
            }
            let queued = texts.len() as u64;
            let mut settles = queued;
            // Lost entries came after all queued ones.
            if self.waiting.is_empty()
                && let Some(lost) = self.lost.take()
            {
                let why = self.failing.as_ref().map_or("the queue of entries was full", |failing| failing.why.as_str());
                let gap = Gap::new(lost.entries, lost.from, lost.to, why);
                texts.extend(serde_json::to_string(&gap).ok());
                settles += lost.entries;
            }
            self.batch = Some(Batch { texts: Arc::new(texts), queued, settles, bytes });
        }
        self.batch.clone()
    }

    /// Marks the batch as written.
    pub(crate) fn settle(&mut self) {
        if let Some(batch) = self.batch.take() {
            self.written += batch.queued;
            self.bytes = self.bytes.saturating_sub(batch.bytes);
            self.counts.settled += batch.settles;
        }
        self.failing = None;
        self.show();
        self.wake();
    }

    /// Records a write failure. Returns true if writing worked before.
    pub(crate) fn fail(&mut self, why: String) -> bool {
        let is_new = self.failing.is_none();
        let since = self.failing.take().map_or_else(Instant::now, |failing| failing.since);
        self.failing = Some(Failing { since, why });
        self.wake();
        is_new
    }

    /// True if callers need not wait.
    pub(crate) fn has_room(&self) -> bool {
        self.outstanding() < ROOM_ENTRIES && self.bytes < ROOM_BYTES
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Publishes the counts in the presence file. A failure does not affect the entries.
    pub(crate) fn show(&self) {
        if let Some(presence) = &self.presence {
            let _ = presence.update(self.counts);
        }
    }

    pub(crate) fn wait(&mut self, waker: &Waker) {
        if !self.wakers.iter().any(|known| known.will_wake(waker)) {
            self.wakers.push(waker.clone());
        }
    }

    pub(crate) fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    /// Returns the number of entries in the queue and the batch.
    fn outstanding(&self) -> usize {
        usize::try_from(self.queued.saturating_sub(self.written)).unwrap_or(usize::MAX)
    }
}
