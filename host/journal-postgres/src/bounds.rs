//! Bytes of queued writes: the limit of all, and the share of one source.

use crate::fair_queue::Source;
use agent_spaces_journal::StoreError;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

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
    /// source without queued writes may have a larger one.
    pub(crate) fn add(&mut self, source: &Source, cost: usize, is_bounded: bool) -> Result<(), StoreError> {
        let (most, share) = (self.most, self.share());
        let own = self.sources.get(source).copied().unwrap_or(0);
        let after = own.saturating_add(cost);
        let total = (self.total - own.min(share)).saturating_add(after.min(share));
        if is_bounded {
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
    use crate::bounds::QueuedBytes;
    use crate::fair_queue::Source;
    use agent_spaces_journal::StoreError;

    fn is_full(outcome: Result<(), StoreError>, part: &str) {
        assert!(matches!(&outcome, Err(StoreError::QueueFull(text)) if text.contains(part)), "{outcome:?}");
    }

    #[test]
    fn a_caller_has_at_most_half_of_the_queue() {
        let [a, b, c] = ["a", "b", "c"].map(|name| Source::Caller(name.into()));
        let mut queued = QueuedBytes::new(100);
        queued.add(&a, 30, true).unwrap();
        queued.add(&a, 20, true).unwrap();
        is_full(queued.add(&a, 1, true), "full for this tenant, one tenant may have at most half of its 100 bytes");
        queued.add(&b, 40, true).unwrap();
        is_full(queued.add(&c, 11, true), "queue of 100 bytes is full");
        queued.add(&c, 10, true).unwrap();
        // What was refused is not counted.
        queued.remove(&a, 30);
        queued.add(&a, 30, true).unwrap();
        is_full(queued.add(&a, 1, true), "full for this tenant");
    }

    #[test]
    fn one_write_may_be_larger_than_half() {
        let [a, b] = ["a", "b"].map(|name| Source::Caller(name.into()));
        let mut queued = QueuedBytes::new(100);
        is_full(queued.add(&a, 101, true), "queue of 100 bytes is full");
        queued.add(&a, 90, true).unwrap();
        is_full(queued.add(&a, 1, true), "full for this tenant");
        queued.add(&b, 50, true).unwrap();
        queued.remove(&a, 90);
        queued.remove(&b, 50);
        assert!(queued.sources.is_empty() && queued.total == 0);
    }

    #[test]
    fn what_ends_a_run_is_queued_nevertheless_and_takes_nobody_elses_share() {
        let [a, b] = ["a", "b"].map(|name| Source::Caller(name.into()));
        let mut queued = QueuedBytes::new(100);
        queued.add(&a, 90, true).unwrap();
        queued.add(&a, 90, false).unwrap();
        is_full(queued.add(&a, 1, true), "full for this tenant");
        queued.add(&b, 40, true).unwrap();
        queued.add(&b, 10, true).unwrap();
        is_full(queued.add(&Source::Documents("".into()), 1, true), "queue of 100 bytes is full");
        queued.remove(&a, 90);
        is_full(queued.add(&Source::Documents("".into()), 1, true), "queue of 100 bytes is full");
        queued.remove(&a, 90);
        queued.add(&Source::Documents("".into()), 1, true).unwrap();
        queued.remove(&b, 40);
        queued.remove(&b, 10);
        queued.remove(&Source::Documents("".into()), 1);
        assert!(queued.sources.is_empty() && queued.total == 0);
    }
}
