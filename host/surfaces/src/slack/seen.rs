//! Events that were handled: Slack sends one again if its acknowledgement is lost.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Events that are remembered. Slack repeats an event for an hour at most.
const MAX_SEEN: usize = 10_000;

/// Longest key that is remembered. Slack's ids have some 30 bytes.
const MAX_KEY: usize = 200;

/// Keys of the last events.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<Keys>);

#[derive(Debug, Default)]
struct Keys {
    known: HashSet<String>,
    /// In the order in which they came.
    order: VecDeque<String>,
}

impl Seen {
    /// Returns true if the key is new, and remembers it. A key that is too long is never new.
    pub(super) fn is_new(&self, key: &str) -> bool {
        if key.len() > MAX_KEY {
            return false;
        }
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !keys.known.insert(key.to_owned()) {
            return false;
        }
        keys.order.push_back(key.to_owned());
        if keys.order.len() > MAX_SEEN
            && let Some(oldest) = keys.order.pop_front()
        {
            keys.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_SEEN, Seen};

    #[test]
    fn an_event_is_new_once_and_memory_is_bounded() {
        let seen = Seen::default();
        assert!(seen.is_new("Ev1"));
        assert!(!seen.is_new("Ev1"));
        for number in 0..MAX_SEEN {
            assert!(seen.is_new(&format!("Other{number}")));
        }
        // The oldest was forgotten.
        assert!(seen.is_new("Ev1"));
        assert_eq!(seen.0.lock().unwrap().known.len(), MAX_SEEN);
        assert!(!seen.is_new(&"x".repeat(1_000)));
    }
}
