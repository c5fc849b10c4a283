//! Times: milliseconds since the Unix epoch in the journal, RFC 3339 in requests and responses.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds from the Unix epoch to the year 9999, after which RFC 3339 has no times.
const MAX_MS: u64 = 253_370_764_800_000;

/// Returns milliseconds since the Unix epoch.
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Returns the time so long after another.
pub(super) fn after(ms: i64, time: Duration) -> i64 {
    ms.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

/// Formats a time.
pub(super) fn format(ms: i64) -> String {
    let since = Duration::from_millis(u64::try_from(ms).unwrap_or_default().min(MAX_MS));
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}

/// Parses a time of a request; `None` if it is not one.
pub(super) fn parse(text: &str) -> Option<i64> {
    let time = humantime::parse_rfc3339(text).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_parsed_as_it_was_formatted() {
        assert_eq!(format(1_700_000_000_123), "2023-11-14T22:13:20.123Z");
        assert_eq!(parse("2023-11-14T22:13:20.123Z"), Some(1_700_000_000_123));
        assert_eq!((parse("2023-11-14T22:13:20Z"), parse("yesterday")), (Some(1_700_000_000_000), None));
        assert_eq!(format(-1), "1970-01-01T00:00:00.000Z");
    }
}
