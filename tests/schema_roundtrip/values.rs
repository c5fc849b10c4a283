//! Generator of values that a schema allows.
//!
//! A [`Maker`] proposes; the validator disposes. What the maker does not understand (conditions, `not`, patterns with
//! look-around) it leaves to chance and to the number of attempts.

use super::random::Random;
use super::scalars;
use capability_gen::validate::Validator;
use serde_json::{Map, Value, json};

/// Most proposals per value before the search stops.
const ATTEMPTS: u64 = 60;
/// Parts of one value, beyond which only what must be there is added.
const PARTS: usize = 120;
/// Levels, beyond which only what must be there is added.
const SHALLOW: usize = 5;
/// Levels, beyond which there is no value.
const DEEP: usize = 90;

/// Names that trouble objects, paths or identifiers somewhere.
pub(super) const ODD_NAMES: [&str; 18] = [
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "toJSON",
    "then",
    "StartTime<",
    "",
    "übung 日本",
    "a.b",
    "a[0]",
    "0",
    "tag",
    "val",
    "length",
    "record",
    "extra-members",
    "quote\"\\\n",
];

/// Returns a value that the validator accepts, if one was found.
pub(super) fn valid(schema: &Value, validator: &Validator, is_result: bool, random: &mut Random) -> Option<Value> {
    (0..ATTEMPTS).find_map(|attempt| {
        // The longer it takes, the plainer the proposals.
        let wildness = 60 - attempt;
        let mut maker = Maker { root: schema, random, wildness, is_result, parts: PARTS };
        maker.value(schema, 0).filter(|value| validator.validate(value).is_ok())
    })
}

/// Any JSON value.
pub(super) fn anything(random: &mut Random) -> Value {
    Maker { root: &Value::Null, random, wildness: 60, is_result: true, parts: 30 }.anything(0)
}

struct Maker<'s, 'r> {
    root: &'s Value,
    random: &'r mut Random,
    /// Probability of optional parts, in percent.
    wildness: u64,
    is_result: bool,
    parts: usize,
}

