//! Bytes of queued writes: the limit of all, and the share of one source.

use crate::fair_queue::Source;
use agent_spaces_journal::StoreError;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Bytes that each source may have queued, whatever others have: runs that do little go on beside tenants that fill the queue.
const LITTLE: usize = 64 << 10;

/// Bytes of queued writes, in all lanes.
#[derive(Debug)]
pub(crate) struct QueuedBytes {
    most: usize,
    /// Those of all sources, of each at most its share: nobody pays for what another has beyond that.
    total: usize,
    /// Sources with queued writes.
    sources: HashMap<Source, usize>,
}

impl QueuedBytes {
    pub(crate) fn new(most: usize) -> QueuedBytes {
        QueuedBytes { most, total: 0, sources: HashMap::new() }
    }

    /// Most bytes of one source.
    fn share(&self) -> usize {
        self.most / 2
    }

    /// Counts a write, or refuses it if it is bounded and all have too much then, or its source more than its share. A
    /// source without queued writes may have a larger one, and each may have a little.
    pub(crate) fn add(&mut self, source: &Source, cost: usize, is_bounded: bool) -> Result<(), StoreError> {
        let (most, share) = (self.most, self.share());
        let own = self.sources.get(source).copied().unwrap_or(0);
        let after = own.saturating_add(cost);
        let total = (self.total - own.min(share)).saturating_add(after.min(share));
        if is_bounded && (after > LITTLE || cost > most) {
            let text = "write less, or wait for earlier writes";
            if total > most || cost > most {
                return Err(StoreError::QueueFull(format!("the journal's queue of {most} bytes is full: {text}")));
            }
            if own > 0 && after > share {
                let share = format!("one tenant may have at most half of its {most} bytes");
                return Err(StoreError::QueueFull(format!(
                    "the journal's queue is full for this tenant, {share}: {text}"
                )));
            }
        }
        self.total = total;
        self.sources.insert(source.clone(), after);
        Ok(())
    }

    /// Takes a write from the count.
    pub(crate) fn remove(&mut self, source: &Source, cost: usize) {
        let share = self.share();
        if let Entry::Occupied(mut entry) = self.sources.entry(source.clone()) {
            let own = entry.get_mut();
            let left = own.saturating_sub(cost);
            self.total = self.total.saturating_sub((*own).min(share) - left.min(share));
            *own = left;
            if left == 0 {
                entry.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::bounds::{LITTLE, QueuedBytes};
    use crate::fair_queue::Source;
    use agent_spaces_journal::StoreError;

    fn is_full(outcome: Result<(), StoreError>, part: &str) {
        assert!(matches!(&outcome, Err(StoreError::QueueFull(text)) if text.contains(part)), "{outcome:?}");
    }

    /// Unit of the tests: far more than each source may have in any case.
    const K: usize = 1_024_000;

    #[test]
    fn a_caller_has_at_most_half_of_the_queue() {
        let [a, b, c] = ["a", "b", "c"].map(|name| Source::Caller(name.into()));
        let mut queued = QueuedBytes::new(100 * K);
        queued.add(&a, 30 * K, true).unwrap();
        queued.add(&a, 20 * K, true).unwrap();
        is_full(
            queued.add(&a, K, true),
            "full for this tenant, one tenant may have at most half of its 102400000 bytes",
        );
        queued.add(&b, 40 * K, true).unwrap();
        is_full(queued.add(&c, 11 * K, true), "queue of 102400000 bytes is full");
        queued.add(&c, 10 * K, true).unwrap();
        // What was refused is not counted.
        queued.remove(&a, 30 * K);
        queued.add(&a, 30 * K, true).unwrap();
        is_full(queued.add(&a, K, true), "full for this tenant");
    }

    #[test]
    fn one_write_may_be_larger_than_half() {
        let [a, b] = ["a", "b"].map(|name| Source::Caller(name.into()));
        let mut queued = QueuedBytes::new(100 * K);
        is_full(queued.add(&a, 101 * K, true), "queue of 102400000 bytes is full");
        queued.add(&a, 90 * K, true).unwrap();
        is_full(queued.add(&a, K, true), "full for this tenant");
        queued.add(&b, 50 * K, true).unwrap();
        queued.remove(&a, 90 * K);
        queued.remove(&b, 50 * K);
        assert!(queued.sources.is_empty() && queued.total == 0);
    }

    #[test]
    fn what_ends_a_run_is_queued_nevertheless_and_takes_nobody_elses_share() {
        let [a, b] = ["a", "b"].map(|name| Source::Caller(name.into()));
        let mut queued = QueuedBytes::new(100 * K);
        queued.add(&a, 90 * K, true).unwrap();
        queued.add(&a, 90 * K, false).unwrap();
        is_full(queued.add(&a, K, true), "full for this tenant");
        queued.add(&b, 40 * K, true).unwrap();
        queued.add(&b, 10 * K, true).unwrap();
        is_full(queued.add(&Source::Documents("".into()), K, true), "queue of 102400000 bytes is full");
        queued.remove(&a, 90 * K);
        is_full(queued.add(&Source::Documents("".into()), K, true), "queue of 102400000 bytes is full");
        queued.remove(&a, 90 * K);
        queued.add(&Source::Documents("".into()), K, true).unwrap();
        queued.remove(&b, 40 * K);
        queued.remove(&b, 10 * K);
        queued.remove(&Source::Documents("".into()), K);
        assert!(queued.sources.is_empty() && queued.total == 0);
    }

    #[test]
    fn a_little_is_queued_whatever_others_have() {
        let [a, b, c] = ["a", "b", "c"].map(|name| Source::Caller(name.into()));
        let mut queued = QueuedBytes::new(100 * K);
        queued.add(&a, 80 * K, true).unwrap();
        queued.add(&b, 80 * K, false).unwrap();
        queued.add(&c, LITTLE - 1, true).unwrap();
        queued.add(&c, 1, true).unwrap();
        is_full(queued.add(&c, 1, true), "queue of 102400000 bytes is full");
    }
}
