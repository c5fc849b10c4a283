//! Merging of two schemas for the same value into one equivalent schema, where possible.

use super::normal::types_of;
use super::type_names::is_of;
use serde_json::{Map, Value, json};

/// Keywords where the larger value is the stricter.
const LARGER: &[&str] = &["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"];
/// Keywords where the smaller value is the stricter.
const SMALLER: &[&str] = &["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Keywords that depend on their sibling keywords, so they cannot be merged into another schema.
const BOUND: &[&str] = &["unevaluatedProperties", "unevaluatedItems", "if", "contains", "prefixItems"];

/// Merges two schemas; `None` if that is impossible. Documentation and defaults of `first` take precedence.
pub(super) fn merge(first: &Map<String, Value>, second: &Map<String, Value>) -> Option<Map<String, Value>> {
    if BOUND.iter().any(|keyword| {
        (first.contains_key(*keyword) && is_constraining(second))
            || (second.contains_key(*keyword) && is_constraining(first))
    }) {
        return None;
    }
    let rest = additional(first, second)?;
    let mut out = first.clone();
    for (keyword, value) in second {
        let keyword = keyword.as_str();
        let Some(own) = first.get(keyword) else {
            out.insert(keyword.to_owned(), value.clone());
            continue;
        };
        if own == value {
            continue;
        }
        let both = match keyword {
            "title" | "description" | "default" | "deprecated" | "format" => own.clone(),
            "type" => both_types(first, second)?,
            "properties" => both_members(own, value),
            "required" => both_names(own, value),
            "additionalProperties" => continue,
            "enum" => both_values(own, value)?,
            "items" | "propertyNames" => json!({ "allOf": [own, value] }),
            _ if LARGER.contains(&keyword) => stricter(own, value, true)?,
            _ if SMALLER.contains(&keyword) => stricter(own, value, false)?,
            _ => return None,
        };
        out.insert(keyword.to_owned(), both);
    }
    out.shift_remove("additionalProperties");
    if let Some(rest) = rest {
        out.insert("additionalProperties".to_owned(), rest);
    }
    Some(out)
}

fn is_constraining(schema: &Map<String, Value>) -> bool {
    super::keywords::constrains_beyond(schema, &["type"])
}

/// Merges `additionalProperties`: `Some(None)` if neither has it, `None` if the two cannot be merged.
fn additional(first: &Map<String, Value>, second: &Map<String, Value>) -> Option<Option<Value>> {
    let rests = (first.get("additionalProperties"), second.get("additionalProperties"));
    let is_open = |rest: &Value| rest.as_object().is_some_and(|map| !super::keywords::constrains_beyond(map, &[]));
    let names = |schema: &'_ Map<String, Value>| {
        let members = schema.get("properties").and_then(Value::as_object);
        members
            .map(|members| members.keys().cloned().collect::<std::collections::HashSet<String>>())
            .unwrap_or_default()
    };
    let has_patterns = first.contains_key("patternProperties") || second.contains_key("patternProperties");
    match rests {
        (None, None) => Some(None),
        (Some(rest), None) | (None, Some(rest)) if is_open(rest) => Some(Some(rest.clone())),
        (Some(one), Some(other)) if is_open(one) && is_open(other) => Some(Some(one.clone())),
        _ if has_patterns => None,
        (Some(one), Some(other)) => (one == other && names(first) == names(second)).then(|| Some(one.clone())),
        (Some(rest), None) => names(second).is_subset(&names(first)).then(|| Some(rest.clone())),
        (None, Some(rest)) => names(first).is_subset(&names(second)).then(|| Some(rest.clone())),
    }
}

fn both_types(first: &Map<String, Value>, second: &Map<String, Value>) -> Option<Value> {
    let (one, other) = (types_of(first), types_of(second));
    let mut types: Vec<&str> =
        one.iter().filter(|it| other.iter().any(|declared| is_of(it, declared))).copied().collect();
    for name in other.iter().filter(|it| one.iter().any(|declared| is_of(it, declared))) {
        if !types.contains(name) {
            types.push(name);
        }
    }
    match types.as_slice() {
        [] => None,
        [one] => Some(json!(one)),
        several => Some(json!(several)),
    }
}

fn both_members(own: &Value, other: &Value) -> Value {
    let (Value::Object(own), Value::Object(other)) = (own, other) else { return own.clone() };
    let mut members = own.clone();
    for (name, schema) in other {
        match own.get(name) {
            Some(first) if first != schema => {
                members.insert(name.clone(), both_schemas(first, schema));
            }
            Some(_) => {}
            None => drop(members.insert(name.clone(), schema.clone())),
        }
    }
    Value::Object(members)
}

/// One schema for both; documentation comes from the first that has any.
fn both_schemas(first: &Value, second: &Value) -> Value {
    let mut out = Map::new();
    for keyword in ["title", "description", "deprecated", "default"] {
        if let Some(value) = first.get(keyword).or_else(|| second.get(keyword)) {
            out.insert(keyword.to_owned(), value.clone());
        }
    }
    out.insert("allOf".to_owned(), json!([first, second]));
    Value::Object(out)
}

fn both_names(own: &Value, other: &Value) -> Value {
    let names = [own, other].into_iter().filter_map(Value::as_array).flatten();
    let mut seen = std::collections::HashSet::new();
    let names: Vec<&Value> = names.filter(|name| seen.insert(name.as_str())).collect();
    json!(names)
}

fn both_values(own: &Value, other: &Value) -> Option<Value> {
    let (own, other) = (own.as_array()?, other.as_array()?);
    let other: std::collections::HashSet<String> = other.iter().map(super::normal::canonical).collect();
    let both: Vec<&Value> = own.iter().filter(|value| other.contains(&super::normal::canonical(value))).collect();
    (!both.is_empty()).then(|| json!(both))
}

fn stricter(own: &Value, other: &Value, is_larger: bool) -> Option<Value> {
    let (first, second) = (own.as_f64()?, other.as_f64()?);
    Some(if (first > second) == is_larger { own.clone() } else { other.clone() })
}
