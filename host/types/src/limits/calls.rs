//! Call limit: number of calls of one run.

use super::{Limit, Reached};
use crate::code::Code;
use crate::counted::counted;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) const CODE: Code = Code::LimitCalls;
pub(super) const ADVICE: &str = "Ask for more in one call: many capabilities take lists or pages";

/// A script that makes a thousand calls is most likely in a loop.
pub(super) const DEFAULT: u64 = 1_000;

pub(super) fn message(allowed: u64) -> String {
    format!("The script made more than {}", counted(allowed, "call"))
}

/// Call limit of a run, and the calls it has made, retries included.
#[derive(Debug)]
pub struct CallLimit {
    allowed: u64,
    /// True for durable runs: retries count when their call's answer reaches the script, so that a replay, which makes
    /// none, reaches the limit at the same call. Until then they only count against further retries.
    settles: bool,
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    calls: u64,
    /// Retries by the host.
    repetitions: u64,
    /// Retries of calls whose answers have not reached the script, by call.
    unsettled: HashMap<u64, u64>,
}

impl CallLimit {
    /// Creates a limit of `allowed` calls.
    pub fn new(allowed: u64) -> CallLimit {
        CallLimit { allowed, settles: false, made: Mutex::default() }
    }

    /// Creates the limit of a durable run.
    pub fn durable(allowed: u64) -> CallLimit {
        CallLimit { settles: true, ..CallLimit::new(allowed) }
    }

    /// Counts a call and returns its number, or refuses it if the limit is reached.
    pub fn count(&self) -> Result<u64, Reached> {
        let mut made = self.lock();
        if made.calls + made.repetitions >= self.allowed {
            return Err(Reached(Limit::Calls));
        }
        made.calls += 1;
        Ok(made.calls)
    }

    /// Counts a retry of a call. Returns false if the limit is reached.
    pub fn repeat(&self, call: u64) -> bool {
        let mut made = self.lock();
        let has_one = made.calls + made.repetitions + made.unsettled.values().sum::<u64>() < self.allowed;
        match (has_one, self.settles) {
            (false, _) => {}
            (true, false) => made.repetitions += 1,
            (true, true) => *made.unsettled.entry(call).or_default() += 1,
        }
        has_one
    }

    /// Returns the retries of a durable run's call whose answer has not reached the script.
    pub fn unsettled(&self, call: u64) -> u64 {
        self.lock().unsettled.get(&call).copied().unwrap_or_default()
    }

    /// Counts the retries of a durable run's call: its answer reaches the script.
    pub fn settle(&self, call: u64, repetitions: u64) {
        let mut made = self.lock();
        made.unsettled.remove(&call);
        made.repetitions += repetitions;
    }

    /// Calls made so far, retries included.
    pub fn made(&self) -> u64 {
        let made = self.lock();
        made.calls + made.repetitions
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::calls::CallLimit;

    #[test]
    fn retries_count_and_have_no_call_number() {
        let limit = CallLimit::new(3);
        assert_eq!(limit.count().ok(), Some(1));
        assert!(limit.repeat(1));
        assert_eq!(limit.count().ok(), Some(2));
        assert!(!limit.repeat(2) && limit.count().is_err());
        assert_eq!(limit.made(), 3);
    }

    #[test]
    fn retries_of_a_durable_run_count_with_their_answer() {
        let limit = CallLimit::durable(3);
        assert_eq!(limit.count().ok(), Some(1));
        assert!(limit.repeat(1) && limit.repeat(1) && !limit.repeat(1));
        assert_eq!((limit.made(), limit.unsettled(1), limit.unsettled(2)), (1, 2, 0));
        limit.settle(1, 2);
        assert_eq!((limit.made(), limit.unsettled(1)), (3, 0));
        assert!(limit.count().is_err() && !limit.repeat(1));
    }
}
