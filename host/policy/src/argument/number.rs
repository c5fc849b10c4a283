//! Exact comparison of JSON numbers.

use serde_json::Number;
use std::cmp::Ordering;

/// Every float beyond this is larger than any JSON integer we parse.
const LARGE: f64 = 1e30;

/// Compares two numbers exactly; `None` for NaN.
pub(crate) fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        (Some(left), None) => compare_mixed(left, right.as_f64()?),
        (None, Some(right)) => compare_mixed(right, left.as_f64()?).map(Ordering::reverse),
        (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn compare_mixed(integer: i128, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    if float.abs() > LARGE {
        return Some(if float > 0.0 { Ordering::Less } else { Ordering::Greater });
    }
    let whole = float.trunc();
    // Exact: whole floats of this size convert to i128 without loss.
    let by_whole = integer.cmp(&(whole as i128));
    Some(by_whole.then_with(|| 0.0_f64.total_cmp(&(float - whole + 0.0))))
}

#[cfg(test)]
mod tests {
    use super::compare;
    use serde_json::{Number, Value};
    use std::cmp::Ordering::{Equal, Greater, Less};

    fn number(text: &str) -> Number {
        match serde_json::from_str(text).unwrap() {
            Value::Number(number) => number,
            other => panic!("{other}"),
        }
    }

    #[test]
    fn numbers_compare_exactly() {
        for (left, right, order) in [
            ("100", "100", Equal),
            ("100", "100.0", Equal),
            ("1e2", "100", Equal),
            ("100.0000001", "100", Greater),
            ("99.9999999", "100", Less),
            ("-0", "0", Equal),
            ("-0.0", "0", Equal),
            ("0", "-0.0", Equal),
            ("-0.5", "0", Less),
            ("-1.5", "-1", Less),
            ("9007199254740993", "9007199254740992.0", Greater),
            ("18446744073709551615", "1.8446744073709552e19", Less),
            ("18446744073709551615", "-1", Greater),
            ("1e308", "18446744073709551615", Greater),
            ("-1e308", "-9223372036854775808", Less),
            ("5e-324", "0", Greater),
            ("0.1", "0.1", Equal),
        ] {
            let (left, right) = (number(left), number(right));
            assert_eq!(compare(&left, &right), Some(order), "{left} {right}");
            assert_eq!(compare(&right, &left), Some(order.reverse()), "{right} {left}");
        }
        assert!(serde_json::from_str::<Value>("1e400").is_err());
    }
}
