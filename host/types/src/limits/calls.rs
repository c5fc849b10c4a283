//! Call limit: number of calls of one run.

use super::{Limit, Reached};
use crate::code::Code;
use crate::counted::counted;
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
    made: Mutex<Made>,
}

#[derive(Debug, Default)]
struct Made {
    calls: u64,
    /// Retries by the host.
    repetitions: u64,
}

impl CallLimit {
    /// Creates a limit of `allowed` calls.
    pub fn new(allowed: u64) -> CallLimit {
        CallLimit { allowed, made: Mutex::default() }
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
    pub fn repeat(&self) -> bool {
        let mut made = self.lock();
        let has_one = made.calls + made.repetitions < self.allowed;
        made.repetitions += u64::from(has_one);
        has_one
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
        assert!(limit.repeat());
        assert_eq!(limit.count().ok(), Some(2));
        assert!(!limit.repeat() && limit.count().is_err());
        assert_eq!(limit.made(), 3);
    }
}
