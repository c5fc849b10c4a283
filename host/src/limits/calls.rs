//! Number of calls.

use super::{Limit, Reached};

pub(super) const CODE: &str = "limit.calls";
pub(super) const ADVICE: &str = "Ask for more in one call: many capabilities take lists or pages";

/// A script that asks a thousand times is most likely in a loop.
pub(super) const DEFAULT: u64 = 1_000;

pub(super) fn message(allowed: u64) -> String {
    format!("The script made more than {allowed} calls")
}

/// How many calls a run has made.
#[derive(Debug)]
pub(crate) struct CallLimit {
    allowed: u64,
    made: u64,
}

impl CallLimit {
    pub(crate) fn new(allowed: u64) -> CallLimit {
        CallLimit { allowed, made: 0 }
    }

    /// Counts a call, unless it is one too many; gives its number.
    pub(crate) fn count(&mut self) -> Result<u64, Reached> {
        if self.made >= self.allowed {
            return Err(Reached(Limit::Calls));
        }
        self.made += 1;
        Ok(self.made)
    }

    pub(crate) fn made(&self) -> u64 {
        self.made
    }
}
