//! Number of calls at one time.

use super::{Limit, Reached};

pub(super) const CODE: &str = "limit.inflight";
pub(super) const ADVICE: &str = "Await calls in groups instead of starting all of them at once";

/// Side by side is what `Promise.all` is for; beyond this a provider would be flooded.
pub(super) const DEFAULT: u64 = 256;

pub(super) fn message(allowed: u64) -> String {
    format!("The script has more than {allowed} calls waiting at one time")
}

/// How many calls wait for their answer.
#[derive(Debug)]
pub(crate) struct InFlightLimit {
    allowed: u64,
    waiting: u64,
}

impl InFlightLimit {
    pub(crate) fn new(allowed: u64) -> InFlightLimit {
        InFlightLimit { allowed, waiting: 0 }
    }

    /// A call begins to wait, unless it is one too many.
    pub(crate) fn enter(&mut self) -> Result<(), Reached> {
        if self.waiting >= self.allowed {
            return Err(Reached(Limit::InFlight));
        }
        self.waiting += 1;
        Ok(())
    }

    /// A call has its answer.
    pub(crate) fn leave(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }
}
