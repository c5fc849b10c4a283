//! Canonical JSON: equal values have equal text, so that a decision can be bound to the exact arguments of a call.

use crate::identity::FunctionId;
use data_encoding::HEXLOWER;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::cmp::Ordering;
use std::fmt::Write as _;

/// Serializes canonically: no whitespace, keys sorted by UTF-16 code units, numbers as they were parsed.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value);
    text
}

/// Returns the digest that a decision is bound to: the SHA-256, in hexadecimal, of the canonical
/// `[interface, function, params]`.
pub fn digest(function: &FunctionId, params: &Value) -> String {
    // One array, so that a name with a quote or a comma cannot imitate two.
    hash(&json!([function.interface(), function.function(), params]))
}

/// Returns the SHA-256 of the canonical text, in hexadecimal.
pub fn hash(value: &Value) -> String {
    HEXLOWER.encode(&Sha256::digest(canonical(value)))
}

/// Returns the members in canonical order.
pub fn sorted(map: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_by(|(one, _), (other, _)| by_code_units(one, other));
    members
}

fn by_code_units(one: &str, other: &str) -> Ordering {
    one.encode_utf16().cmp(other.encode_utf16())
}

fn write_value(text: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write_value(text, item);
            }
            text.push(']');
        }
        Value::Object(map) => {
            text.push('{');
            for (index, (key, member)) in sorted(map).into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                let _ = write!(text, "{}:", Value::from(key.as_str()));
                write_value(text, member);
            }
            text.push('}');
        }
        scalar => {
            let _ = write!(text, "{scalar}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use crate::identity::FunctionId;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn keys_are_sorted_at_every_depth_and_nothing_else_is_changed() {
        let value = json!({ "b": [{ "z": 1, "a": "x\n\"" }, 1.5, -0.0, 1e300], "a": null, "": true, "é": {}, "Z": [] });
        assert_eq!(canonical(&value), r#"{"":true,"Z":[],"a":null,"b":[{"a":"x\n\"","z":1},1.5,-0.0,1e+300],"é":{}}"#);
    }

    #[test]
    fn keys_are_compared_by_code_units_not_by_code_points() {
        // U+1F600 begins with the surrogate D83D, which is less than U+FB33.
        let value = json!({ "\u{fb33}": 1, "\u{1f600}": 2 });
        assert_eq!(canonical(&value), "{\"\u{1f600}\":2,\"\u{fb33}\":1}");
    }

    #[test]
    fn different_calls_have_different_digests() {
        const CRM: &str = "capabilities:crm/crm@1.0.0";
        let digest = |interface: &str, function: &str, params: &Value| {
            super::digest(&FunctionId::new(interface, function), params)
        };
        let known = digest(CRM, "create", &json!({ "a": 1, "b": 2 }));
        assert_eq!(known.len(), 64);
        assert_eq!(known, digest(CRM, "create", &json!({ "b": 2, "a": 1 })));
        for other in [
            digest(CRM, "create", &json!({ "a": 1, "b": 3 })),
            digest(CRM, "create", &json!({ "a": 1, "b": "2" })),
            digest(CRM, "create", &json!({ "a": 1 })),
            digest(CRM, "delete", &json!({ "a": 1, "b": 2 })),
            digest("other:crm/crm@1.0.0", "create", &json!({ "a": 1, "b": 2 })),
            digest(&format!("{CRM}\",\"create"), "", &json!({ "a": 1, "b": 2 })),
        ] {
            assert_ne!(known, other);
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter_map("finite", |number| number.is_finite().then(|| Value::from(number))),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn reversed(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(reversed).collect(),
            Value::Object(map) => {
                Value::Object(map.iter().rev().map(|(key, it)| (key.clone(), reversed(it))).collect())
            }
            scalar => scalar.clone(),
        }
    }

    proptest! {
        #[test]
        fn canonical_text_round_trips_and_ignores_key_order(value in any_json()) {
            let text = canonical(&value);
            prop_assert_eq!(&serde_json::from_str::<Value>(&text).unwrap(), &value);
            prop_assert_eq!(canonical(&reversed(&value)), text);
        }
    }
}
