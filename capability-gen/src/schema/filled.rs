//! Required members with a default. A call may omit them: the default is filled in before validation, so they are
//! optional in types while the clean schema still requires them.
//!
//! Defaults are never filled in through an alternative such as `anyOf` (see [`crate::validate`]). So a definition that
//! an alternative refers to keeps its required members, wherever else it is used.

use super::document::ROOT;
use super::keywords::{self, FILLED};
use super::normal::Normal;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The keywords through which defaults are filled in.
const PLAIN: &[&str] = &["properties", "items", "prefixItems", "allOf"];

/// Marks in each object the required members that a call may omit.
pub(super) fn mark(normal: &mut Normal) {
    let plain = reached(normal);
    let before = Normal { root: normal.root.clone(), definitions: normal.definitions.clone() };
    if plain.contains(ROOT) {
        mark_inside(&mut normal.root, &before);
    }
    for (key, schema) in &mut normal.definitions {
        if plain.contains(key) {
            mark_inside(schema, &before);
        }
    }
}

/// Definitions reached only through [`PLAIN`] keywords.
fn reached(normal: &Normal) -> HashSet<String> {
    let mut plain = HashSet::new();
    let mut others = HashSet::new();
    let mut waiting = vec![(ROOT, true)];
    while let Some((key, is_plain)) = waiting.pop() {
        let seen = if is_plain { &mut plain } else { &mut others };
        if seen.insert(key.to_owned())
            && let Some(schema) = normal.get(key)
        {
            references(schema, is_plain, &mut waiting);
        }
    }
    plain.retain(|key| !others.contains(key));
    plain
}

fn references<'a>(schema: &'a Value, is_plain: bool, found: &mut Vec<(&'a str, bool)>) {
    let Value::Object(map) = schema else { return };
    if let Some(key) = map.get("$ref").and_then(Value::as_str) {
        found.push((key, is_plain));
    }
    for (keyword, value) in map {
        let is_plain = is_plain && PLAIN.contains(&keyword.as_str());
        keywords::inside(keyword, value).for_each(|inside| references(inside, is_plain, found));
    }
}

fn mark_inside(schema: &mut Value, normal: &Normal) {
    let Value::Object(map) = schema else { return };
    let filled = filled(map, normal);
    if !filled.is_empty() {
        map.insert(FILLED.to_owned(), Value::Array(filled));
    }
    keywords::for_each_child_mut(map, |keyword, inside| {
        if PLAIN.contains(&keyword) {
            mark_inside(inside, normal);
        }
    });
}

fn filled(map: &Map<String, Value>, normal: &Normal) -> Vec<Value> {
    let required = map.get("required").and_then(Value::as_array).into_iter().flatten();
    let members = map.get("properties").and_then(Value::as_object);
    let is_filled = |name: &&Value| {
        let member = members.and_then(|members| members.get(name.as_str()?));
        member.is_some_and(|member| has_default(member, normal))
    };
    required.filter(is_filled).cloned().collect()
}

/// Returns true if a schema, or the one that it refers to, has a default.
fn has_default<'a>(mut schema: &'a Value, normal: &'a Normal) -> bool {
    for _ in 0..=normal.definitions.len() {
        let Some(map) = schema.as_object() else { return false };
        if map.contains_key("default") {
            return true;
        }
        if keywords::constrains_beyond(map, &["$ref"]) {
            return false;
        }
        let Some(target) = map.get("$ref").and_then(Value::as_str).and_then(|key| normal.get(key)) else {
            return false;
        };
        schema = target;
    }
    false
}
