//! Number of calls that fail one after the other.

use super::{Limit, Reached};
use capability_gen::counted::counted;

pub(super) const CODE: &str = "limit.failures";
pub(super) const ADVICE: &str = "Read the first error: the same call will most likely fail again";

/// A script may well look for a thousand things that are not there; who wants fewer says so.
pub(super) const DEFAULT: u64 = u64::MAX;

pub(super) fn message(allowed: u64) -> String {
    format!("More than {} failed one after the other", counted(allowed, "call"))
}

/// How many calls have failed since the last one that did not.
#[derive(Debug)]
pub(crate) struct FailureLimit {
    allowed: u64,
    failed: u64,
}

impl FailureLimit {
    pub(crate) fn new(allowed: u64) -> FailureLimit {
        FailureLimit { allowed, failed: 0 }
    }

    /// Takes note of how a call ended, unless it is one failure too many.
    pub(crate) fn count(&mut self, is_ok: bool) -> Result<(), Reached> {
        self.failed = if is_ok { 0 } else { self.failed.saturating_add(1) };
        if self.failed > self.allowed { Err(Reached(Limit::Failures)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::FailureLimit;

    #[test]
    fn an_answer_in_between_starts_the_count_anew() {
        let mut limit = FailureLimit::new(2);
        for is_ok in [false, false, true, false, false] {
            assert!(limit.count(is_ok).is_ok());
        }
        assert!(limit.count(false).is_err());
    }
}
