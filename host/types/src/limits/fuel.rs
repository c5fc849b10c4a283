//! Fuel limit: stops infinite loops.

use crate::code::Code;

pub(super) const CODE: Code = Code::LimitFuel;
pub(super) const ADVICE: &str = "Look for an infinite loop, do less work";

/// Some five to ten seconds of JavaScript on one core: far more than a script that combines calls needs, and independent of
/// the machine's speed.
pub(super) const DEFAULT: u64 = 10_000_000_000;

/// Fuel between two async yields of a foreign component, which wasmtime meters: about one millisecond, so that a core with
/// several busy runs still serves timers and cancellation within tens of milliseconds.
pub const YIELD_INTERVAL: u64 = 1_000_000;

/// Fuel that the engine is given at once, between two yields. A unit of its own meter takes 0.1 to 2 nanoseconds, so
/// that this is at most a millisecond too.
pub const METER_SLICE: u64 = 500_000;

pub(super) fn message(allowed: u64) -> String {
    format!("The script used all of its {allowed} units of fuel")
}
