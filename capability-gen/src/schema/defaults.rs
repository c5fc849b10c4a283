//! Removal of defaults that violate their own schema: filling them in would make a valid call invalid.

use super::keywords;
use super::limits::MAX_WORK;
use super::normal::{Normal, canonical, types_of};
use super::notes::{Notes, Path};
use super::type_names::{is_of, type_of};
use serde_json::{Map, Value};

/// Maximum depth of the check, references counted. Deeper defaults are kept unchecked.
const MAX_CHECK_DEPTH: usize = 48;

/// Removes each default that violates its schema.
pub(super) fn check(normal: &mut Normal, notes: &mut Notes<'_>) {
    let before = Normal { root: normal.root.clone(), definitions: normal.definitions.clone() };
    let mut check = Check { normal: &before, steps: MAX_WORK };
    let mut found = |schema: &mut Value, path: &Path<'_>| visit(schema, path, &mut check, notes);
    found(&mut normal.root, &Path::Root);
    let folder = Path::Key(&Path::Root, "$defs");
    for (key, schema) in &mut normal.definitions {
        found(schema, &Path::Key(&folder, key));
    }
}

fn visit(schema: &mut Value, path: &Path<'_>, check: &mut Check<'_>, notes: &mut Notes<'_>) {
    let Value::Object(map) = schema else { return };
    if let Some(default) = map.get("default")
        && !check.admits(map, default, 0)
    {
        notes.add(path, format!("default {} left out: it violates its own schema", short(default)));
        map.shift_remove("default");
    }
    for (keyword, value) in map.iter_mut() {
        let step = Path::Key(path, keyword);
        let name = keyword.as_str();
        match value {
            Value::Array(list) if keywords::LIST.contains(&name) => {
                let list = list.iter_mut().enumerate();
                list.for_each(|(index, inside)| visit(inside, &Path::Index(&step, index), check, notes));
            }
            Value::Object(members) if keywords::MAP.contains(&name) => {
                let members = members.iter_mut();
                members.for_each(|(name, inside)| visit(inside, &Path::Key(&step, name), check, notes));
            }
            Value::Object(_) if keywords::ONE.contains(&name) => visit(value, &step, check, notes),
            _ => {}
        }
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() > 40 { text.chars().take(40).chain(['…']).collect() } else { text }
}

struct Check<'a> {
    normal: &'a Normal,
    steps: usize,
}

impl Check<'_> {
    fn allows(&mut self, schema: &Value, value: &Value, depth: usize) -> bool {
        match schema {
            Value::Object(map) => self.admits(map, value, depth),
            other => *other != Value::Bool(false),
        }
    }

    /// Cheap check whether a value is valid; true in case of doubt.
    fn admits(&mut self, map: &Map<String, Value>, value: &Value, depth: usize) -> bool {
        if depth > MAX_CHECK_DEPTH || self.steps == 0 {
            return true;
        }
        self.steps -= 1;
        let types = types_of(map);
        if !types.is_empty() && !types.iter().any(|declared| is_of(type_of(value), declared)) {
            return false;
        }
        if map.get("const").is_some_and(|only| canonical(only) != canonical(value)) {
            return false;
        }
        if let Some(Value::Array(allowed)) = map.get("enum") {
            self.steps = self.steps.saturating_sub(allowed.len());
            if !allowed.iter().any(|one| canonical(one) == canonical(value)) {
                return false;
            }
        }
        is_within(map, value) && self.admits_inside(map, value, depth) && self.admits_composed(map, value, depth)
    }

    fn admits_inside(&mut self, map: &Map<String, Value>, value: &Value, depth: usize) -> bool {
        match value {
            Value::Array(items) => {
                let positions = map.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                let rest = map.get("items");
                let items = items.iter().enumerate();
                let mut pairs = items.filter_map(|(index, item)| Some((positions.get(index).or(rest)?, item)));
                pairs.all(|(schema, item)| self.allows(schema, item, depth + 1))
            }
            Value::Object(members) => {
                let required = map.get("required").and_then(Value::as_array).into_iter().flatten();
                if !required.filter_map(Value::as_str).all(|name| members.contains_key(name)) {
                    return false;
                }
                let declared = map.get("properties").and_then(Value::as_object);
                let patterns = map.contains_key("patternProperties");
                let rest = map.get("additionalProperties").filter(|_| !patterns);
                let schema = |name: &String| declared.and_then(|declared| declared.get(name)).or(rest);
                let mut pairs = members.iter().filter_map(|(name, member)| Some((schema(name)?, member)));
                pairs.all(|(schema, member)| self.allows(schema, member, depth + 1))
            }
            _ => true,
        }
    }

    fn admits_composed(&mut self, map: &Map<String, Value>, value: &Value, depth: usize) -> bool {
        if let Some(Value::String(key)) = map.get("$ref")
            && let Some(target) = self.normal.get(key)
            && !self.allows(target, value, depth + 1)
        {
            return false;
        }
        let of = |keyword: &str| map.get(keyword).and_then(Value::as_array);
        let mut any = |parts: &Vec<Value>| parts.iter().any(|part| self.allows(part, value, depth + 1));
        let is_any = of("anyOf").is_none_or(&mut any) && of("oneOf").is_none_or(&mut any);
        is_any && of("allOf").is_none_or(|parts| parts.iter().all(|part| self.allows(part, value, depth + 1)))
    }
}

fn is_within(map: &Map<String, Value>, value: &Value) -> bool {
    let limit = |keyword: &str| map.get(keyword).and_then(Value::as_f64);
    let within = |size: f64, least: &str, most: &str| {
        limit(least).is_none_or(|least| size >= least) && limit(most).is_none_or(|most| size <= most)
    };
    match value {
        Value::Number(number) => number.as_f64().is_none_or(|number| {
            within(number, "minimum", "maximum")
                && limit("exclusiveMinimum").is_none_or(|least| number > least)
                && limit("exclusiveMaximum").is_none_or(|most| number < most)
        }),
        Value::String(text) => within(text.chars().count() as f64, "minLength", "maxLength"),
        Value::Array(items) => within(items.len() as f64, "minItems", "maxItems"),
        Value::Object(members) => within(members.len() as f64, "minProperties", "maxProperties"),
        _ => true,
    }
}
