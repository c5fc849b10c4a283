//! What a word without quotation marks is. As YAML 1.2 has it, so `no`, `on` and dates are text.

use serde_json::{Number, Value};

/// What a bare word is; none where it is a number that JSON has none for.
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

/// A word as the tag `!!float` has it.
pub(super) fn float(text: &str) -> Option<Number> {
    if !is_float(text) {
        return None;
    }
    // What Rust reads as a float and what YAML does differ in nothing that is left.
    Number::from_f64(text.parse().ok()?)
}

/// `-12`, `0o14`, `0xC`; none where it is no integer, or too large for one and so a float.
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
