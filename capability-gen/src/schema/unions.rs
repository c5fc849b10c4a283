//! Union and intersection of types.

use super::limits::MAX_BRANCHES;
use super::normal::canonical;
use super::type_names::{is_of, type_of};
use crate::model::{Field, Presence, Record, Rest, Type};
use serde_json::Value;
use std::collections::HashSet;

/// Union of types, flattened and without duplicates. `Any` absorbs all others.
pub(super) fn union(types: Vec<Type>) -> Type {
    let mut literals: Vec<Value> = Vec::new();
    let mut seen = HashSet::new();
    let mut others: Vec<Type> = Vec::new();
    let mut place_of_literals = None;
    let flat = types.into_iter().flat_map(|ty| match ty {
        Type::Union(inside) => inside,
        one => vec![one],
    });
    for ty in flat {
        match ty {
            Type::Any => return Type::Any,
            Type::Never => {}
            Type::Literals(values) => {
                place_of_literals.get_or_insert(others.len());
                literals.extend(values.into_iter().filter(|value| seen.insert(canonical(value))));
            }
            other if others.contains(&other) => {}
            other => others.push(other),
        }
        if others.len() > MAX_BRANCHES {
            return Type::Any;
        }
    }
    if let Some(place) = place_of_literals {
        others.insert(place.min(others.len()), literal_type(literals));
    }
    if others.contains(&Type::Number) {
        others.retain(|ty| *ty != Type::Integer);
    }
    // `null` comes last.
    if let Some(place) = others.iter().position(|ty| *ty == Type::Null) {
        let null = others.remove(place);
        others.push(null);
    }
    match others.len() {
        0 => Type::Never,
        1 => others.remove(0),
        _ => Type::Union(others),
    }
}

fn literal_type(values: Vec<Value>) -> Type {
    let booleans = values.iter().filter(|value| value.is_boolean()).count();
    if booleans == 2 && values.len() == 2 { Type::Boolean } else { Type::Literals(values) }
}

/// The type of enumerated values that are of these types; of all values if there are no types.
pub(super) fn literals(values: &[Value], types: &[&str]) -> Type {
    let fits = |value: &&Value| types.is_empty() || types.iter().any(|declared| is_of(type_of(value), declared));
    let values: Vec<&Value> = values.iter().filter(fits).collect();
    if values.iter().any(|value| value.is_array() || value.is_object()) {
        return Type::Any;
    }
    let mut seen = HashSet::new();
    let scalars = values.iter().filter(|value| !value.is_null() && seen.insert(canonical(value)));
    let scalars: Vec<Value> = scalars.map(|value| (*value).clone()).collect();
    let mut branches = Vec::new();
    if !scalars.is_empty() {
        branches.push(literal_type(scalars));
    }
    if values.iter().any(|value| value.is_null()) {
        branches.push(Type::Null);
    }
    union(branches)
}

/// Intersection of two types; `None` if it cannot be expressed.
pub(super) fn intersection(first: Type, second: Type) -> Option<Type> {
    match (first, second) {
        (Type::Any, other) | (other, Type::Any) => Some(other),
        (Type::Never, _) | (_, Type::Never) => Some(Type::Never),
        (one, other) if one == other => Some(one),
        (Type::Integer, Type::Number) | (Type::Number, Type::Integer) => Some(Type::Integer),
        (Type::Literals(values), plain @ (Type::String | Type::Number | Type::Integer | Type::Boolean))
        | (plain @ (Type::String | Type::Number | Type::Integer | Type::Boolean), Type::Literals(values)) => {
            let name = match plain {
                Type::String => "string",
                Type::Number => "number",
                Type::Integer => "integer",
                _ => "boolean",
            };
            Some(literals(&values, &[name]))
        }
        (Type::Literals(values), Type::Literals(others)) => {
            let others: HashSet<String> = others.iter().map(canonical).collect();
            let both: Vec<Value> = values.into_iter().filter(|value| others.contains(&canonical(value))).collect();
            Some(literals(&both, &[]))
        }
        (Type::Record(one), Type::Record(other)) => Some(Type::Record(records(one, other)?)),
        (Type::Record(record), Type::Map(rest)) | (Type::Map(rest), Type::Record(record)) if *rest == Type::Any => {
            Some(Type::Record(record))
        }
        (Type::Union(branches), other) | (other, Type::Union(branches)) => {
            let both = branches.into_iter().map(|branch| intersection(branch, other.clone()));
            Some(union(both.collect::<Option<Vec<Type>>>()?))
        }
        (one, other) if is_disjoint(&one, &other) => Some(Type::Never),
        _ => None,
    }
}

/// Returns true if the types have no value in common, such as a list and an object.
fn is_disjoint(one: &Type, other: &Type) -> bool {
    let kind = |ty: &Type| match ty {
        Type::Null => Some(0),
        Type::Boolean => Some(1),
        Type::Integer | Type::Number => Some(2),
        Type::String => Some(3),
        Type::List(_) | Type::Tuple { .. } => Some(4),
        Type::Record(_) | Type::Map(_) => Some(5),
        _ => None,
    };
    kind(one).zip(kind(other)).is_some_and(|(one, other)| one != other)
}

fn records(one: Record, other: Record) -> Option<Record> {
    let mut fields = one.fields;
    for field in other.fields {
        match fields.iter_mut().find(|own| own.name == field.name) {
            Some(own) => {
                own.ty = intersection(own.ty.clone(), field.ty)?;
                if field.presence == Presence::Required {
                    own.presence = Presence::Required;
                }
            }
            None => fields.push(Field { ..field }),
        }
    }
    let rest = match (one.rest, other.rest) {
        (Rest::Declared(first), Rest::Declared(second)) => Rest::Declared(Box::new(intersection(*first, *second)?)),
        (Rest::Undeclared, rest) | (rest, Rest::Undeclared) => rest,
        (Rest::Closed, _) | (_, Rest::Closed) => Rest::Closed,
    };
    Some(Record { fields, rest })
}
