//! Parsers of amounts on the command line: fuel, sizes and durations.

use std::time::Duration;

/// Parses fuel: `1_000_000_000`, `1e9`, `500M`.
pub(super) fn fuel(text: &str) -> Result<u64, String> {
    let plain: String = text.chars().filter(|character| !matches!(character, '_' | ',')).collect();
    let (digits, factor) = match plain.to_ascii_lowercase() {
        text if text.ends_with('k') => (text[..text.len() - 1].to_owned(), 1_000),
        text if text.ends_with('m') => (text[..text.len() - 1].to_owned(), 1_000_000),
        text if text.ends_with('g') => (text[..text.len() - 1].to_owned(), 1_000_000_000),
        text => (text, 1),
    };
    let whole = digits.parse::<u64>().ok();
    let scientific = || digits.parse::<f64>().ok().filter(|value| value.fract() == 0.0 && (0.0..1e18).contains(value));
    let amount = whole.or_else(|| scientific().map(|value| value as u64)).and_then(|amount| amount.checked_mul(factor));
    amount.filter(|amount| *amount > 0).ok_or_else(|| "expected an amount such as 1_000_000_000 or 500M".into())
}

/// Parses a size: `64MiB`, `100 MB`, `65536`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let size: bytesize::ByteSize = text.parse().map_err(|_| "expected a size such as 64MiB".to_owned())?;
    if size.as_u64() == 0 { Err("expected a size above zero".into()) } else { Ok(size.as_u64()) }
}

/// Parses a duration: `5s`, `2min`, `250ms`; a bare number is seconds.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    age(text).and_then(|duration| if duration.is_zero() { Err(DURATION.to_owned()) } else { Ok(duration) })
}

/// Expected syntax of a duration.
const DURATION: &str = "expected a duration such as 5s, 250ms or 2min";

/// Parses a duration that may be zero.
pub(super) fn age(text: &str) -> Result<Duration, String> {
    let parsed = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        Err(_) => humantime::parse_duration(text).ok(),
    };
    parsed.ok_or_else(|| DURATION.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::commands::units::{age, bytes, duration, fuel};
    use std::time::Duration;

    #[test]
    fn common_notations_are_parsed() {
        assert_eq!(fuel("1_000_000_000").unwrap(), 1_000_000_000);
        assert_eq!(fuel("1e9").unwrap(), 1_000_000_000);
        assert_eq!(fuel("500M").unwrap(), 500_000_000);
        assert_eq!(bytes("64MiB").unwrap(), 64 << 20);
        assert_eq!(bytes("65536").unwrap(), 65536);
        assert_eq!(duration("5s").unwrap(), Duration::from_secs(5));
        assert_eq!(duration("0.5").unwrap(), Duration::from_millis(500));
        assert_eq!(duration("2min").unwrap(), Duration::from_secs(120));
        assert_eq!(age("0s").unwrap(), Duration::ZERO);
    }

    #[test]
    fn invalid_and_zero_amounts_are_refused() {
        for text in ["", "0", "-1", "abc", "1e30", "1.5"] {
            assert!(fuel(text).is_err(), "{text}");
        }
        for text in ["", "0", "x"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        for text in ["", "0", "-5", "soon", "NaN", "inf"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
