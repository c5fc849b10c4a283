//! Plain scalars by YAML 1.2, where `no`, `on` and dates are text.

use serde_json::{Number, Value};

/// The value of a plain scalar; `None` for a number that JSON cannot represent.
pub(super) fn plain(text: &str) -> Option<Value> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ => match integer(text) {
            Some(number) => Value::Number(number),
            None if is_special(text) => return None,
            None if is_float(text) => Value::Number(float(text)?),
            None => Value::String(text.to_owned()),
        },
    })
}

/// The value of a scalar tagged `!!float`.
pub(super) fn float(text: &str) -> Option<Number> {
    if !is_float(text) {
        return None;
    }
    // For the remaining syntax, Rust and YAML agree.
    Number::from_f64(text.parse().ok()?)
}

/// `-12`, `0o14`, `0xC`; `None` if it is not an integer, or too large for one and thus a float.
pub(super) fn integer(text: &str) -> Option<Number> {
    let of_radix = |digits: &str, radix| {
        let is_digits = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
        is_digits.then(|| u64::from_str_radix(digits, radix).ok()).flatten().map(Number::from)
    };
    if let Some(digits) = text.strip_prefix("0o") {
        return of_radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return of_radix(digits, 16);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    match text.starts_with('-') {
        true => text.parse::<i64>().ok().map(Number::from),
        false => digits.parse::<u64>().ok().map(Number::from),
    }
}

/// `.inf`, `-.INF`, `.nan`.
fn is_special(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// `[-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )?`
fn is_float(text: &str) -> bool {
    let is_digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    if exponent.is_some_and(|exponent| exponent.is_empty() || !is_digits(exponent)) {
        return false;
    }
    match mantissa.split_once('.') {
        Some((whole, part)) => is_digits(whole) && is_digits(part) && !(whole.is_empty() && part.is_empty()),
        None => !mantissa.is_empty() && is_digits(mantissa),
    }
}
