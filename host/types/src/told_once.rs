//! Deduplication of notices to a person.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum texts remembered by default: a configuration that changes all the time must not fill memory.
const MAX_REMEMBERED: usize = 10_000;

/// Texts that were told already. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct ToldOnce {
    told: Arc<Mutex<Told>>,
    /// Maximum texts told at all.
    most: Option<usize>,
}

#[derive(Debug, Default)]
struct Told {
    /// Hashes of the texts, which may be long. The keys are random, so nobody can find a text that hides another.
    hashes: HashSet<u64>,
    keys: RandomState,
}

impl ToldOnce {
    /// Creates a set that is silent after this many texts, for those that a peer can make up. By default old texts are
    /// forgotten instead, and may be told again.
    pub fn at_most(most: usize) -> ToldOnce {
        ToldOnce { told: Arc::default(), most: Some(most) }
    }

    /// Returns true if this text is to be told: the first time, unless there were too many others.
    pub fn is_new(&self, text: &str) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = told.keys.hash_one(text);
        if told.hashes.contains(&hash) || self.most.is_some_and(|most| told.hashes.len() >= most) {
            return false;
        }
        if told.hashes.len() >= MAX_REMEMBERED {
            told.hashes.clear();
        }
        told.hashes.insert(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_REMEMBERED, ToldOnce};

    #[test]
    fn a_text_is_new_once_for_all_clones() {
        let told = ToldOnce::default();
        assert!(told.is_new("a") && told.clone().is_new("b"));
        assert!(!told.is_new("a") && !told.clone().is_new("a") && !told.is_new("b"));
        assert!(ToldOnce::default().is_new("a"), "another set");
    }

    #[test]
    fn texts_of_a_peer_end_at_the_limit() {
        let told = ToldOnce::at_most(100);
        let count = (0..1_000).filter(|number: &usize| told.is_new(&number.to_string())).count();
        assert_eq!(count, 100);
        assert!(!told.is_new("0") && !told.is_new("999"));
    }

    #[test]
    fn memory_is_bounded_and_nothing_new_is_lost() {
        let told = ToldOnce::default();
        for number in 0..2 * MAX_REMEMBERED + 1 {
            assert!(told.is_new(&number.to_string()), "{number}");
            assert!(told.told.lock().unwrap().hashes.len() <= MAX_REMEMBERED);
        }
        assert!(told.is_new("0"), "forgotten");
    }
}
