//! Number of calls at one time.

use super::{Limit, Reached};
use capability_gen::counted::counted;

pub(super) const CODE: &str = "limit.inflight";
pub(super) const ADVICE: &str = "Await calls in groups instead of starting all of them at once";

/// Side by side is what `Promise.all` is for; beyond this a provider would be flooded.
pub(super) const DEFAULT: u64 = 256;

/// Handles of a run beside those of its calls: sleeps that timers replaced, and the sets in which it waits.
const SPARE_HANDLES: u64 = 4_096;

/// The most handles that any run has, as wasmtime has it by default. Each costs the host about a kilobyte.
const MAX_HANDLES: u64 = 100_000;

/// How many subtasks and waitable sets a run may hold. A call's handle stays until the engine has heard of its answer, so
/// that there may be one for each call. Without a bound a guest could take the host's memory with them.
pub(crate) fn handles(calls: u64) -> usize {
    calls.saturating_add(SPARE_HANDLES).min(MAX_HANDLES) as usize
}

pub(super) fn message(allowed: u64) -> String {
    format!("The script has more than {} waiting at one time", counted(allowed, "call"))
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
