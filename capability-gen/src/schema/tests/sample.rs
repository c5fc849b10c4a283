//! Sample values of a type, and near misses, generated without its schema.

use crate::model::{Presence, Type, Types};
use serde_json::{Map, Value, json};

/// Deterministic pseudo-random numbers.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % count.max(1)
    }
}

/// A value of this type, mostly: now and then one that is not.
pub(super) fn sample(types: &Types, ty: &Type, dice: &mut Dice, depth: usize) -> Value {
    if dice.below(40) == 0 {
        return [json!(null), json!("text"), json!(1.5), json!([]), json!({}), json!(true)][dice.below(6)].clone();
    }
    match ty {
        Type::Any => [json!(null), json!("x"), json!(1), json!({ "k": [1] })][dice.below(4)].clone(),
        Type::Never | Type::Null => Value::Null,
        Type::Boolean => json!(dice.below(2) == 0),
        Type::Integer => [json!(0), json!(1), json!(7), json!(-3), json!(1000)][dice.below(5)].clone(),
        Type::Number => [json!(0), json!(1), json!(2.5), json!(-3), json!(1000)][dice.below(5)].clone(),
        Type::String => ["", "x", "text", "2024-01-01", "a/b/c", "https://example.com/x"][dice.below(6)].into(),
        Type::Literals(values) => values[dice.below(values.len())].clone(),
        Type::List(item) => {
            let count = if depth > 6 { 0 } else { dice.below(3) };
            (0..count).map(|_| sample(types, item, dice, depth + 1)).collect()
        }
        Type::Tuple { items, .. } => items.iter().map(|item| sample(types, item, dice, depth + 1)).collect(),
        Type::Map(ty) => match depth {
            0..6 => json!({ "key": sample(types, ty, dice, depth + 1) }),
            _ => json!({}),
        },
        Type::Record(record) => {
            let mut out = Map::new();
            for field in &record.fields {
                let is_there = match field.presence {
                    Presence::Required => dice.below(30) != 0,
                    _ => depth < 6 && dice.below(3) == 0,
                };
                if is_there {
                    out.insert(field.name.clone(), sample(types, &field.ty, dice, depth + 1));
                }
            }
            Value::Object(out)
        }
        Type::Union(branches) => sample(types, &branches[dice.below(branches.len())], dice, depth),
        Type::Named(id) => sample(types, &types.get(*id).ty, dice, depth),
    }
}
