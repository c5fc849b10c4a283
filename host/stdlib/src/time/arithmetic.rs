//! Date arithmetic.

use crate::error::StdError;
use jiff::{Span, Timestamp, Zoned};

/// Longest duration text, in bytes.
const MAX_DURATION: usize = 100;

/// Adds a duration to an instant. Days, weeks, months and years follow the zone's calendar: a day later it is the same
/// time of day, or as near as the clock allows.
pub(super) fn add(instant: &Zoned, duration: &str) -> Result<Timestamp, StdError> {
    let span = (duration.len() <= MAX_DURATION).then(|| duration.trim().parse::<Span>().ok()).flatten();
    let expected = "duration must be one such as `1h 30m`, `-2d` or `P1M`, with units from years to nanoseconds";
    let span = span.ok_or_else(|| StdError::invalid(expected))?;
    let sum = instant.checked_add(span).map(|sum| sum.timestamp());
    sum.map_err(|_| StdError::invalid("The sum is outside of the years 0000 to 9999; use a shorter duration"))
}

/// Returns the milliseconds from one instant to another, negative if that is earlier.
pub(super) fn milliseconds(earlier: Timestamp, later: Timestamp) -> f64 {
    later.duration_since(earlier).as_nanos() as f64 / 1e6
}
