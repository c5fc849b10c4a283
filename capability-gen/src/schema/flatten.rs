//! Merging of `allOf` of objects, including references, into one object where possible.

use super::document::ROOT;
use super::keywords;
use super::limits::{MAX_DEPTH, MAX_INLINING, MAX_PARTS, MAX_WORK};
use super::merge::merge;
use super::normal::Normal;
use super::notes::{Notes, Path};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Merges `allOf` in the root and in every definition.
pub(super) fn flatten(normal: &mut Normal, notes: &mut Notes<'_>) {
    let mut work = Work { left: MAX_WORK, is_cut: false };
    let root = flat(normal, normal.root.clone(), 0, 0, &mut work);
    let definitions = normal.definitions.iter();
    let definitions: Map<String, Value> =
        definitions.map(|(key, schema)| (key.clone(), flat(normal, schema.clone(), 0, 0, &mut work))).collect();
    normal.root = root;
    normal.definitions = definitions;
    drop_unused(normal);
    if work.is_cut {
        notes.add(&Path::Root, "some `allOf` are not merged: the schema would become too large");
    }
}

/// Values that merging may still copy.
struct Work {
    left: usize,
    is_cut: bool,
}

impl Work {
    fn spend(&mut self, schema: &Value) -> bool {
        let mut waiting = vec![schema];
        while let Some(value) = waiting.pop() {
            if self.left == 0 {
                self.is_cut = true;
                return false;
            }
            self.left -= 1;
            match value {
                Value::Array(list) => waiting.extend(list),
                Value::Object(map) => waiting.extend(map.values()),
                _ => {}
            }
        }
        true
    }
}

fn flat(normal: &Normal, schema: Value, depth: usize, inlined: usize, work: &mut Work) -> Value {
    let Value::Object(mut map) = schema else { return schema };
    if depth > MAX_DEPTH {
        return Value::Object(map);
    }
    let mut inlined = inlined;
    single_branch(&mut map);
    let has_parts = map.contains_key("allOf");
    let has_reference = map.contains_key("$ref");
    if has_parts || (has_reference && keywords::constrains_beyond(&map, &["$ref"])) {
        match alias(&map) {
            Some(reference) => map = reference,
            None if inlined < MAX_INLINING => {
                let mut gathered = Gathered { parts: Vec::new(), followed: HashSet::new(), work };
                gathered.gather(normal, map.clone(), 0);
                if !gathered.followed.is_empty() {
                    inlined += 1;
                }
                let parts = gathered.parts;
                if parts.len() > MAX_PARTS {
                    work.is_cut = true;
                } else if !work.is_cut {
                    map = joined(parts);
                }
            }
            None => return Value::Object(map),
        }
    }
    keywords::for_each_child_mut(&mut map, |_, child| {
        let inside = std::mem::take(child);
        *child = flat(normal, inside, depth + 1, inlined, work);
    });
    if map.get("allOf").and_then(Value::as_array).is_some_and(|parts| parts.contains(&Value::Bool(false))) {
        return Value::Bool(false);
    }
    Value::Object(map)
}

/// `anyOf` and `oneOf` of one branch are `allOf` of it.
fn single_branch(map: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf"] {
        if map.get(keyword).and_then(Value::as_array).is_some_and(|branches| branches.len() == 1)
            && let Some(Value::Array(branch)) = map.shift_remove(keyword)
        {
            match map.get_mut("allOf") {
                Some(Value::Array(parts)) => parts.extend(branch),
                _ => drop(map.insert("allOf".to_owned(), Value::Array(branch))),
            }
        }
    }
}

/// `{"allOf": [{"$ref": …}], "description": …}` is a reference with a description.
fn alias(map: &Map<String, Value>) -> Option<Map<String, Value>> {
    let parts = map.get("allOf")?.as_array()?;
    let [Value::Object(part)] = parts.as_slice() else { return None };
    if keywords::constrains_beyond(map, &["allOf"]) || keywords::constrains_beyond(part, &["$ref"]) {
        return None;
    }
    part.get("$ref")?;
    let mut reference = part.clone();
    let texts = map.iter().filter(|(keyword, _)| *keyword != "allOf");
    reference.extend(texts.map(|(keyword, value)| (keyword.clone(), value.clone())));
    Some(reference)
}

/// Parts that a schema is composed of, each reference followed once.
struct Gathered<'w> {
    parts: Vec<Value>,
    followed: HashSet<String>,
    work: &'w mut Work,
}

impl Gathered<'_> {
    fn gather(&mut self, normal: &Normal, mut map: Map<String, Value>, depth: usize) {
        single_branch(&mut map);
        if depth > MAX_DEPTH {
            self.parts.push(Value::Object(map));
            return;
        }
        let key = map.shift_remove("$ref");
        let parts = map.shift_remove("allOf");
        if !map.is_empty() {
            // Its own keywords come first: its documentation wins.
            self.parts.push(Value::Object(map));
        }
        if let Some(key) = key.as_ref().and_then(Value::as_str)
            && self.followed.insert(key.to_owned())
        {
            match normal.get(key) {
                Some(target) if self.work.spend(target) => self.add(normal, without_texts(target), depth),
                _ => self.parts.push(json!({ "$ref": key })),
            }
        }
        if let Some(Value::Array(parts)) = parts {
            parts.into_iter().for_each(|part| self.add(normal, part, depth));
        }
    }

    fn add(&mut self, normal: &Normal, part: Value, depth: usize) {
        match part {
            Value::Object(map) => self.gather(normal, map, depth + 1),
            other => self.parts.push(other),
        }
    }
}

/// A definition without its title and default, which do not apply to schemas that include it.
fn without_texts(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Value::Object(map) = &mut schema {
        map.shift_remove("title");
        map.shift_remove("default");
    }
    schema
}

/// Merges parts into one schema; parts that cannot be merged stay in its `allOf`.
fn joined(parts: Vec<Value>) -> Map<String, Value> {
    let mut base = Map::new();
    let mut others: Vec<Value> = Vec::new();
    for part in parts {
        let merged = match &part {
            Value::Object(map) if !map.contains_key("$ref") => merge(&base, map),
            _ => None,
        };
        match merged {
            Some(merged) => base = merged,
            None if others.contains(&part) => {}
            None => others.push(part),
        }
    }
    if !others.is_empty() {
        base.insert("allOf".to_owned(), Value::Array(others));
    }
    base
}

/// Removes definitions that are no longer referenced.
fn drop_unused(normal: &mut Normal) {
    let mut used: HashSet<String> = HashSet::new();
    let mut waiting = vec![&normal.root];
    while let Some(schema) = waiting.pop() {
        let Value::Object(map) = schema else { continue };
        if let Some(Value::String(key)) = map.get("$ref")
            && key != ROOT
            && used.insert(key.clone())
        {
            waiting.extend(normal.definitions.get(key));
        }
        waiting.extend(keywords::children(map));
    }
    normal.definitions.retain(|key, _| used.contains(key));
}
