//! Times: milliseconds since the Unix epoch in the store, RFC 3339 in requests and responses.
//!
//! Hosts that share a store go by its clock. Otherwise one whose own is ahead would end spaces early, and with them their
//! files, and begin hours of quotas for all.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Milliseconds from the Unix epoch to the year 9999, after which RFC 3339 has no times.
const MAX_MS: u64 = 253_370_764_800_000;

/// Milliseconds by which the store's clock is ahead of this host's.
static AHEAD: AtomicI64 = AtomicI64::new(0);

/// Returns milliseconds since the Unix epoch.
pub(crate) fn now_ms() -> i64 {
    local_ms().saturating_add(AHEAD.load(Ordering::Relaxed))
}

/// Takes note of the time at which a store that hosts share stored something, which this host asked for at a time of its
/// own clock and knows of now.
pub(crate) fn note_store_time(asked: i64, stored: i64) {
    AHEAD.store(ahead(asked, stored, local_ms()), Ordering::Relaxed);
}

/// Returns by how much a clock is ahead at least, that showed a time between two of ours.
fn ahead(before: i64, shown: i64, after: i64) -> i64 {
    match shown {
        early if early < before => early.saturating_sub(before),
        late if late > after => late.saturating_sub(after),
        _ => 0,
    }
}

/// Returns the time of this host's own clock.
pub(crate) fn local_ms() -> i64 {
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
    use super::{ahead, format, of, parse};
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn an_answer_that_takes_long_is_no_difference_of_clocks() {
        assert_eq!((ahead(100, 100, 100), ahead(100, 130, 30_100), ahead(100, 30_100, 30_100)), (0, 0, 0));
        assert_eq!((ahead(100, 40, 110), ahead(100, 7_200_110, 110)), (-60, 7_200_000));
    }

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
