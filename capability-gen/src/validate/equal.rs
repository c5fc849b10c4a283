//! When JSON values are the same: by what they say, not how they are written (`1` is `1.0`).

use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Whether two values are the same.
pub(super) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right) == Ordering::Equal,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(name, left)| right.get(name).is_some_and(|right| equal(left, right)))
        }
        _ => left == right,
    }
}

/// A hash that is the same for equal values, and the same in every process.
pub(super) fn hash(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    std::mem::discriminant(value).hash(&mut hasher);
    match value {
        Value::Null => {}
        Value::Bool(value) => value.hash(&mut hasher),
        // As a float: equal integers and floats have the same one.
        Value::Number(number) => (float(number) + 0.0).to_bits().hash(&mut hasher),
        Value::String(text) => text.hash(&mut hasher),
        Value::Array(items) => items.iter().for_each(|item| hash(item).hash(&mut hasher)),
        Value::Object(members) => {
            let sum = members.iter().fold(0_u64, |sum, (name, member)| {
                let mut hasher = DefaultHasher::new();
                (name, hash(member)).hash(&mut hasher);
                sum.wrapping_add(hasher.finish())
            });
            sum.hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Compares by value, exactly where both are integers.
pub(super) fn compare(left: &Number, right: &Number) -> Ordering {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => float(left).partial_cmp(&float(right)).unwrap_or(Ordering::Equal),
    }
}

/// Whether a number has no fraction.
pub(super) fn is_integer(number: &Number) -> bool {
    integer(number).is_some() || float(number).fract() == 0.0
}

/// Whether a number is a whole multiple of another, as decimals are: 0.3 is one of 0.1.
pub(super) fn is_multiple(number: &Number, of: &Number) -> bool {
    if let (Some(number), Some(of)) = (integer(number), integer(of)) {
        return of != 0 && number % of == 0;
    }
    let quotient = float(number) / float(of);
    quotient.is_finite() && (quotient - quotient.round()).abs() <= quotient.abs() * 1e-12
}

/// How much there is to a value: its parts, and its texts by their length.
pub(super) fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => 1 + text.len() as u64 / 16,
        Value::Array(items) => items.iter().map(size).sum::<u64>() + 1,
        Value::Object(members) => {
            members.iter().map(|(name, member)| 1 + name.len() as u64 / 16 + size(member)).sum::<u64>() + 1
        }
        _ => 1,
    }
}

/// Whether values are nested more than `levels` deep; looks no deeper than that.
pub(super) fn is_deeper_than(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper_than(item, levels - 1)),
        Value::Object(members) => levels == 0 || members.values().any(|member| is_deeper_than(member, levels - 1)),
        _ => false,
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i128().or_else(|| {
        let float = float(number);
        // Beyond this a float cannot tell integers apart, and the comparison is between floats anyway.
        (float.fract() == 0.0 && float.abs() < 9e18).then_some(float as i128)
    })
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}
