//! Correction factors of token estimates, learned per target.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Bounds of a correction. An estimate that is further off is of something else: a cache that is not reported, a server
/// that counts nothing.
const CORRECTIONS: std::ops::RangeInclusive<f64> = 0.5..=3.0;

/// Learning rates per answer. Too small an estimate loses requests, too large a one only room: so corrections rise faster
/// than they fall.
const RISE: f64 = 0.5;
const FALL: f64 = 0.25;

/// A request of this many tokens teaches half of that: in small ones, what providers add weighs more than the texts.
const HALF_TAUGHT: f64 = 2_000.0;

/// Most targets. Those of the configuration are few.
const MAX_TARGETS: usize = 1_000;

/// Corrections, by the label of a target.
#[derive(Default)]
pub(super) struct Learned(Mutex<HashMap<String, f64>>);

impl Learned {
    /// An estimate, corrected.
    pub(super) fn corrected(&self, label: &str, estimate: u64) -> u64 {
        let learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Floating-point numbers become integers by saturation.
        learned.get(label).map_or(estimate, |correction| (estimate as f64 * correction).ceil() as u64)
    }

    /// Compares a corrected estimate with what was reported.
    pub(super) fn learn(&self, label: &str, estimated: u64, reported: u64) {
        if estimated == 0 || reported == 0 {
            return;
        }
        let mut learned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if learned.len() >= MAX_TARGETS && !learned.contains_key(label) {
            return;
        }
        let (estimated, reported) = (estimated as f64, reported as f64);
        let ratio = reported / estimated;
        let speed = if ratio > 1.0 { RISE } else { FALL };
        let share = speed * estimated / (estimated + HALF_TAUGHT);
        let correction = learned.entry(label.to_owned()).or_insert(1.0);
        *correction = (*correction * (1.0 + share * (ratio - 1.0))).clamp(*CORRECTIONS.start(), *CORRECTIONS.end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corrects an estimate of 10,000 tokens after answers that report this many.
    fn after(answers: usize, reported: u64) -> u64 {
        let learned = Learned::default();
        for _ in 0..answers {
            learned.learn("p/m", learned.corrected("p/m", 10_000), reported);
        }
        learned.corrected("p/m", 10_000)
    }

    #[test]
    fn estimates_approach_what_is_reported() {
        assert_eq!(after(0, 15_000), 10_000);
        let once = after(1, 15_000);
        assert!((11_000..14_000).contains(&once), "{once}");
        assert!((14_900..15_100).contains(&after(20, 15_000)), "{}", after(20, 15_000));
        assert!((7_900..8_200).contains(&after(30, 8_000)), "{}", after(30, 8_000));
    }

    #[test]
    fn corrections_rise_faster_than_they_fall() {
        assert!(after(1, 12_000) - 10_000 > 10_000 - after(1, 8_000));
    }

    #[test]
    fn reports_beyond_belief_are_bounded() {
        assert_eq!(after(50, u64::MAX), 30_000);
        assert_eq!(after(200, 1), 5_000);
        assert_eq!(after(5, 0), 10_000);
    }

    #[test]
    fn small_requests_teach_little() {
        let learned = Learned::default();
        learned.learn("p/m", 20, 400);
        assert!(learned.corrected("p/m", 10_000) < 11_000);
        // Nothing to compare with.
        learned.learn("p/m", 0, 400);
    }

    #[test]
    fn targets_are_learned_of_one_by_one() {
        let learned = Learned::default();
        learned.learn("p/m", 10_000, 20_000);
        assert_eq!(learned.corrected("p/other", 10_000), 10_000);
        for number in 0..2 * MAX_TARGETS {
            learned.learn(&format!("p/{number}"), 10_000, 20_000);
        }
        assert_eq!(learned.0.lock().unwrap().len(), MAX_TARGETS);
    }
}
