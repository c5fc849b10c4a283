//! Ids of tool calls in the form that Anthropic accepts.

use std::collections::{HashMap, HashSet};

/// Longest id. Anthropic names no bound; services that pass requests on to its models have this one.
const MAX: usize = 64;
/// Bytes that are kept of an id that has to change, so that a number fits behind it.
const KEPT: usize = 40;

/// Ids of one conversation.
///
/// Ids of other providers may hold any character, may be long, and may repeat in a later turn; Anthropic accepts letters,
/// digits, `_` and `-`, and no id twice. An id that fits is written as it is. Another one is derived from it and from
/// the calls before it alone, so that it stays the same on later turns, as the provider's cache demands.
#[derive(Default)]
pub(super) struct CallIds {
    /// Written id of the latest call with an id.
    latest: HashMap<String, String>,
    /// All ids that were written.
    written: HashSet<String>,
}

impl CallIds {
    /// Id of a call.
    pub(super) fn of_call(&mut self, id: &str) -> String {
        let written = self.free(id);
        self.written.insert(written.clone());
        self.latest.insert(id.to_owned(), written.clone());
        written
    }

    /// Id of the call that a result answers.
    pub(super) fn of_result(&mut self, id: &str) -> String {
        match self.latest.get(id) {
            Some(written) => written.clone(),
            None => self.of_call(id),
        }
    }

    fn free(&self, id: &str) -> String {
        if is_valid(id) && !self.written.contains(id) {
            return id.to_owned();
        }
        let kept: String = id.chars().take(KEPT).map(plain).collect();
        // One of these is free: there are more of them than ids.
        let mut number = self.written.len();
        loop {
            let candidate = format!("{kept}_{number}");
            if !self.written.contains(&candidate) {
                return candidate;
            }
            number += 1;
        }
    }
}

/// The character, or `_` for one that ids and names may not hold.
pub(super) fn plain(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }
}

fn is_valid(id: &str) -> bool {
    (1..=MAX).contains(&id.len()) && id.chars().all(|c| plain(c) == c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_fits_stays() {
        let mut ids = CallIds::default();
        for id in ["toolu_01A-b", "call_0", "x", &"a".repeat(MAX)] {
            assert_eq!(ids.of_call(id), id);
            assert_eq!(ids.of_result(id), id);
        }
    }

    #[test]
    fn other_ids_become_valid_and_stay_apart() {
        let long = "l".repeat(3_000);
        let longer = "l".repeat(3_001);
        let mut ids = CallIds::default();
        let given = ["a.b", "a/b", "a_b", "", "é", "a_b_0", "call|fc_1", &long, &longer];
        let written: Vec<String> = given.iter().map(|id| ids.of_call(id)).collect();
        assert!(written.iter().all(|id| is_valid(id)), "{written:?}");
        assert_eq!(written.iter().collect::<HashSet<_>>().len(), given.len(), "{written:?}");
        for (id, written) in given.iter().zip(&written) {
            assert_eq!(&ids.of_result(id), written);
        }
    }

    #[test]
    fn a_repeated_id_is_a_new_call_and_its_result_follows_it() {
        let mut ids = CallIds::default();
        let first = ids.of_call("call_0");
        assert_eq!(ids.of_result("call_0"), first);
        let second = ids.of_call("call_0");
        assert_ne!(first, second);
        assert_eq!(ids.of_result("call_0"), second);
    }

    #[test]
    fn a_longer_conversation_changes_no_earlier_id() {
        let given = ["a.b", "a/b", "a.b", "c", "c"];
        let write = |count: usize| {
            let mut ids = CallIds::default();
            given.iter().take(count).map(|id| ids.of_call(id)).collect::<Vec<_>>()
        };
        let all = write(given.len());
        for count in 0..given.len() {
            assert_eq!(write(count), all[..count]);
        }
    }
}
