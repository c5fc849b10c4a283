//! What a value is made of: the names of its members and the types of what they hold, never what they hold.
//!
//! A name may be data too, where an object is a map (`{ "ada@example.com": 3 }`). So an object counts as a map, of which no
//! name is kept, as soon as one of its names looks like no member's, or when two sightings share few names.

use capability_gen::emit::dts::property;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How deep a value is looked into; what is deeper is `unknown`.
const MAX_DEPTH: usize = 6;
/// Most names of an object, and most letters and digits of a name: more is a map, or data.
const MAX_MEMBERS: usize = 24;
const MAX_NAME: usize = 40;
const MAX_DIGITS: usize = 3;
/// From so many members on, an object whose members all hold the same kind of object or list is a map.
const ALIKE: usize = 4;
/// From so many members on, two objects must share half of them to be of one kind.
const MANY: usize = 6;
/// Most items of a list or map that are looked at, most values altogether: one sighting takes microseconds, whatever its size.
const MAX_ITEMS: usize = 20;
const MAX_VALUES: usize = 500;
/// Most kinds of one value.
const MAX_KINDS: usize = 4;
/// Most characters of the text.
const MAX_TEXT: usize = 1_200;

/// What results of a function were like.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ResultShape {
    /// Too deep, or too many kinds.
    Unknown,
    Null,
    Boolean,
    Number,
    String,
    /// What its items are, where one was seen.
    List(Option<Box<ResultShape>>),
    Object(BTreeMap<String, Member>),
    /// An object whose names are data.
    Map(Option<Box<ResultShape>>),
    /// One of several kinds.
    Either(Vec<ResultShape>),
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Member {
    shape: ResultShape,
    /// Whether it was not always there.
    is_optional: bool,
}

impl ResultShape {
    pub(super) fn of(value: &Value) -> ResultShape {
        let mut left = MAX_VALUES;
        read(value, MAX_DEPTH, &mut left)
    }

    /// What covers both.
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

    /// As TypeScript writes it, as deep as there is room for.
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

/// What the first of several values have in common.
fn all<'a>(values: impl Iterator<Item = &'a Value>, depth: usize, left: &mut usize) -> Option<Box<ResultShape>> {
    let shapes = values.take(MAX_ITEMS).map(|value| read(value, depth - 1, left));
    shapes.reduce(ResultShape::merged).map(Box::new)
}

/// Whether an object's keys are names that somebody gave its members, as far as one can see.
fn has_names(members: &Map<String, Value>) -> bool {
    members.len() <= MAX_MEMBERS && members.keys().all(|name| is_name(name))
}

fn is_name(name: &str) -> bool {
    let is_beginning = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$');
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-');
    name.len() <= MAX_NAME
        && name.bytes().next().is_some_and(is_beginning)
        && name.bytes().all(is_part)
        // Ids, dates and numbers of things.
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

/// What covers all members.
fn held(members: BTreeMap<String, Member>) -> Option<Box<ResultShape>> {
    members.into_values().map(|member| member.shape).reduce(ResultShape::merged).map(Box::new)
}

fn either(one: Option<Box<ResultShape>>, other: Option<Box<ResultShape>>) -> Option<Box<ResultShape>> {
    match (one, other) {
        (Some(one), Some(other)) => Some(Box::new(one.merged(*other))),
        (one, other) => one.or(other),
    }
}

/// Adds to kinds, of which each stands once.
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
