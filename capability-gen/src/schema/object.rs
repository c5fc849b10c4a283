//! Keywords of objects, and the `required`/`optional` flags on their members.

use super::lint;
use super::normal::Reader;
use super::notes::Path;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Normalizes the object keywords of a schema.
pub(super) fn read(
    reader: &mut Reader<'_, '_, '_>,
    map: &Map<String, Value>,
    out: &mut Map<String, Value>,
    path: &Path<'_>,
    depth: usize,
) {
    reader.counts(map, out, path, &["minProperties", "maxProperties"]);
    let members = match map.get("properties") {
        Some(Value::Object(members)) => Some(members),
        Some(other) => {
            if other.as_array().is_none_or(|list| !list.is_empty()) && !other.is_null() {
                reader.notes.add(path, "`properties` left out: not an object");
            }
            None
        }
        None => None,
    };
    if let Some(members) = members {
        let step = Path::Key(path, "properties");
        let members = members.iter();
        let members = members.map(|(name, raw)| (name.clone(), reader.schema(raw, &Path::Key(&step, name), depth + 1)));
        let members: Map<String, Value> = members.collect();
        out.insert("properties".to_owned(), Value::Object(members));
    }
    let required = required(reader, map, members, path);
    if !required.is_empty() {
        out.insert("required".to_owned(), json!(required));
    } else if map.get("required").is_some_and(Value::is_array) {
        // In a result, an empty `required` differs from an absent one.
        out.insert("required".to_owned(), json!([]));
    }
    if let Some(Value::Object(patterns)) = map.get("patternProperties") {
        let step = Path::Key(path, "patternProperties");
        let mut kept = Map::new();
        for (pattern, raw) in patterns {
            let at = Path::Key(&step, pattern);
            if reader.is_pattern(pattern, &at) {
                kept.insert(pattern.clone(), reader.schema(raw, &at, depth + 1));
            } else {
                kept.insert(".*".to_owned(), json!({}));
            }
        }
        if !kept.is_empty() {
            out.insert("patternProperties".to_owned(), Value::Object(kept));
        }
    }
    for keyword in ["additionalProperties", "unevaluatedProperties", "propertyNames"] {
        match map.get(keyword) {
            Some(raw @ (Value::Object(_) | Value::Bool(_) | Value::String(_))) => {
                out.insert(keyword.to_owned(), reader.schema(raw, &Path::Key(path, keyword), depth + 1));
            }
            None | Some(Value::Null) => {}
            Some(_) => reader.notes.add(path, format!("`{keyword}` left out: not a schema")),
        }
    }
    dependencies(reader, map, out, path, depth);
}

/// The names in `required`, and members whose own schema has `required: true`. If nothing is required and some members
/// are marked `optional: true`, the unmarked ones without a default are required.
fn required(
    reader: &mut Reader<'_, '_, '_>,
    map: &Map<String, Value>,
    members: Option<&Map<String, Value>>,
    path: &Path<'_>,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let list = map.get("required").and_then(Value::as_array);
    match map.get("required") {
        Some(Value::Array(list)) => {
            names.extend(list.iter().filter_map(Value::as_str).map(str::to_owned));
            if list.iter().any(|name| !name.is_string()) {
                reader.notes.add(path, "entries of `required` that are not strings are left out");
            }
        }
        // A flag of this member, already read by its object.
        None | Some(Value::Bool(_) | Value::Null) => {}
        Some(Value::String(name)) if name != "true" && name != "false" => {
            reader.notes.add(path, "`required` read as a list of one name");
            names.push(name.clone());
        }
        Some(_) => reader.notes.add(path, "`required` left out: not a list of names"),
    }
    if let Some(members) = members {
        names.iter().for_each(|name| lint::undeclared_required(name, (map, members), path, reader.notes));
    }
    let members = || members.into_iter().flatten();
    let flag = |raw: &Value, keyword: &str| raw.get(keyword).and_then(Value::as_bool);
    let marked = members().filter(|(_, raw)| flag(raw, "required") == Some(true)).map(|(name, _)| name.clone());
    names.extend(marked);
    let is_marked_optional = members().any(|(_, raw)| flag(raw, "optional") == Some(true));
    if list.is_none() && names.is_empty() && is_marked_optional {
        let unmarked = members().filter(|(_, raw)| {
            flag(raw, "optional") != Some(true) && flag(raw, "required").is_none() && raw.get("default").is_none()
        });
        names.extend(unmarked.map(|(name, _)| name.clone()));
    }
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    names
}

/// `dependencies` of drafts 4 to 7 is `dependentRequired` and `dependentSchemas` in one.
fn dependencies(
    reader: &mut Reader<'_, '_, '_>,
    map: &Map<String, Value>,
    out: &mut Map<String, Value>,
    path: &Path<'_>,
    depth: usize,
) {
    let mut names = Map::new();
    let mut schemas = Map::new();
    for keyword in ["dependencies", "dependentRequired", "dependentSchemas"] {
        let Some(Value::Object(dependencies)) = map.get(keyword) else { continue };
        let step = Path::Key(path, keyword);
        for (name, needs) in dependencies {
            match needs {
                Value::Array(list) => {
                    let mut seen = HashSet::new();
                    let list: Vec<&str> = list.iter().filter_map(Value::as_str).filter(|it| seen.insert(*it)).collect();
                    names.insert(name.clone(), json!(list));
                }
                Value::Object(_) | Value::Bool(_) if keyword != "dependentRequired" => {
                    schemas.insert(name.clone(), reader.schema(needs, &Path::Key(&step, name), depth + 1));
                }
                _ => reader.notes.add(&step, "dependency left out: neither a list nor a schema"),
            }
        }
    }
    if !names.is_empty() {
        out.insert("dependentRequired".to_owned(), Value::Object(names));
    }
    if !schemas.is_empty() {
        out.insert("dependentSchemas".to_owned(), Value::Object(schemas));
    }
}
