//! The queue between those who record entries and the thread that writes them.

use crate::gap::Gap;
use crate::log::AuditLog;
use crate::presence::{Counts, Presence};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Most entries that wait, and their bytes: what a slow disk is behind by in a second or two, and no burden on memory.
pub(crate) const MAX_ENTRIES: usize = 8192;
pub(crate) const MAX_BYTES: usize = 8 << 20;

/// From here on whoever can wait does: the other half is for those who cannot.
const ROOM_ENTRIES: usize = MAX_ENTRIES / 2;
const ROOM_BYTES: usize = MAX_BYTES / 2;

/// Most of what is written at one time.
const MAX_BATCH: usize = 256;
const MAX_BATCH_BYTES: usize = 1 << 20;

/// Entries that there was no room for.
struct Lost {
    entries: u64,
    from: SystemTime,
    to: SystemTime,
}

/// Why nothing can be written, and since when.
#[derive(Clone, Debug)]
pub(crate) struct Failing {
    pub(crate) since: Instant,
    pub(crate) why: String,
}

/// What is written next, until it is written.
#[derive(Clone)]
pub(crate) struct Batch {
    /// Entries, and perhaps a gap record after them.
    pub(crate) texts: Arc<Vec<String>>,
    /// Entries that were queued.
    queued: u64,
    /// Entries that are settled when it is written: also those that the gap record tells of.
    settles: u64,
    bytes: usize,
}

#[derive(Default)]
pub(crate) struct Queue {
    waiting: VecDeque<String>,
    batch: Option<Batch>,
    /// Of what waits and of the batch.
    bytes: usize,
    /// Entries that were queued, ever, and those of them that are in the log.
    queued: u64,
    pub(crate) written: u64,
    lost: Option<Lost>,
    counts: Counts,
    pub(crate) presence: Option<Presence>,
    /// Opened already, for the writer to take.
    pub(crate) log: Option<AuditLog>,
    pub(crate) failing: Option<Failing>,
    /// When nobody waits for the writer any more.
    pub(crate) closing: Option<Instant>,
    pub(crate) has_writer: bool,
    /// When a writer that did not start may be started again.
    pub(crate) next_start: Option<Instant>,
    wakers: Vec<Waker>,
}

impl Queue {
    /// Takes an entry. Gives its number in the queue, or nothing where there is no room; then it is counted.
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

    /// What is to be written next; the same until it is settled.
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
            // What there was no room for came after all that waits.
            if self.waiting.is_empty()
                && let Some(lost) = self.lost.take()
            {
                let why = self
                    .failing
                    .as_ref()
                    .map_or("too many entries waited to be written", |failing| failing.why.as_str());
                let gap = Gap::new(lost.entries, lost.from, lost.to, why);
                texts.extend(serde_json::to_string(&gap).ok());
                settles += lost.entries;
            }
            self.batch = Some(Batch { texts: Arc::new(texts), queued, settles, bytes });
        }
        self.batch.clone()
    }

    /// The batch is in the log.
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

    /// Writing failed. Says whether it worked before.
    pub(crate) fn fail(&mut self, why: String) -> bool {
        let is_new = self.failing.is_none();
        let since = self.failing.take().map_or_else(Instant::now, |failing| failing.since);
        self.failing = Some(Failing { since, why });
        self.wake();
        is_new
    }

    /// Whether whoever can wait should not.
    pub(crate) fn has_room(&self) -> bool {
        self.outstanding() < ROOM_ENTRIES && self.bytes < ROOM_BYTES
    }

    pub(crate) fn counts(&self) -> Counts {
        self.counts
    }

    /// Writes the counts where others see them. If that fails, others see less: the entries themselves are not concerned.
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

    /// Entries that wait, and those of the batch.
    fn outstanding(&self) -> usize {
        usize::try_from(self.queued.saturating_sub(self.written)).unwrap_or(usize::MAX)
    }
}
