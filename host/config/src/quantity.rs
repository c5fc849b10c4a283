//! Quantities: numbers, or text with a unit.

use super::reader::{Node, Result};
use serde_json::Value;
use std::time::Duration;

/// Maximum count or size: the largest integer that every JSON parser represents exactly.
const MAX_AMOUNT: u64 = (1 << 53) - 1;

/// Maximum duration. Long enough to wait for people; short enough to refuse `1M`, which is a month and no minute, and to
/// avoid clock overflow.
const MAX_DURATION: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Maximum age: longer than any record is kept.
const MAX_AGE: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// Amount with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Count: `1_000_000_000`, `1e9`, `500M`.
    Count(u64),
    /// Size: `64MiB`, `100 MB`, `65536`.
    Bytes(u64),
    /// Duration: `5s`, `2min`, `250ms`; a bare number is seconds.
    Duration(Duration),
}

/// Kind of quantity that a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// Count that may be zero.
    CountOrNone,
    Count,
    Bytes,
    Duration,
    /// Duration for which something is kept.
    Age,
}

impl Measure {
    fn expected(self) -> &'static str {
        match self {
            Measure::CountOrNone => "a whole number, such as 0, 100 or \"1_000\"",
            Measure::Count => "a whole number above zero, such as 1000, \"1_000_000_000\" or \"500M\"",
            Measure::Bytes => "a size above zero, such as 65536 or \"64MiB\"",
            Measure::Duration => "a duration above zero, such as 5 (seconds), \"250ms\" or \"2min\"",
            Measure::Age => "a duration above zero, such as \"12h\" or \"90d\"",
        }
    }

    fn most(self) -> String {
        match self {
            Measure::Duration | Measure::Age => humantime::format_duration(self.longest()).to_string(),
            _ => MAX_AMOUNT.to_string(),
        }
    }

    fn longest(self) -> Duration {
        if self == Measure::Age { MAX_AGE } else { MAX_DURATION }
    }

    /// Reads a number or text as this kind of quantity.
    pub(super) fn read(self, node: Node<'_>) -> Result<Quantity> {
        let parsed = match node.value {
            Value::Number(number) => self.parse(&number.to_string()),
            Value::String(text) => self.parse(text),
            _ => return Err(node.expected(self.expected())),
        };
        parsed.map_err(|problem| match problem {
            Problem::Invalid => node.error(format!("expected {}", self.expected())),
            Problem::TooLarge => node.error(format!("the maximum is {}", self.most())),
        })
    }

    fn parse(self, text: &str) -> std::result::Result<Quantity, Problem> {
        // Keeps signs, `inf` and `nan` from the number parsers below.
        if !text.starts_with(|first: char| first.is_ascii_digit()) || text.len() > 64 {
            return Err(Problem::Invalid);
        }
        let plain = text.replace('_', "");
        let quantity = match self {
            Measure::CountOrNone | Measure::Count => Quantity::Count(count(&plain)?),
            Measure::Bytes => Quantity::Bytes(bytes(&plain)?),
            Measure::Duration | Measure::Age => Quantity::Duration(duration(&plain)?),
        };
        match quantity {
            Quantity::Count(0) if self == Measure::CountOrNone => Ok(quantity),
            Quantity::Count(0) | Quantity::Bytes(0) | Quantity::Duration(Duration::ZERO) => Err(Problem::Invalid),
            Quantity::Count(amount) | Quantity::Bytes(amount) if amount > MAX_AMOUNT => Err(Problem::TooLarge),
            Quantity::Duration(time) if time > self.longest() => Err(Problem::TooLarge),
            _ => Ok(quantity),
        }
    }
}

/// Reads a duration.
pub(super) fn read_duration(node: Node<'_>) -> Result<Duration> {
    match Measure::Duration.read(node)? {
        Quantity::Duration(time) => Ok(time),
        Quantity::Count(_) | Quantity::Bytes(_) => Err(node.expected(Measure::Duration.expected())),
    }
}

/// Reads a duration for which something is kept.
pub(super) fn read_age(node: Node<'_>) -> Result<Duration> {
    match Measure::Age.read(node)? {
        Quantity::Duration(time) => Ok(time),
        Quantity::Count(_) | Quantity::Bytes(_) => Err(node.expected(Measure::Age.expected())),
    }
}

/// Reads a size within these bounds, both included.
pub(super) fn read_bytes(node: Node<'_>, least: u64, most: u64) -> Result<u64> {
    match Measure::Bytes.read(node)? {
        Quantity::Bytes(size) if (least..=most).contains(&size) => Ok(size),
        Quantity::Bytes(_) => Err(node.error(format!("the size must be between {least} and {most} bytes"))),
        Quantity::Count(_) | Quantity::Duration(_) => Err(node.expected(Measure::Bytes.expected())),
    }
}

