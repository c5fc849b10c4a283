//! Times in JSON and for people: RFC 3339 in UTC, to the millisecond.

use serde::{Deserialize, Deserializer, Serializer, de::Error};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// End of the year 9999, the last that RFC 3339 can express.
const LAST: Duration = Duration::from_secs(253_402_300_799);

/// Formats a time; clamped to the range of RFC 3339.
pub fn text(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().min(LAST);
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}

/// Formats the remaining time in whole seconds: `9m 58s`.
pub fn left(until: SystemTime, now: SystemTime) -> String {
    let left = until.duration_since(now).unwrap_or_default();
    humantime::format_duration(Duration::from_secs(left.as_secs())).to_string()
}

/// Rounds to milliseconds, so that a time round-trips through its text.
pub fn to_millis(time: SystemTime) -> SystemTime {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default().min(LAST);
    UNIX_EPOCH + Duration::new(since.as_secs(), since.subsec_millis() * 1_000_000)
}

/// Serializes for `#[serde(with)]`.
pub fn serialize<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(*time))
}

/// Deserializes for `#[serde(with)]`.
pub fn deserialize<'a, D: Deserializer<'a>>(deserializer: D) -> Result<SystemTime, D::Error> {
    let text = String::deserialize(deserializer)?;
    humantime::parse_rfc3339(&text).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::{LAST, left, text, to_millis};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    #[test]
    fn times_round_trip() {
        let time = to_millis(SystemTime::now());
        assert_eq!(humantime::parse_rfc3339(&text(time)).unwrap(), time);
    }

    #[test]
    fn times_out_of_range_are_clamped() {
        assert_eq!(text(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(UNIX_EPOCH + LAST + Duration::from_secs(9)), "9999-12-31T23:59:59.000Z");
    }

    #[test]
    fn remaining_time_is_formatted_in_whole_seconds() {
        assert_eq!(left(UNIX_EPOCH + Duration::from_millis(598_700), UNIX_EPOCH), "9m 58s");
        assert_eq!(left(UNIX_EPOCH, UNIX_EPOCH + Duration::from_secs(1)), "0s");
    }
}
