//! List of values by key, of which the longest unused go first. It is short, so it is searched from one end to the other.

use std::collections::VecDeque;

/// Values by key, the last used one last.
pub(crate) struct Lru<K, V>(VecDeque<(K, V)>);

impl<K, V> Default for Lru<K, V> {
    fn default() -> Lru<K, V> {
        Lru(VecDeque::new())
    }
}

impl<K, V> Lru<K, V> {
    /// Returns a value, which is the last used one from now on.
    pub(crate) fn get(&mut self, is_wanted: impl Fn(&K) -> bool) -> Option<&V> {
        let index = self.0.iter().rposition(|(key, _)| is_wanted(key))?;
        let entry = self.0.remove(index)?;
        self.0.push_back(entry);
        self.0.back().map(|(_, value)| value)
    }

    /// Removes a value.
    pub(crate) fn remove(&mut self, is_wanted: impl Fn(&K) -> bool) {
        self.0.retain(|(key, _)| !is_wanted(key));
    }

    /// Adds a value as the last used one.
    pub(crate) fn push(&mut self, key: K, value: V) {
        self.0.push_back((key, value));
    }

    /// Drops the longest unused values while there are more than `most`, or they weigh more than `heaviest` together.
    pub(crate) fn shrink(&mut self, most: usize, heaviest: usize, weight: impl Fn(&K, &V) -> usize) {
        let mut total: usize = self.0.iter().map(|(key, value)| weight(key, value)).sum();
        while self.0.len() > most || total > heaviest {
            let Some((key, value)) = self.0.pop_front() else { return };
            total = total.saturating_sub(weight(&key, &value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Lru;

    fn kept(lru: &Lru<u32, usize>) -> Vec<u32> {
        (0..10).filter(|key| lru.0.iter().any(|(kept, _)| kept == key)).collect()
    }

    #[test]
    fn the_longest_unused_make_room() {
        let mut lru = Lru::default();
        for key in 0..4 {
            lru.push(key, 10);
        }
        assert_eq!(lru.get(|key| *key == 0), Some(&10));
        assert_eq!(lru.get(|key| *key == 9), None);
        lru.shrink(3, 100, |_, weight| *weight);
        assert_eq!(kept(&lru), [0, 2, 3]);
        lru.shrink(3, 20, |_, weight| *weight);
        assert_eq!(kept(&lru), [0, 3]);
        lru.remove(|key| *key == 3);
        lru.shrink(3, 9, |_, weight| *weight);
        assert!(kept(&lru).is_empty());
    }
}