/// Reads a count from one to `most`.
pub(super) fn read_count<T: TryFrom<u64> + Copy + Into<u64>>(node: Node<'_>, most: T) -> Result<T> {
    let too_large = || node.error(format!("the maximum is {}", most.into()));
    match Measure::Count.read(node)? {
        Quantity::Count(count) if count <= most.into() => T::try_from(count).map_err(|_| too_large()),
        Quantity::Count(_) => Err(too_large()),
        Quantity::Bytes(_) | Quantity::Duration(_) => Err(node.expected(Measure::Count.expected())),
    }
}

#[derive(Debug, PartialEq)]
enum Problem {
    Invalid,
    TooLarge,
}

fn count(text: &str) -> std::result::Result<u64, Problem> {
    let (digits, factor) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1_000),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1_000_000),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    whole(digits)?.checked_mul(factor).ok_or(Problem::TooLarge)
}

/// Parses an integer: `1000`, `1e3`, `1000.0`.
fn whole(text: &str) -> std::result::Result<u64, Problem> {
    if let Ok(amount) = text.parse::<u64>() {
        return Ok(amount);
    }
    match text.parse::<f64>() {
        Ok(amount) if amount > MAX_AMOUNT as f64 => Err(Problem::TooLarge),
        Ok(amount) if amount.fract() == 0.0 => Ok(amount as u64),
        _ => Err(Problem::Invalid),
    }
}

fn bytes(text: &str) -> std::result::Result<u64, Problem> {
    // With a unit, overflow saturates at the maximum, which the caller refuses.
    let with_unit = || text.parse::<bytesize::ByteSize>().ok().map(|size| size.as_u64());
    match whole(text) {
        Err(Problem::Invalid) => with_unit().ok_or(Problem::Invalid),
        plain => plain,
    }
}

fn duration(text: &str) -> std::result::Result<Duration, Problem> {
    match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|_| Problem::TooLarge),
        Err(_) => humantime::parse_duration(text).map_err(|error| match error {
            humantime::DurationError::NumberOverflow => Problem::TooLarge,
            _ => Problem::Invalid,
        }),
    }
}

#[cfg(test)]
mod tests {
    use crate::quantity::{Measure, Problem, Quantity};
    use std::time::Duration;

    #[test]
    fn quantities_are_parsed_in_all_spellings() {
        for text in ["1000000000", "1_000_000_000", "1e9", "1000M", "1g", "1000000000.0"] {
            assert_eq!(Measure::Count.parse(text), Ok(Quantity::Count(1_000_000_000)), "{text}");
        }
        for text in ["67108864", "64MiB", "64 MiB", "64mib", "67_108_864", "67108864B"] {
            assert_eq!(Measure::Bytes.parse(text), Ok(Quantity::Bytes(64 << 20)), "{text}");
        }
        for text in ["90", "90s", "1min 30s", "1m30s", "90000ms", "90.0"] {
            assert_eq!(Measure::Duration.parse(text), Ok(Quantity::Duration(Duration::from_secs(90))), "{text}");
        }
        assert_eq!(Measure::Duration.parse("0.5"), Ok(Quantity::Duration(Duration::from_millis(500))));
        assert_eq!(Measure::CountOrNone.parse("0"), Ok(Quantity::Count(0)));
    }

    #[test]
    fn invalid_quantities_and_zero_are_refused() {
        let nonsense =
            ["", "0", "0.0", "-1", "+1", "abc", "1.5", " 1", "_1", "inf", "NaN", "1,5", "5 apples", "1e-3", "0x10"];
        for text in nonsense {
            assert_eq!(Measure::Count.parse(text), Err(Problem::Invalid), "{text}");
        }
        for text in ["", "0", "0B", "0.5B", "-1", "x", "64s", "1.5", "64MiB!", "inf", "1..5MB"] {
            assert_eq!(Measure::Bytes.parse(text), Err(Problem::Invalid), "{text}");
        }
        for text in ["", "0", "0s", "-5", "soon", "NaN", "inf", "5 parsecs", "64MiB", "1s1"] {
            assert_eq!(Measure::Duration.parse(text), Err(Problem::Invalid), "{text}");
        }
        assert_eq!(Measure::Count.parse(&"1".repeat(1 << 20)), Err(Problem::Invalid));
    }

    #[test]
    fn overflow_is_refused_and_not_rounded() {
        for text in ["9007199254740992", "18446744073709551616", "1e30", "99999999999999G", "18446744073709551615k"] {
            assert_eq!(Measure::Count.parse(text), Err(Problem::TooLarge), "{text}");
        }
        for text in ["8PiB", "99999999999EiB", "1e300", "18446744073709551615"] {
            assert_eq!(Measure::Bytes.parse(text), Err(Problem::TooLarge), "{text}");
        }
        for text in ["1M", "31days", "1e300", "99999999999999999999s", "1year"] {
            assert_eq!(Measure::Duration.parse(text), Err(Problem::TooLarge), "{text}");
        }
    }
}
