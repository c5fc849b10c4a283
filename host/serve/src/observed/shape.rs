//! Type inference for JSON values: member names and types, never values.
//!
//! A name may be data too, if an object is a map (`{ "ada@example.com": 3 }`). An object counts as a map, whose names
//! are not stored, as soon as one name does not look like an identifier, or when two samples share few names.

use capability_gen::emit::dts::property;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Maximum depth; deeper values are `unknown`.
const MAX_DEPTH: usize = 6;
/// Maximum number of members of an object, and of characters and digits of a name: more is a map, or data.
const MAX_MEMBERS: usize = 24;
const MAX_NAME: usize = 40;
const MAX_DIGITS: usize = 3;
/// From this number of members on, an object whose members all have the same object or list type is a map.
const ALIKE: usize = 4;
/// From this number of members on, two objects must share half of them to have the same type.
const MANY: usize = 6;
/// Maximum number of items read per list or map, and of values overall, so that one sample takes microseconds.
const MAX_ITEMS: usize = 20;
const MAX_VALUES: usize = 500;
/// Maximum number of types in a union.
const MAX_KINDS: usize = 4;
/// Maximum length of the printed type.
const MAX_TEXT: usize = 1_200;

/// Inferred type of the results of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ResultShape {
    /// Too deep, or a union of too many types.
    Unknown,
    Null,
    Boolean,
    Number,
    String,
    /// List with its item type, if an item was seen.
    List(Option<Box<ResultShape>>),
    Object(BTreeMap<String, Member>),
    /// An object whose names are data.
    Map(Option<Box<ResultShape>>),
    /// Union.
    Either(Vec<ResultShape>),
}

/// Member of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Member {
    shape: ResultShape,
    /// True if some sample lacks it.
    is_optional: bool,
}

impl ResultShape {
    pub(super) fn of(value: &Value) -> ResultShape {
        let mut left = MAX_VALUES;
        read(value, MAX_DEPTH, &mut left)
    }

    /// Returns the type that covers both.
    pub(super) fn merged(self, other: ResultShape) -> ResultShape {
        use ResultShape::{Either, List, Map, Object, Unknown};
        match (self, other) {
            (one, other) if one == other => one,
            (Unknown, _) | (_, Unknown) => Unknown,
            (List(one), List(other)) => List(either(one, other)),
            (Map(one), Map(other)) => Map(either(one, other)),
            (Map(one), Object(members)) | (Object(members), Map(one)) => Map(either(one, held(members))),
            (Object(one), Object(other)) => objects(one, other),
            (Either(mut kinds), other) => {
                let others = if let Either(others) = other { others } else { vec![other] };
                others.into_iter().for_each(|other| add_kind(&mut kinds, other));
                if kinds.len() > MAX_KINDS { Unknown } else { Either(kinds) }
            }
            (one, other @ Either(_)) => other.merged(one),
            (one, other) => Either(vec![one, other]),
        }
    }

    /// Formats the type as TypeScript, as deep as fits.
    pub(super) fn text(&self) -> String {
        let mut texts = (1..=MAX_DEPTH).rev().map(|depth| {
            let mut text = String::new();
            self.write(&mut text, depth);
            text
        });
        texts.find(|text| text.chars().count() <= MAX_TEXT).unwrap_or_else(|| "unknown".to_owned())
    }

    fn write(&self, text: &mut String, depth: usize) {
        let inner = |text: &mut String, shape: &Option<Box<ResultShape>>| match shape {
            Some(shape) if depth > 1 => shape.write(text, depth - 1),
            _ => text.push_str("unknown"),
        };
        match self {
            ResultShape::Unknown => text.push_str("unknown"),
            ResultShape::Null => text.push_str("null"),
            ResultShape::Boolean => text.push_str("boolean"),
            ResultShape::Number => text.push_str("number"),
            ResultShape::String => text.push_str("string"),
            ResultShape::List(item) => {
                let is_either = matches!(item.as_deref(), Some(ResultShape::Either(_)));
                text.push_str(if is_either { "(" } else { "" });
                inner(text, item);
                text.push_str(if is_either { ")[]" } else { "[]" });
            }
            ResultShape::Map(value) => {
                text.push_str("{ [key: string]: ");
                inner(text, value);
                text.push_str(" }");
            }
            ResultShape::Object(members) if members.is_empty() => text.push_str("{}"),
            ResultShape::Object(_) if depth <= 1 => text.push_str("object"),
            ResultShape::Object(members) => {
                text.push_str("{ ");
                for (number, (name, member)) in members.iter().enumerate() {
                    text.push_str(if number > 0 { "; " } else { "" });
                    text.push_str(&property(name));
                    text.push_str(if member.is_optional { "?: " } else { ": " });
                    member.shape.write(text, depth - 1);
                }
                text.push_str(" }");
            }
            ResultShape::Either(kinds) => {
                for (number, kind) in kinds.iter().enumerate() {
                    text.push_str(if number > 0 { " | " } else { "" });
                    kind.write(text, depth);
                }
            }
        }
    }
}

