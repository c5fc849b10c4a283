//! Bounded store of large results.

use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of all results of a session; beyond it the oldest are dropped. Sessions of a process are limited in number.
const MAX_BYTES: usize = 64 << 20;

/// Results of a session.
const MAX_RESULTS: usize = 1_000;

/// Handles that are listed for a model that knows a wrong one.
const MAX_LISTED: usize = 20;

const PREFIX: &str = "result_";

/// Results, oldest first.
#[derive(Default)]
pub(super) struct Store {
    results: VecDeque<(String, Arc<str>)>,
    bytes: usize,
    /// Number of the last handle.
    last: u64,
}

impl Store {
    /// Keeps a text under a new handle.
    pub(super) fn add(&mut self, text: &str) -> String {
        self.last = self.last.saturating_add(1);
        let handle = format!("{PREFIX}{}", self.last);
        self.insert(handle.clone(), text.into());
        handle
    }

    /// Keeps a text under a handle that was given out before. New handles come after it.
    pub(super) fn restore(&mut self, handle: String, text: String) {
        if let Some(number) = handle.strip_prefix(PREFIX).and_then(|number| number.parse().ok()) {
            self.last = self.last.max(number);
        }
        if let Some(position) = self.results.iter().position(|(known, _)| *known == handle)
            && let Some((_, old)) = self.results.remove(position)
        {
            self.bytes -= old.len();
        }
        self.insert(handle, text.into());
    }

    fn insert(&mut self, handle: String, text: Arc<str>) {
        self.bytes += text.len();
        self.results.push_back((handle, text));
        while self.bytes > MAX_BYTES || self.results.len() > MAX_RESULTS {
            let Some((_, oldest)) = self.results.pop_front() else { return };
            self.bytes -= oldest.len();
        }
    }

    pub(super) fn get(&self, handle: &str) -> Option<Arc<str>> {
        self.results.iter().rev().find(|(known, _)| known == handle).map(|(_, text)| text.clone())
    }

    /// The newest handles, newest first.
    pub(super) fn newest(&self) -> Vec<String> {
        self.results.iter().rev().take(MAX_LISTED).map(|(handle, _)| handle.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_results_are_dropped() {
        let mut store = Store::default();
        let text = "x".repeat(MAX_BYTES / 4);
        let handles: Vec<_> = (0..6).map(|_| store.add(&text)).collect();
        let kept: Vec<_> = handles.iter().filter(|handle| store.get(handle).is_some()).collect();
        assert_eq!(kept, ["result_3", "result_4", "result_5", "result_6"]);
        for _ in 0..MAX_RESULTS {
            store.add("y");
        }
        assert!(store.get("result_6").is_none());
        assert_eq!((store.results.len(), store.bytes), (MAX_RESULTS, MAX_RESULTS));
    }

    #[test]
    fn a_text_beyond_all_bounds_leaves_nothing() {
        let mut store = Store::default();
        let handle = store.add(&"x".repeat(MAX_BYTES + 1));
        assert!(store.get(&handle).is_none());
        assert_eq!(store.bytes, 0);
    }

    #[test]
    fn new_handles_follow_restored_ones() {
        let mut store = Store::default();
        store.restore("result_7".into(), "old".into());
        store.restore("result_3".into(), "older".into());
        store.restore("strange".into(), "other".into());
        assert_eq!(store.add("new"), "result_8");
        assert_eq!(store.get("result_7").as_deref(), Some("old"));
        store.restore("result_7".into(), "longer".into());
        assert_eq!(store.get("result_7").as_deref(), Some("longer"));
        assert_eq!(store.bytes, "longer".len() + "older".len() + "other".len() + "new".len());
        store.restore(format!("{PREFIX}{}", u64::MAX), "last".into());
        store.add("no overflow");
    }

    #[test]
    fn few_handles_are_listed() {
        let mut store = Store::default();
        (0..100).for_each(|_| drop(store.add("x")));
        let newest = store.newest();
        assert_eq!((newest.len(), newest[0].as_str()), (MAX_LISTED, "result_100"));
    }
}
