//! Failure limit: number of consecutive failed calls.

use super::{Limit, Reached};
use crate::code::Code;
use crate::counted::counted;

pub(super) const CODE: Code = Code::LimitFailures;
pub(super) const ADVICE: &str = "Read the first error: the same call will most likely fail again";

/// Unlimited: a script may well look up a thousand items that do not exist.
pub(super) const DEFAULT: u64 = u64::MAX;

pub(super) fn message(allowed: u64) -> String {
    format!("More than {} failed in a row", counted(allowed, "call"))
}

/// Failure limit, and the calls that failed since the last success.
#[derive(Debug)]
pub struct FailureLimit {
    allowed: u64,
    failed: u64,
}

impl FailureLimit {
    /// Creates a limit of `allowed` consecutive failures.
    pub fn new(allowed: u64) -> FailureLimit {
        FailureLimit { allowed, failed: 0 }
    }

    /// Counts the outcome of a call. Returns an error if the limit is exceeded.
    pub fn count(&mut self, is_ok: bool) -> Result<(), Reached> {
        self.failed = if is_ok { 0 } else { self.failed.saturating_add(1) };
        if self.failed > self.allowed { Err(Reached(Limit::Failures)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use crate::limits::failures::FailureLimit;

    #[test]
    fn a_successful_call_resets_the_count() {
        let mut limit = FailureLimit::new(2);
        for is_ok in [false, false, true, false, false] {
            assert!(limit.count(is_ok).is_ok());
        }
        assert!(limit.count(false).is_err());
    }
}