impl<'s> Maker<'s, '_> {
    fn value(&mut self, schema: &'s Value, depth: usize) -> Option<Value> {
        self.parts = self.parts.saturating_sub(1);
        if depth > DEEP {
            return None;
        }
        let map = match schema {
            Value::Bool(true) => return Some(self.anything(depth)),
            Value::Object(map) => map,
            _ => return None,
        };
        if let Some(value) = map.get("const") {
            return Some(value.clone());
        }
        if let Some(Value::Array(choices)) = map.get("enum") {
            return self.random.pick(choices).cloned();
        }
        let parts = self.applied(map);
        let own = self.own(map, depth);
        let is_silent = !parts.is_empty() && kinds(map).is_empty();
        let mut whole = if is_silent { None } else { Some(own?) };
        for schema in parts {
            let part = self.value(schema, depth + 1)?;
            let is_declared = |name: &str| schema["properties"].get(name).is_some();
            let schema_of = |name: &str| map.get("properties").and_then(|declared| declared.get(name));
            whole = Some(match (whole, part) {
                (Some(Value::Object(mut whole)), Value::Object(part)) => {
                    for (name, member) in part {
                        // A member that the part only requires has the schema of the whole.
                        let member = match schema_of(&name) {
                            Some(_) if whole.contains_key(&name) && !is_declared(&name) => continue,
                            Some(schema) if !is_declared(&name) => self.value(schema, depth + 1)?,
                            _ => member,
                        };
                        whole.insert(name, member);
                    }
                    Value::Object(whole)
                }
                (_, part) => part,
            });
        }
        whole
    }

    /// The subschemas that hold for the value itself: of alternatives one.
    fn applied(&mut self, map: &'s Map<String, Value>) -> Vec<&'s Value> {
        let mut parts = Vec::new();
        if let Some(Value::String(reference)) = map.get("$ref") {
            parts.extend(reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)));
        }
        parts.extend(map.get("allOf").and_then(Value::as_array).into_iter().flatten());
        for alternatives in ["anyOf", "oneOf"] {
            let alternatives = map.get(alternatives).and_then(Value::as_array);
            parts.extend(alternatives.and_then(|alternatives| self.random.pick(alternatives)));
        }
        if map.contains_key("if") {
            let branch = if self.random.percent(50) { "then" } else { "else" };
            if branch == "then" {
                parts.extend(map.get("if"));
            }
            parts.extend(map.get(branch));
        }
        for schema in map.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values) {
            if self.random.percent(50) {
                parts.push(schema);
            }
        }
        parts
    }

    /// By the keywords of the schema itself.
    fn own(&mut self, map: &'s Map<String, Value>, depth: usize) -> Option<Value> {
        let kinds = kinds(map);
        match self.random.pick(&kinds).copied() {
            None => Some(self.anything(depth)),
            Some("null") => Some(Value::Null),
            Some("boolean") => Some(self.random.percent(50).into()),
            Some("string") => Some(scalars::string(map, self.random).into()),
            Some("integer") => scalars::number(map, true, self.random),
            Some("number") => scalars::number(map, false, self.random),
            Some("array") => self.array(map, depth),
            Some("object") => self.object(map, depth),
            Some(_) => None,
        }
    }

    /// Decides whether an optional part is present.
    fn is_there(&mut self, depth: usize) -> bool {
        depth <= SHALLOW && self.parts > 0 && self.random.percent(self.wildness)
    }

    fn array(&mut self, map: &'s Map<String, Value>, depth: usize) -> Option<Value> {
        let bound = |keyword: &str| map.get(keyword).and_then(Value::as_u64).map(|count| count as usize);
        let least = bound("minItems").unwrap_or(0).max(usize::from(map.contains_key("contains")));
        let most = bound("maxItems").unwrap_or(usize::MAX);
        let prefix = map.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut wanted = least;
        while wanted < most.min(least + prefix.len() + 3) && self.is_there(depth) {
            wanted += 1;
        }
        let is_unique = map.get("uniqueItems") == Some(&Value::Bool(true));
        let mut items: Vec<Value> = Vec::new();
        for tries in 0..wanted * 4 {
            if items.len() == wanted {
                break;
            }
            let schema = match (prefix.get(items.len()), map.get("items"), map.get("contains")) {
                (Some(schema), ..) => schema,
                (None, _, Some(contained)) if tries == 0 => contained,
                (None, Some(Value::Bool(false)), _) => break,
                (None, Some(schema), _) => schema,
                (None, None, _) => &Value::Bool(true),
            };
            let item = self.value(schema, depth + 1);
            match item {
                Some(item) if is_unique && items.contains(&item) => {}
                Some(item) => items.push(item),
                None if items.len() >= least => break,
                None => return None,
            }
        }
        Some(items.into())
    }

    fn object(&mut self, map: &'s Map<String, Value>, depth: usize) -> Option<Value> {
        let mut object = Map::new();
        let required: Vec<&str> =
            map.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
        let declared = map.get("properties").and_then(Value::as_object);
        for (name, schema) in declared.into_iter().flatten() {
            let is_required = required.contains(&name.as_str());
            if is_required || self.is_there(depth) {
                match self.value(schema, depth + 1) {
                    Some(member) => drop(object.insert(name.clone(), member)),
                    None if is_required => return None,
                    None => {}
                }
            }
        }
        for name in required {
            if !object.contains_key(name) {
                let member = self.rest(map, depth).unwrap_or_else(|| self.anything(depth));
                object.insert(name.to_owned(), member);
            }
        }
        for (pattern, schema) in map.get("patternProperties").and_then(Value::as_object).into_iter().flatten() {
            if let Some(name) = scalars::matching(pattern, self.random).filter(|_| self.is_there(depth)) {
                object.insert(name, self.value(schema, depth + 1)?);
            }
        }
        let least = map.get("minProperties").and_then(Value::as_u64).unwrap_or(0) as usize;
        for _ in 0..least + 3 {
            if !self.is_there(depth) && object.len() >= least {
                break;
            }
            let Some(member) = self.rest(map, depth) else { break };
            let name = match map.get("propertyNames") {
                Some(names) => self.value(names, depth + 1)?.as_str()?.to_owned(),
                None => (*self.random.pick(&ODD_NAMES)?).to_owned(),
            };
            if declared.is_none_or(|declared| !declared.contains_key(&name)) {
                object.insert(name, member);
            }
        }
        Some(object.into())
    }

    /// A member that is not declared, where the object takes such.
    fn rest(&mut self, map: &'s Map<String, Value>, depth: usize) -> Option<Value> {
        let rest = map.get("additionalProperties").or_else(|| map.get("unevaluatedProperties"));
        match rest {
            Some(schema) => self.value(schema, depth + 1),
            None if self.is_result || !map.contains_key("properties") => Some(self.anything(depth)),
            None => None,
        }
    }

    fn anything(&mut self, depth: usize) -> Value {
        self.parts = self.parts.saturating_sub(1);
        let no_words = Map::new();
        let kinds = if self.is_there(depth) { 9 } else { 6 };
        match self.random.below(kinds) {
            0 => Value::Null,
            1 => self.random.percent(50).into(),
            2 => scalars::number(&no_words, true, self.random).unwrap_or_default(),
            3 => scalars::number(&no_words, false, self.random).unwrap_or_default(),
            4 => json!({}),
            5 => scalars::string(&no_words, self.random).into(),
            6 => (0..self.random.below(4)).map(|_| self.anything(depth + 1)).collect(),
            _ => {
                let names: Vec<&str> =
                    (0..self.random.below(5)).filter_map(|_| self.random.pick(&ODD_NAMES).copied()).collect();
                Value::Object(names.into_iter().map(|name| (name.to_owned(), self.anything(depth + 1))).collect())
            }
        }
    }
}

/// The kinds of values that the schema itself is about; none where it says nothing.
fn kinds(map: &Map<String, Value>) -> Vec<&str> {
    match map.get("type") {
        Some(Value::String(kind)) => return vec![kind],
        Some(Value::Array(kinds)) => return kinds.iter().filter_map(Value::as_str).collect(),
        _ => {}
    }
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| map.contains_key(*keyword));
    let mut kinds = Vec::new();
    if has(&["properties", "required", "additionalProperties", "patternProperties", "unevaluatedProperties"]) {
        kinds.push("object");
    }
    if has(&["items", "prefixItems", "minItems", "maxItems", "contains"]) {
        kinds.push("array");
    }
    if has(&["pattern", "minLength", "maxLength", "format"]) {
        kinds.push("string");
    }
    if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        kinds.push("number");
    }
    kinds
}
