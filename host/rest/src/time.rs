//! Times: milliseconds since the Unix epoch in the store, RFC 3339 in requests and responses.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds from the Unix epoch to the year 9999, after which RFC 3339 has no times.
const MAX_MS: u64 = 253_370_764_800_000;

/// Returns milliseconds since the Unix epoch.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Formats a time of the store.
pub(crate) fn format(ms: i64) -> String {
    let since = Duration::from_millis(u64::try_from(ms).unwrap_or_default().min(MAX_MS));
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}

/// Returns a time of the file system; `None` if RFC 3339 has no such time.
pub(crate) fn of(time: SystemTime) -> Option<i64> {
    let ms = u64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()?;
    i64::try_from(ms).ok().filter(|_| ms <= MAX_MS)
}

/// Parses a time of a request; `None` if it is not one.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let time = humantime::parse_rfc3339(text).ok()?;
    i64::try_from(time.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::{format, of, parse};
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn a_time_is_parsed_as_it_was_formatted() {
        for ms in [0, 1, 1_700_000_000_123] {
            assert_eq!(parse(&format(ms)), Some(ms));
        }
        assert_eq!((format(-1), format(i64::MAX).starts_with("9999")), ("1970-01-01T00:00:00.000Z".to_owned(), true));
        let long = Duration::from_secs(1 << 40);
        assert_eq!((of(UNIX_EPOCH + long), of(UNIX_EPOCH - long)), (None, None));
        assert_eq!(of(UNIX_EPOCH + Duration::from_millis(5)), Some(5));
        assert_eq!((parse("yesterday"), parse("2026-01-01")), (None, None));
    }
}
