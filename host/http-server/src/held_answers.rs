//! Backpressure on callers that ignore `Retry-After`: many refusals are answered late, so that they cannot spin.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Refusals of one caller within the time that are answered at once: programs that start many things at a time are
/// refused a few of them, and try again later.
const MAX_AT_ONCE: usize = 20;
const TIME: Duration = Duration::from_secs(1);

/// Time for which an answer is held back: what clients are told to wait for at least.
pub(crate) const HELD_FOR: Duration = Duration::from_secs(1);

/// Maximum number of held answers of one caller: each has a connection and some kilobytes.
const MAX_HELD: usize = 128;

/// Refusals of callers, in the callers' order.
pub(crate) struct HeldAnswers(Vec<Refusals>);

struct Refusals {
    /// Times of the last ones.
    last: Mutex<VecDeque<Instant>>,
    held: Semaphore,
}

/// How a refusal is answered.
pub(crate) enum Sending<'a> {
    AtOnce,
    /// After [`HELD_FOR`], until when the permit is held.
    Later(SemaphorePermit<'a>),
    /// At once, and the connection is closed: the next attempt needs a new one.
    Closing,
}

impl HeldAnswers {
    /// Creates the state of this many callers.
    pub(crate) fn new(callers: usize) -> HeldAnswers {
        let refusals = || Refusals { last: Mutex::default(), held: Semaphore::new(MAX_HELD) };
        HeldAnswers((0..callers).map(|_| refusals()).collect())
    }

    /// Counts a refusal of a caller.
    pub(crate) fn refused(&self, caller: usize, now: Instant) -> Sending<'_> {
        let Some(refusals) = self.0.get(caller) else { return Sending::AtOnce };
        if !refusals.is_often(now) {
            return Sending::AtOnce;
        }
        match refusals.held.try_acquire() {
            Ok(permit) => Sending::Later(permit),
            Err(_) => Sending::Closing,
        }
    }
}

impl Refusals {
    /// Counts one. Returns true if there were too many within the time.
    fn is_often(&self, now: Instant) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = if last.len() < MAX_AT_ONCE { None } else { last.pop_front() };
        last.push_back(now);
        before.is_some_and(|before| now.saturating_duration_since(before) < TIME)
    }
}

#[cfg(test)]
mod tests {
    use crate::held_answers::*;

    #[test]
    fn only_many_refusals_of_one_caller_within_a_second_are_held_back() {
        let (answers, begun) = (HeldAnswers::new(2), Instant::now());
        let is_at_once = |caller: usize, at: Duration| matches!(answers.refused(caller, begun + at), Sending::AtOnce);
        let late = TIME - Duration::from_millis(1);
        assert!((0..MAX_AT_ONCE).all(|_| is_at_once(0, Duration::ZERO)));
        assert!(!is_at_once(0, late), "one more in the same second");
        assert!(is_at_once(1, late), "another caller");
        // One of them was late.
        assert!((1..MAX_AT_ONCE).all(|_| is_at_once(0, TIME)));
        assert!(!is_at_once(0, TIME));
        assert!(is_at_once(0, TIME * 2));
        assert!(is_at_once(7, late), "nobody");
    }

    #[test]
    fn held_answers_are_bounded() {
        let (answers, now) = (HeldAnswers::new(2), Instant::now());
        for caller in [0, 1] {
            (0..MAX_AT_ONCE).for_each(|_| drop(answers.refused(caller, now)));
        }
        let mut held: Vec<_> = (0..MAX_HELD).map(|_| answers.refused(0, now)).collect();
        assert!(held.iter().all(|sending| matches!(sending, Sending::Later(_))));
        assert!(matches!(answers.refused(0, now), Sending::Closing));
        assert!(matches!(answers.refused(1, now), Sending::Later(_)), "others have their own");
        held.pop();
        assert!(matches!(answers.refused(0, now), Sending::Later(_)));
    }
}
