//! Normal form → clean schema for the validator: no documentation, and closed parameters.
//!
//! An object with named members allows no others unless its schema says so. If it is composed of parts (`anyOf`,
//! `oneOf`, an `allOf` that could not be merged, conditions), no part may refuse members that another names, so the
//! parts stay open and `unevaluatedProperties` closes the whole. A definition may therefore appear in several forms.

use super::cycles::{components, graph};
use super::document::ROOT;
use super::keywords;
use super::normal::{Normal, types_of};
use crate::model::Direction;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// Role of a schema in deciding on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Role {
    /// Decides alone, so it closes itself.
    Whole,
    /// One of several that decide together. `is_constraint` is set if members are named elsewhere, so that a bare
    /// `{"type": "object"}` is not a free-form object.
    Part { is_constraint: bool },
    /// Under `not` or `if`, where closing would invert the meaning; or in a result, where nothing is closed.
    Open,
}

/// Properties of a definition, including all schemas that apply to the same value.
#[derive(Clone, Copy, Debug, Default)]
struct Facts {
    /// It names members of an object.
    names_members: bool,
    /// It allows objects.
    is_objects: bool,
}

/// Builds the clean schema.
pub(super) fn clean(normal: &Normal, direction: Direction) -> Value {
    let mut cleaner = Cleaner { direction, facts: all_facts(normal), waiting: Vec::new(), known: HashSet::new() };
    let role = if direction == Direction::Params { Role::Whole } else { Role::Open };
    let root = cleaner.schema(&normal.root, role, true);
    let mut definitions = Map::new();
    while let Some((key, role)) = cleaner.waiting.pop() {
        if let Some(schema) = normal.get(&key) {
            let name = cleaner.name(&key, role);
            definitions.insert(name, cleaner.schema(schema, role, key == ROOT));
        }
    }
    let mut out = Map::new();
    out.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    match root {
        Value::Object(map) => out.extend(map),
        Value::Bool(false) => drop(out.insert("not".to_owned(), json!({}))),
        _ => {}
    }
    if !definitions.is_empty() {
        definitions.sort_keys();
        out.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Value::Object(out)
}

struct Cleaner {
    direction: Direction,
    facts: HashMap<String, Facts>,
    waiting: Vec<(String, Role)>,
    known: HashSet<(String, Role)>,
}

impl Cleaner {
    /// Name of a definition in one role. Keys contain no hyphen.
    fn name(&self, key: &str, role: Role) -> String {
        let key = if key == ROOT { "-root" } else { key };
        match role {
            _ if self.direction == Direction::Result => key.to_owned(),
            Role::Whole => key.to_owned(),
            Role::Part { is_constraint: false } => format!("{key}-branch"),
            Role::Part { is_constraint: true } => format!("{key}-part"),
            Role::Open => format!("{key}-open"),
        }
    }

    fn reference(&mut self, key: &str, role: Role) -> String {
        let is_root = key == ROOT && (role == Role::Whole || self.direction == Direction::Result);
        if is_root {
            return "#".to_owned();
        }
        if self.known.insert((key.to_owned(), role)) {
            self.waiting.push((key.to_owned(), role));
        }
        format!("#/$defs/{}", self.name(key, role))
    }

    fn schema(&mut self, schema: &Value, role: Role, is_root: bool) -> Value {
        let Value::Object(map) = schema else { return schema.clone() };
        let plan = self.plan(map, role, is_root);
        let inside = if role == Role::Open { Role::Open } else { Role::Whole };
        let mut out = Map::new();
        for (keyword, value) in map {
            let cleaned = match keyword.as_str() {
                "title" | "description" | "deprecated" | keywords::FILLED => continue,
                "default" if role == Role::Open && self.direction == Direction::Params => continue,
                "$ref" => match value.as_str() {
                    Some(key) => self.reference(key, plan.parts).into(),
                    None => continue,
                },
                "not" | "if" | "propertyNames" | "contains" => self.schema(value, Role::Open, false),
                "then" | "else" => self.schema(value, plan.parts, false),
                "allOf" | "anyOf" | "oneOf" => self.list(value, plan.parts),
                "dependentSchemas" => self.members(value, plan.parts),
                "prefixItems" => self.list(value, inside),
                "properties" | "patternProperties" => self.members(value, inside),
                "items" | "additionalProperties" | "unevaluatedItems" | "unevaluatedProperties" => {
                    self.schema(value, inside, false)
                }
                _ => value.clone(),
            };
            out.insert(keyword.clone(), cleaned);
        }
        match plan.close {
            Close::No => {}
            Close::Own => close(&mut out, "additionalProperties"),
            Close::Together => close(&mut out, "unevaluatedProperties"),
            Close::Never => drop(out.insert("additionalProperties".to_owned(), Value::Bool(true))),
        }
        if out.is_empty() { Value::Bool(true) } else { Value::Object(out) }
    }

    fn list(&mut self, value: &Value, role: Role) -> Value {
        let parts = value.as_array().into_iter().flatten();
        Value::Array(parts.map(|part| self.schema(part, role, false)).collect())
    }

    fn members(&mut self, value: &Value, role: Role) -> Value {
        let members = value.as_object().into_iter().flatten();
        Value::Object(members.map(|(name, member)| (name.clone(), self.schema(member, role, false))).collect())
    }

    fn plan(&self, map: &Map<String, Value>, role: Role, is_root: bool) -> Plan {
        if role == Role::Open {
            return Plan { close: Close::No, parts: Role::Open };
        }
        let has_rest = ["additionalProperties", "patternProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| map.contains_key(*keyword));
        let has_members = has_members(map);
        let has_parts = map.contains_key("$ref") || keywords::in_place(map).next().is_some();
        let facts = facts(map, &self.facts);
        let is_base = has_members || self.names_in_base(map);
        let constraint = Role::Part { is_constraint: true };
        match role {
            Role::Whole if has_rest => Plan { close: Close::No, parts: constraint },
            Role::Whole if !has_parts => {
                let close = if has_members || is_root { Close::Own } else { Close::No };
                Plan { close, parts: constraint }
            }
            Role::Whole if !keywords::constrains_beyond(map, &["$ref"]) => {
                Plan { close: Close::No, parts: Role::Whole }
            }
            Role::Whole if self.is_choice_of_one_object(map) => Plan { close: Close::No, parts: Role::Whole },
            Role::Whole => {
                let close = if facts.names_members { Close::Together } else { Close::No };
                Plan { close, parts: Role::Part { is_constraint: is_base || !facts.names_members } }
            }
            Role::Part { is_constraint } => {
                let is_free = !is_constraint && !has_rest && !has_parts && !has_members && facts.is_objects;
                let close = if is_free { Close::Never } else { Close::No };
                Plan { close, parts: Role::Part { is_constraint: is_constraint || is_base } }
            }
            Role::Open => Plan { close: Close::No, parts: Role::Open },
        }
    }

    /// Returns true if members are named unconditionally: by a reference or a part of `allOf`.
    fn names_in_base(&self, map: &Map<String, Value>) -> bool {
        let reference = map.get("$ref").and_then(Value::as_str).and_then(|key| self.facts.get(key));
        let mut parts = map.get("allOf").and_then(Value::as_array).into_iter().flatten();
        reference.is_some_and(|facts| facts.names_members)
            || parts.any(|part| part.as_object().is_some_and(|part| facts(part, &self.facts).names_members))
    }

    /// Returns true for an object or `null`, and the like: no branch can refuse another's members.
    fn is_choice_of_one_object(&self, map: &Map<String, Value>) -> bool {
        let (choice, others): (Vec<&str>, &str) = match (map.get("anyOf"), map.get("oneOf")) {
            (Some(_), None) => (vec!["anyOf", "type"], "anyOf"),
            (None, Some(_)) => (vec!["oneOf", "type"], "oneOf"),
            _ => return false,
        };
        let branches = map.get(others).and_then(Value::as_array).into_iter().flatten();
        let objects = branches.filter(|branch| branch_facts(branch, &self.facts).is_objects).count();
        !keywords::constrains_beyond(map, &choice) && objects <= 1
    }
}

struct Plan {
    close: Close,
    parts: Role,
}

enum Close {
    No,
    Own,
    Together,
    Never,
}

/// Refuses other members, except required ones that are declared nowhere.
fn close(out: &mut Map<String, Value>, keyword: &str) {
    let required: Vec<String> = match out.get("required").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => Vec::new(),
    };
    if !required.is_empty() {
        let members = out.entry("properties").or_insert_with(|| json!({}));
        if let Value::Object(members) = members {
            for name in required {
                members.entry(name).or_insert(Value::Bool(true));
            }
        }
    }
    out.insert(keyword.to_owned(), Value::Bool(false));
}

fn has_members(map: &Map<String, Value>) -> bool {
    map.get("properties").and_then(Value::as_object).is_some_and(|members| !members.is_empty())
}

fn branch_facts(schema: &Value, known: &HashMap<String, Facts>) -> Facts {
    schema.as_object().map_or(Facts::default(), |map| facts(map, known))
}

fn facts(map: &Map<String, Value>, known: &HashMap<String, Facts>) -> Facts {
    let types = types_of(map);
    let reference = map.get("$ref").and_then(Value::as_str).map(|key| known.get(key).copied().unwrap_or_default());
    // Once each: visiting a part twice per level would take exponential time.
    let list = |keyword: &str| -> Option<Vec<Facts>> {
        let parts = map.get(keyword)?.as_array()?;
        Some(parts.iter().map(|part| branch_facts(part, known)).collect())
    };
    let (all, any, one) = (list("allOf"), list("anyOf"), list("oneOf"));
    let conditions = ["if", "then", "else"].iter().filter_map(|keyword| map.get(*keyword));
    let dependent = map.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
    let mut others = conditions.chain(dependent);
    let mut parts = [&all, &any, &one].into_iter().flatten().flatten();
    let values = map.get("enum").and_then(Value::as_array);
    Facts {
        names_members: has_members(map)
            || reference.is_some_and(|facts| facts.names_members)
            || parts.any(|part| part.names_members)
            || others.any(|part| branch_facts(part, known).names_members),
        is_objects: (types.is_empty() || types.contains(&"object"))
            && reference.is_none_or(|facts| facts.is_objects)
            && [&any, &one].into_iter().flatten().all(|parts| parts.iter().any(|part| part.is_objects))
            && all.iter().flatten().all(|part| part.is_objects)
            && values.is_none_or(|values| values.iter().any(Value::is_object))
            && map.get("const").is_none_or(Value::is_object),
    }
}

/// Computes facts bottom-up, from definitions without references. Circular references were cut before.
fn all_facts(normal: &Normal) -> HashMap<String, Facts> {
    let (keys, edges) = graph(normal, super::cycles::in_place_references);
    let components = components(&edges);
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|number| components[*number]);
    let mut known = HashMap::new();
    for number in order {
        let key = &keys[number];
        if let Some(schema) = normal.get(key) {
            let facts = branch_facts(schema, &known);
            known.insert(key.clone(), facts);
        }
    }
    known
}
