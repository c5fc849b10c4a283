//! Round trip of a JSON value through a WIT type with the marks alone, as hosts and guests do it.

use capability_gen::wit::{Interface, Kind, WitType};
use serde_json::{Map, Value};

/// The value after the round trip, or why it cannot be converted.
pub(crate) fn cross(interface: &Interface, ty: &WitType, value: &Value) -> Result<Value, String> {
    let refused = || Err(format!("{value} is no {ty:?}"));
    match ty {
        WitType::Json => Ok(value.clone()),
        WitType::Bool if value.is_boolean() => Ok(value.clone()),
        WitType::S64 if value.is_i64() => Ok(value.clone()),
        WitType::F64 if value.is_number() => Ok(value.clone()),
        WitType::String if value.is_string() => Ok(value.clone()),
        WitType::Option(_) if value.is_null() => Ok(Value::Null),
        WitType::Option(inner) => cross(interface, inner, value),
        WitType::List(item) => match value {
            Value::Array(items) => items.iter().map(|value| cross(interface, item, value)).collect(),
            _ => refused(),
        },
        WitType::Tuple(types) => match value {
            Value::Array(items) if items.len() == types.len() => {
                items.iter().zip(types).map(|(value, ty)| cross(interface, ty, value)).collect()
            }
            _ => refused(),
        },
        WitType::Defined(name) => {
            let definition = interface.definitions.iter().find(|definition| definition.name == *name).unwrap();
            let marks = &interface.marks()[name];
            let members = definition.members.iter().map(|member| (marks[&member.name].as_str(), member.ty.as_ref()));
            match definition.kind {
                Kind::Record => record(interface, members, value),
                Kind::Enum => {
                    let is_known = members.into_iter().any(|(mark, _)| mark.strip_prefix('=') == value.as_str());
                    if is_known { Ok(value.clone()) } else { refused() }
                }
                Kind::Variant => {
                    let mut fitting = members.filter(|(mark, _)| fits(mark, value));
                    match (fitting.next(), fitting.next()) {
                        (Some((_, Some(ty))), None) => cross(interface, ty, value),
                        other => Err(format!("{value} fits {other:?} of {name}")),
                    }
                }
            }
        }
        _ => refused(),
    }
}

fn record<'a>(
    interface: &Interface,
    members: impl Iterator<Item = (&'a str, Option<&'a WitType>)>,
    value: &Value,
) -> Result<Value, String> {
    let mut left = value.as_object().ok_or("no object")?.clone();
    let mut arrived = Map::new();
    for (mark, ty) in members {
        let ty = ty.ok_or("a field without a type")?;
        if mark == "*" {
            arrived.append(&mut left);
            continue;
        }
        let name = &mark[1..];
        match (&mark[..1], left.remove(name), ty) {
            ("=", Some(value), ty) => drop(arrived.insert(name.to_owned(), cross(interface, ty, &value)?)),
            ("?", Some(value), WitType::Option(inner)) => {
                arrived.insert(name.to_owned(), cross(interface, inner, &value)?);
            }
            ("?", None, WitType::Option(_)) => {}
            other => return Err(format!("{name:?}: {other:?}")),
        }
    }
    if left.is_empty() { Ok(Value::Object(arrived)) } else { Err(format!("{left:?} has no field")) }
}

fn fits(mark: &str, value: &Value) -> bool {
    let (kind, mut texts) = mark.strip_prefix('~').unwrap().split_at(1);
    let is_kind = match kind {
        "b" => value.is_boolean(),
        "n" => value.is_number(),
        "s" => value.is_string(),
        "a" => value.is_array(),
        "o" => value.is_object(),
        other => panic!("{other} is no kind"),
    };
    let mut parts = Vec::new();
    while let Some((length, rest)) = texts.split_once(':') {
        let (part, rest) = rest.split_at(length.parse().unwrap());
        parts.push(part);
        texts = rest;
    }
    assert_eq!(texts, "", "a mark is read to its end");
    match parts.split_first() {
        Some((name, allowed)) => is_kind && value[*name].as_str().is_some_and(|text| allowed.contains(&text)),
        None => is_kind,
    }
}
