//! Times in JSON and for people: RFC 3339 in UTC, to the millisecond.

use serde::{Deserialize, Deserializer, Serializer, de::Error};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The end of the year 9999: what comes later has no such text.
const LAST: Duration = Duration::from_secs(253_402_300_799);

/// The time as text; what lies outside of all calendars is moved to their edge.
pub(crate) fn text(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().min(LAST);
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}

/// How long it still is, in whole seconds: `9m 58s`.
pub(crate) fn left(until: SystemTime, now: SystemTime) -> String {
    let left = until.duration_since(now).unwrap_or_default();
    humantime::format_duration(Duration::from_secs(left.as_secs())).to_string()
}

/// The time without what its text does not say, so that it is the same after it was written and read.
pub(crate) fn to_millis(time: SystemTime) -> SystemTime {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().min(LAST);
    UNIX_EPOCH + Duration::new(since.as_secs(), since.subsec_millis() * 1_000_000)
}

pub(crate) fn serialize<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(*time))
}

pub(crate) fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<SystemTime, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_rfc3339(&text).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::{LAST, left, text, to_millis};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    #[test]
    fn a_time_is_the_same_after_it_was_written_and_read() {
        let time = to_millis(SystemTime::now());
        assert_eq!(humantime::parse_rfc3339(&text(time)).unwrap(), time);
    }

    #[test]
    fn times_outside_of_calendars_have_a_text_too() {
        assert_eq!(text(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(UNIX_EPOCH + LAST + Duration::from_secs(9)), "9999-12-31T23:59:59.000Z");
    }

    #[test]
    fn what_is_left_is_said_in_whole_seconds() {
        assert_eq!(left(UNIX_EPOCH + Duration::from_millis(598_700), UNIX_EPOCH), "9m 58s");
        assert_eq!(left(UNIX_EPOCH, UNIX_EPOCH + Duration::from_secs(1)), "0s");
    }
}
