//! Units of work: a loop that never ends does.

pub(super) const CODE: &str = "limit.fuel";
pub(super) const ADVICE: &str = "Look for a loop that does not end, do less work";

/// Some ten seconds of JavaScript on one core: far above what a script that glues calls together
/// needs, and bounded on machines whose clock says little.
pub(super) const DEFAULT: u64 = 10_000_000_000;

/// How much fuel passes between two points at which a run lets others go first: about one
/// millisecond, so that a core with several busy runs still answers timers and cancellation within
/// the tens of milliseconds that an executor's own bookkeeping takes.
pub(crate) const YIELD_INTERVAL: u64 = 1_000_000;

pub(super) fn message(allowed: u64) -> String {
    format!("The script used all of its {allowed} units of fuel")
}
