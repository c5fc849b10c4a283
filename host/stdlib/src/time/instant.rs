//! Parsing and formatting of instants.

use super::zone::{self, ZONES};
use crate::error::StdError;
use jiff::Timestamp;
use jiff::civil::Time;
use jiff::fmt::rfc2822;
use jiff::fmt::temporal::{DateTimeParser, Pieces, TimeZoneAnnotationKind};
use jiff::tz::{Offset, TimeZone};

/// Longest instant text, in bytes.
const MAX_TEXT: usize = 200;

const PARSER: DateTimeParser = DateTimeParser::new();

/// Returns the current instant, to the millisecond.
pub(super) fn now() -> String {
    format!("{:.3}", Timestamp::now())
}

/// Formats an instant as RFC 3339 in UTC, with as many fractional digits as needed.
pub(super) fn write(instant: Timestamp) -> Result<String, StdError> {
    match has_short_year(instant) {
        true => Ok(instant.to_string()),
        false => Err(StdError::invalid("It would be before the year 0000, and instants are from 0000 to 9999")),
    }
}

/// Parses a parameter that must be an RFC 3339 instant.
pub(super) fn read(name: &str, text: &str) -> Result<Timestamp, StdError> {
    let instant = (text.len() <= MAX_TEXT).then(|| PARSER.parse_timestamp(text).ok()).flatten();
    instant.filter(|instant| has_short_year(*instant)).ok_or_else(|| {
        let expected = "an instant of RFC 3339 with its offset, such as 2025-01-15T10:30:00Z";
        StdError::invalid(format!("{name} must be {expected}; time.parse makes one of other texts"))
    })
}

/// Parses a text in one of several formats. A time without zone or offset is in `zone`.
///
/// An ambiguous local time is the earlier one, and a skipped one is moved forward by the gap, as in RFC 5545 and
/// `Temporal`'s `compatible`.
pub(super) fn parse(text: &str, zone: TimeZone) -> Result<Timestamp, StdError> {
    let text = text.trim();
    if text.len() > MAX_TEXT {
        return Err(StdError::invalid(format!("text must have at most {MAX_TEXT} bytes, not {}", text.len())));
    }
    match Pieces::parse(text) {
        Ok(pieces) => parse_pieces(text, &pieces, zone),
        Err(error) => rfc2822::DateTimeParser::new().parse_timestamp(text).map_err(|other| match is_iso(text) {
            true => none_named(&error),
            false if text.contains(':') => none_named(&other),
            false => StdError::invalid(format!("text is not an instant; {EXPECTED}")),
        }),
    }
}

const EXPECTED: &str = "expected RFC 3339 (2025-01-15T10:30:00Z), RFC 2822 (Wed, 15 Jan 2025 10:30:00 +0000), a date \
                        (2025-01-15), or a date and time (2025-01-15 10:30, 2025-01-15T10:30[Europe/Berlin])";

fn parse_pieces(text: &str, pieces: &Pieces<'_>, zone: TimeZone) -> Result<Timestamp, StdError> {
    let instant = match (pieces.time_zone_annotation(), pieces.offset()) {
        (Some(annotation), _) => {
            if let TimeZoneAnnotationKind::Named(name) = annotation.kind() {
                zone::named(name.as_str())?;
            }
            PARSER.parse_zoned_with(&ZONES, text).map(|zoned| zoned.timestamp())
        }
        (None, Some(_)) => PARSER.parse_timestamp(text),
        (None, None) => {
            let time = pieces.time().unwrap_or(Time::midnight());
            zone.to_timestamp(pieces.date().to_datetime(time))
        }
    };
    instant.map_err(|error| none_named(&error))
}

fn none_named(error: &jiff::Error) -> StdError {
    StdError::invalid(format!("text is not an instant: {error}; {EXPECTED}"))
}

/// True if a text looks like ISO 8601: four digits first, no weekday.
fn is_iso(text: &str) -> bool {
    text.bytes().take_while(u8::is_ascii_digit).count() >= 4
}

/// True if the year has the four digits of RFC 3339.
fn has_short_year(instant: Timestamp) -> bool {
    (0..=9999).contains(&Offset::UTC.to_datetime(instant).year())
}
