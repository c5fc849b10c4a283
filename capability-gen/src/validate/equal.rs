//! Equality of JSON values as in JSON Schema: `1` equals `1.0`.

use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Returns true if two values are equal.
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
        // As a float, so that equal integers and floats have the same hash.
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

/// Returns true if a number has no fraction.
pub(super) fn is_integer(number: &Number) -> bool {
    integer(number).is_some() || float(number).fract() == 0.0
}

/// Returns true if a number is an integer multiple of another in decimal arithmetic: 0.3 is a multiple of 0.1.
pub(super) fn is_multiple(number: &Number, of: &Number) -> bool {
    if let (Some(number), Some(of)) = (integer(number), integer(of)) {
        return of != 0 && number % of == 0;
    }
    let quotient = float(number) / float(of);
    quotient.is_finite() && (quotient - quotient.round()).abs() <= quotient.abs() * 1e-12
}

/// Size of a value: number of its parts, and length of its texts.
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

/// Returns true if values are nested more than `levels` deep; visits no deeper levels.
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
        // Beyond this, floats cannot distinguish integers, and floats are compared anyway.
        (float.fract() == 0.0 && float.abs() < 9e18).then_some(float as i128)
    })
}

fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(f64::NAN)
}
