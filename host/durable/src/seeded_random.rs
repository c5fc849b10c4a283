//! Random numbers of a run, derived from its seed.

use std::sync::{Mutex, PoisonError};

/// Random numbers of a run. A replay with the same seed gets the same numbers in the same order.
pub(crate) struct SeededRandom(Mutex<blake3::OutputReader>);

impl SeededRandom {
    pub(crate) fn new(seed: &[u8; 32]) -> SeededRandom {
        SeededRandom(Mutex::new(blake3::Hasher::new_keyed(seed).finalize_xof()))
    }

    /// Returns the next number.
    pub(crate) fn number(&self) -> u64 {
        let mut bytes = [0; 8];
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::SeededRandom;

    #[test]
    fn the_same_seed_has_the_same_numbers() {
        let numbers = |seed: u8| {
            let random = SeededRandom::new(&[seed; 32]);
            [random.number(), random.number(), random.number()]
        };
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        let [first, second, third] = numbers(1);
        assert!(first != second && second != third);
    }
}