fn read(value: &Value, depth: usize, left: &mut usize) -> ResultShape {
    let Some(rest) = left.checked_sub(1).filter(|_| depth > 0) else { return ResultShape::Unknown };
    *left = rest;
    match value {
        Value::Null => ResultShape::Null,
        Value::Bool(_) => ResultShape::Boolean,
        Value::Number(_) => ResultShape::Number,
        Value::String(_) => ResultShape::String,
        Value::Array(items) => ResultShape::List(all(items.iter(), depth, left)),
        Value::Object(members) if !has_names(members) => ResultShape::Map(all(members.values(), depth, left)),
        Value::Object(members) => {
            let member = |shape| Member { shape, is_optional: false };
            let read = members.iter().map(|(name, value)| (name.clone(), member(read(value, depth - 1, left))));
            let members: BTreeMap<String, Member> = read.collect();
            if is_alike(&members) { ResultShape::Map(held(members)) } else { ResultShape::Object(members) }
        }
    }
}

/// Returns the merged type of the first values.
fn all<'a>(values: impl Iterator<Item = &'a Value>, depth: usize, left: &mut usize) -> Option<Box<ResultShape>> {
    let shapes = values.take(MAX_ITEMS).map(|value| read(value, depth - 1, left));
    shapes.reduce(ResultShape::merged).map(Box::new)
}

/// Returns true if all keys of an object look like member names.
fn has_names(members: &Map<String, Value>) -> bool {
    members.len() <= MAX_MEMBERS && members.keys().all(|name| is_name(name))
}

fn is_name(name: &str) -> bool {
    let is_beginning = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$');
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-');
    name.len() <= MAX_NAME
        && name.bytes().next().is_some_and(is_beginning)
        && name.bytes().all(is_part)
        // Ids, dates and numbers.
        && name.bytes().filter(u8::is_ascii_digit).count() <= MAX_DIGITS
}

fn is_alike(members: &BTreeMap<String, Member>) -> bool {
    let mut shapes = members.values().map(|member| &member.shape);
    let first = shapes.next();
    let is_large = matches!(first, Some(ResultShape::Object(_) | ResultShape::List(_) | ResultShape::Map(_)));
    members.len() >= ALIKE && is_large && shapes.all(|shape| Some(shape) == first)
}

fn objects(mut one: BTreeMap<String, Member>, other: BTreeMap<String, Member>) -> ResultShape {
    let shared = other.keys().filter(|name| one.contains_key(*name)).count();
    let together = one.len() + other.len() - shared;
    let is_other_kind = together >= MANY && shared * 2 < together && !one.is_empty() && !other.is_empty();
    if together > MAX_MEMBERS || is_other_kind {
        return ResultShape::Map(either(held(one), held(other)));
    }
    one.iter_mut().filter(|(name, _)| !other.contains_key(*name)).for_each(|(_, member)| member.is_optional = true);
    for (name, member) in other {
        let merged = match one.remove(&name) {
            Some(known) => {
                Member { shape: known.shape.merged(member.shape), is_optional: known.is_optional || member.is_optional }
            }
            None => Member { is_optional: true, ..member },
        };
        one.insert(name, merged);
    }
    ResultShape::Object(one)
}

/// Returns the type that covers all members.
fn held(members: BTreeMap<String, Member>) -> Option<Box<ResultShape>> {
    members.into_values().map(|member| member.shape).reduce(ResultShape::merged).map(Box::new)
}

fn either(one: Option<Box<ResultShape>>, other: Option<Box<ResultShape>>) -> Option<Box<ResultShape>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Box::new(one.merged(*other))),
        (one, other) => one.or(other),
    }
}

/// Adds a type to a union, merging lists with lists and objects with objects.
fn add_kind(kinds: &mut Vec<ResultShape>, other: ResultShape) {
    let is_same_kind = |kind: &ResultShape| {
        use ResultShape::{List, Map, Object};
        kind == &other || matches!((kind, &other), (List(_), List(_)) | (Object(_) | Map(_), Object(_) | Map(_)))
    };
    match kinds.iter().position(is_same_kind) {
        Some(at) => {
            let kind = kinds.remove(at);
            kinds.insert(at, kind.merged(other));
        }
        None => kinds.push(other),
    }
}

#[cfg(test)]
#[path = "shape_tests.rs"]
mod tests;
