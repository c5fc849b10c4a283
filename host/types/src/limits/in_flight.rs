//! In-flight limit: number of concurrent calls.

use super::{Limit, Reached};
use crate::code::Code;
use crate::counted::counted;

pub(super) const CODE: Code = Code::LimitInFlight;
pub(super) const ADVICE: &str = "Await calls in groups instead of starting all of them at once";

/// Enough for `Promise.all` over a list; more would flood a provider.
pub(super) const DEFAULT: u64 = 256;

/// Handles of a run beside those of its calls: sleeps that timers replaced, and waitable sets.
const SPARE_HANDLES: u64 = 4_096;

/// Maximum handles of any run: wasmtime's default. Each costs the host about a kilobyte.
const MAX_HANDLES: u64 = 100_000;

/// Returns the maximum number of subtasks and waitable sets of a run with this call limit. A call's handle stays until
/// the engine has received its answer, so there may be one for each call. Unbounded handles could exhaust host memory.
pub fn handles(calls: u64) -> usize {
    calls.saturating_add(SPARE_HANDLES).min(MAX_HANDLES) as usize
}

pub(super) fn message(allowed: u64) -> String {
    format!("The script has more than {} in flight", counted(allowed, "call"))
}

/// In-flight limit, and the calls that wait for their answer.
#[derive(Debug)]
pub struct InFlightLimit {
    allowed: u64,
    waiting: u64,
}

impl InFlightLimit {
    /// Creates a limit of `allowed` concurrent calls.
    pub fn new(allowed: u64) -> InFlightLimit {
        InFlightLimit { allowed, waiting: 0 }
    }

    /// Counts a call that begins, or refuses it if the limit is reached.
    pub fn enter(&mut self) -> Result<(), Reached> {
        if self.waiting >= self.allowed {
            return Err(Reached(Limit::InFlight));
        }
        self.waiting += 1;
        Ok(())
    }

    /// Counts a call that ended.
    pub fn leave(&mut self) {
        self.waiting = self.waiting.saturating_sub(1);
    }
}
