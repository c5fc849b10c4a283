//! Number of calls.

use super::{Limit, Reached};
use capability_gen::counted::counted;
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) const CODE: &str = "limit.calls";
pub(super) const ADVICE: &str = "Ask for more in one call: many capabilities take lists or pages";

/// A script that asks a thousand times is most likely in a loop.
pub(super) const DEFAULT: u64 = 1_000;

pub(super) fn message(allowed: u64) -> String {
    format!("The script made more than {}", counted(allowed, "call"))
}

/// How many calls a run has made, repetitions included.
#[derive(Debug)]
pub(crate) struct CallLimit {
    allowed: u64,
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    calls: u64,
    /// How often the host made one of them again.
    repetitions: u64,
}

impl CallLimit {
    pub(crate) fn new(allowed: u64) -> CallLimit {
        CallLimit { allowed, made: Mutex::default() }
    }

    /// Counts a call, unless it is one too many; gives its number.
    pub(crate) fn count(&self) -> Result<u64, Reached> {
        let mut made = self.lock();
        if made.calls + made.repetitions >= self.allowed {
            return Err(Reached(Limit::Calls));
        }
        made.calls += 1;
        Ok(made.calls)
    }

    /// Counts a repetition of a call, and says whether there is one left.
    pub(crate) fn repeat(&self) -> bool {
        let mut made = self.lock();
        let has_one = made.calls + made.repetitions < self.allowed;
        made.repetitions += u64::from(has_one);
        has_one
    }

    /// How many were made, with repetitions.
    pub(crate) fn made(&self) -> u64 {
        let made = self.lock();
        made.calls + made.repetitions
    }

    fn lock(&self) -> MutexGuard<'_, Made> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::CallLimit;

    #[test]
    fn repetitions_count_and_have_no_numbers() {
        let limit = CallLimit::new(3);
        assert_eq!(limit.count().ok(), Some(1));
        assert!(limit.repeat());
        assert_eq!(limit.count().ok(), Some(2));
        assert!(!limit.repeat() && limit.count().is_err());
        assert_eq!(limit.made(), 3);
    }
}
