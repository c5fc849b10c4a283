//! Bytes of queued writes: the limit of all, and the share of one source.

use crate::fair_queue::Source;
use agent_spaces_journal::StoreError;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Bytes of queued writes, in all lanes.
#[derive(Debug, Default)]
pub(crate) struct QueuedBytes {
    total: usize,
    /// Sources with queued writes.
    sources: HashMap<Source, usize>,
}

impl QueuedBytes {
    /// Counts a write, or refuses it if it is bounded and all have more than `most` then, or its source more than half of
    /// that. A source without queued writes may have a larger one.
    pub(crate) fn add(&mut self, source: &Source, cost: usize, most: Option<usize>) -> Result<(), StoreError> {
        let own = self.sources.get(source).copied().unwrap_or(0);
        let (total, after) = (self.total.saturating_add(cost), own.saturating_add(cost));
        if let Some(most) = most {
            let text = "write less, or wait for earlier writes";
            if total > most {
                return Err(StoreError::QueueFull(format!("the journal's queue of {most} bytes is full: {text}")));
            }
            if own > 0 && after > most / 2 {
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
        self.total = self.total.saturating_sub(cost);
        if let Entry::Occupied(mut entry) = self.sources.entry(source.clone()) {
            let own = entry.get_mut();
            *own = own.saturating_sub(cost);
            if *own == 0 {
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
        let (mut queued, most) = (QueuedBytes::default(), Some(100));
        queued.add(&a, 30, most).unwrap();
        queued.add(&a, 20, most).unwrap();
        is_full(queued.add(&a, 1, most), "full for this tenant, one tenant may have at most half of its 100 bytes");
        queued.add(&b, 40, most).unwrap();
        is_full(queued.add(&c, 11, most), "queue of 100 bytes is full");
        queued.add(&c, 10, most).unwrap();
        // What was refused is not counted.
        queued.remove(&a, 30);
        queued.add(&a, 30, most).unwrap();
        is_full(queued.add(&a, 1, most), "queue of 100 bytes is full");
    }

    #[test]
    fn one_write_may_be_larger_than_half() {
        let a = Source::Caller("a".into());
        let mut queued = QueuedBytes::default();
        is_full(queued.add(&a, 101, Some(100)), "queue of 100 bytes is full");
        queued.add(&a, 90, Some(100)).unwrap();
        is_full(queued.add(&a, 1, Some(100)), "full for this tenant");
        queued.remove(&a, 90);
        assert!(queued.sources.is_empty() && queued.total == 0);
    }

    #[test]
    fn what_ends_a_run_is_queued_nevertheless_and_counts() {
        let a = Source::Caller("a".into());
        let mut queued = QueuedBytes::default();
        queued.add(&a, 90, Some(100)).unwrap();
        queued.add(&a, 90, None).unwrap();
        is_full(queued.add(&Source::Documents("".into()), 1, Some(100)), "queue of 100 bytes is full");
        queued.remove(&a, 90);
        queued.add(&Source::Documents("".into()), 1, Some(100)).unwrap();
    }
}
