//! What lies between instants.

use crate::error::StdError;
use jiff::{Span, Timestamp, Zoned};

/// The longest text that is read as a duration, in bytes.
const MAX_DURATION: usize = 100;

/// An instant plus a duration. Days, weeks, months and years are those of its zone's calendar: a day later it is the
/// same time of day, or as near to it as the clock comes.
pub(super) fn add(instant: &Zoned, duration: &str) -> Result<Timestamp, StdError> {
    let span = (duration.len() <= MAX_DURATION).then(|| duration.trim().parse::<Span>().ok()).flatten();
    let expected = "duration must be one such as `1h 30m`, `-2d` or `P1M`, with units from years to nanoseconds";
    let span = span.ok_or_else(|| StdError::invalid(expected))?;
    let sum = instant.checked_add(span).map(|sum| sum.timestamp());
    sum.map_err(|_| StdError::invalid("The sum is outside of the years 0000 to 9999; use a shorter duration"))
}

/// Milliseconds from one instant to another, negative if that is earlier.
pub(super) fn milliseconds(earlier: Timestamp, later: Timestamp) -> f64 {
    later.duration_since(earlier).as_nanos() as f64 / 1e6
}
