//! Prefilter: a fast check that a text contains none of many patterns.

use std::collections::{BTreeSet, HashSet};

/// Minimum length of a pattern in bytes.
const WINDOW: usize = 8;

/// Bytes that are hashed in each step.
const GRAM: usize = 3;

/// Distance that the window moves if its last bytes are in no pattern's beginning.
const FULL_SKIP: u8 = (WINDOW - GRAM + 1) as u8;

/// Size of the table, as a power of two. It fits in the L1 cache.
const BITS: u32 = 15;

/// Limit on patterns: with more, nearly every step would be short.
const MAX_PATTERNS: usize = 2000;

/// Skip table over the beginnings of patterns (Wu-Manber). Hashes the last bytes of a window of text: most are in no
/// beginning, so the window moves by nearly its length. That is several times faster than an automaton, which reads
/// every byte.
pub(super) struct Prefilter {
    /// Distance to move the window, by the hash of its last bytes; 0 for a possible beginning.
    skips: Vec<u8>,
    beginnings: HashSet<[u8; WINDOW]>,
}

impl Prefilter {
    /// Builds the prefilter, or returns `None` if it would be useless.
    pub(super) fn of(patterns: &BTreeSet<Vec<u8>>) -> Option<Prefilter> {
        if patterns.len() > MAX_PATTERNS {
            return None;
        }
        let mut skips = vec![FULL_SKIP; 1 << BITS];
        let mut beginnings = HashSet::new();
        for pattern in patterns {
            let beginning = *pattern.first_chunk::<WINDOW>()?;
            for (gram, distance) in beginning.array_windows::<GRAM>().zip((0..FULL_SKIP).rev()) {
                let slot = skips.get_mut(hash(*gram))?;
                *slot = distance.min(*slot);
            }
            beginnings.insert(beginning);
        }
        Some(Prefilter { skips, beginnings })
    }

    /// Returns false if the bytes certainly contain no pattern.
    pub(super) fn may_be_in(&self, bytes: &[u8]) -> bool {
        let mut at = 0;
        while let Some(window) = bytes.get(at..).and_then(|rest| rest.first_chunk::<WINDOW>()) {
            let [.., first, second, third] = *window;
            match self.skips.get(hash([first, second, third])) {
                Some(skip) if *skip > 0 => at += usize::from(*skip),
                _ if self.beginnings.contains(window) => return true,
                _ => at += 1,
            }
        }
        false
    }
}

fn hash([first, second, third]: [u8; GRAM]) -> usize {
    let gram = u32::from_le_bytes([first, second, third, 0]);
    (gram.wrapping_mul(0x9e37_79b1) >> (u32::BITS - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_pattern_is_missed(
            patterns in proptest::collection::btree_set(proptest::collection::vec(b'a'..b'e', 8..12), 1..5),
            text in proptest::collection::vec(b'a'..b'e', 0..200),
        ) {
            let prefilter = Prefilter::of(&patterns).expect("few and long");
            let is_in = patterns.iter().any(|pattern| text.windows(8).any(|window| window == &pattern[..8]));
            prop_assert_eq!(prefilter.may_be_in(&text), is_in);
            for pattern in &patterns {
                let with = [&text, pattern.as_slice(), &text].concat();
                prop_assert!(prefilter.may_be_in(&with));
            }
        }
    }

    #[test]
    fn short_patterns_are_refused() {
        assert!(Prefilter::of(&BTreeSet::from([b"1234567".to_vec()])).is_none());
    }
}
