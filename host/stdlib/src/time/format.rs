//! Formatting of instants.

use crate::error::StdError;
use jiff::Zoned;
use jiff::fmt::strtime;
use jiff::tz::Offset;
use serde_json::{Value, json};

/// The longest pattern, in bytes.
const MAX_PATTERN: usize = 200;

/// Longest output, in bytes: two letters of a pattern can expand to a zone name.
const MAX_OUTPUT: usize = 1000;

/// Formats an instant with a strftime pattern.
pub(super) fn format(instant: &Zoned, pattern: &str) -> Result<String, StdError> {
    if pattern.len() > MAX_PATTERN {
        let message = format!("pattern must have at most {MAX_PATTERN} bytes, not {}", pattern.len());
        return Err(StdError::invalid(message));
    }
    let text = strtime::format(pattern, instant).map_err(|error| {
        StdError::invalid(format!("pattern must be one of strftime's, such as %Y-%m-%d %H:%M: {error}"))
    })?;
    match text.len() {
        ..=MAX_OUTPUT => Ok(text),
        _ => Err(StdError::invalid(format!("pattern must not give more than {MAX_OUTPUT} bytes"))),
    }
}

/// Returns the calendar and clock fields in the instant's zone.
pub(super) fn parts(instant: &Zoned) -> Value {
    json!({
        "year": instant.year(),
        "month": instant.month(),
        "day": instant.day(),
        "hour": instant.hour(),
        "minute": instant.minute(),
        "second": instant.second(),
        "millisecond": instant.millisecond(),
        "weekday": instant.weekday().to_monday_one_offset(),
        "offset": offset(instant.offset()),
        "zone": instant.time_zone().iana_name().unwrap_or("UTC"),
    })
}

/// Formats an offset as `+02:00`, with seconds if there are any, as before standard zones.
fn offset(offset: Offset) -> String {
    let sign = if offset.is_negative() { '-' } else { '+' };
    let seconds = offset.seconds().unsigned_abs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match seconds {
        0 => format!("{sign}{hours:02}:{minutes:02}"),
        _ => format!("{sign}{hours:02}:{minutes:02}:{seconds:02}"),
    }
}
