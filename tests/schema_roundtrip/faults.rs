//! Values with one fault, and the check that a refusal names it.

use super::random::Random;
use super::values::ODD_NAMES;
use capability_gen::validate::{Invalid, Validator};
use serde_json::{Map, Value, json};

/// Most mutations before the search for an invalid value stops.
const ATTEMPTS: usize = 60;
/// Positions of one value that are looked at.
const POSITIONS: usize = 400;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Name(String),
    Index(usize),
}

pub(super) type Path = Vec<Step>;

/// Mutation of a valid value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Kind {
    /// A member was taken away.
    Missing,
    /// A member was added.
    Unknown,
    /// A value was put in another's place.
    Other,
}

/// One fault in a value.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) value: Value,
    pub(super) kind: Kind,
    pub(super) path: Path,
}

/// Expected path of a fault in a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Naming {
    /// The place itself.
    Exact,
    /// Of the members given to a function without parameters, the one argument too many.
    Argument,
    /// Of a whole object or array in the place of something else, a part of it.
    Part,
    /// At or below the location of alternatives, conditions or counts: which of them was meant is ambiguous.
    Alternative,
}

/// The value with one change that its schema refuses, where one is found.
pub(super) fn broken(value: &Value, validator: &Validator, random: &mut Random) -> Option<Fault> {
    let mut places = Vec::new();
    walk(value, &mut Vec::new(), &mut places);
    (0..ATTEMPTS).find_map(|_| {
        let path = random.pick(&places)?.clone();
        let fault = change(value, path, random)?;
        let mut filled = fault.value.clone();
        validator.apply_defaults(&mut filled);
        matches!(validator.validate(&filled), Err(Invalid::Issues(_))).then_some(fault)
    })
}

fn walk(value: &Value, path: &mut Path, places: &mut Vec<Path>) {
    if places.len() >= POSITIONS {
        return;
    }
    places.push(path.clone());
    let steps: Vec<(Step, &Value)> = match value {
        Value::Array(items) => items.iter().enumerate().map(|(i, item)| (Step::Index(i), item)).collect(),
        Value::Object(members) => members.iter().map(|(name, member)| (Step::Name(name.clone()), member)).collect(),
        _ => return,
    };
    for (step, part) in steps {
        path.push(step);
        walk(part, path, places);
        path.pop();
    }
}

fn change(value: &Value, mut path: Path, random: &mut Random) -> Option<Fault> {
    let mut value = value.clone();
    let place = at(&mut value, &path)?;
    let kind = match (random.below(4), &mut *place) {
        (0, Value::Object(members)) if !members.is_empty() => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = random.pick(&names)?.clone();
            members.shift_remove(&name);
            path.push(Step::Name(name));
            Kind::Missing
        }
        (1, Value::Object(members)) => {
            let odd = *random.pick(&ODD_NAMES)?;
            let name = if random.percent(50) { "noSuchName" } else { odd };
            if members.contains_key(name) {
                return None;
            }
            members.insert(name.to_owned(), random.pick(&[json!(1), json!("x"), json!(null)])?.clone());
            path.push(Step::Name(name.to_owned()));
            Kind::Unknown
        }
        _ => {
            let other = other(place, random)?;
            *place = other;
            Kind::Other
        }
    };
    Some(Fault { value, kind, path })
}

/// A value of another type, or of the same beyond the usual bounds.
fn other(value: &Value, random: &mut Random) -> Option<Value> {
    let candidates = [
        json!(null),
        json!(true),
        json!(-987_654_321),
        json!(0.5),
        json!(1e300),
        json!("no such choice"),
        json!(""),
        json!([]),
        json!({}),
        json!([["x"]]),
    ];
    let candidate = random.pick(&candidates)?;
    let is_same_kind = match (value, candidate) {
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => true,
        (value, candidate) => value == candidate,
    };
    (!is_same_kind).then(|| candidate.clone())
}

fn at<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Name(name) => value.get_mut(name),
        Step::Index(index) => value.get_mut(*index),
    })
}

impl Fault {
    /// Returns how the paths of a refusal name the fault, if they do.
    pub(super) fn naming(&self, schema: &Value, paths: &[String]) -> Option<Naming> {
        let is_one = |path: &[Step]| {
            let [bare, escaped] = render(path);
            paths.iter().any(|given| *given == bare || *given == escaped)
        };
        let has_below =
            |path: &[Step]| render(path).iter().any(|place| paths.iter().any(|given| is_at_or_below(given, place)));
        if is_one(&self.path) {
            return Some(Naming::Exact);
        }
        let takes_nothing = schema["properties"].as_object().is_none_or(Map::is_empty)
            && schema["additionalProperties"] == Value::Bool(false);
        if self.kind == Kind::Unknown && takes_nothing && is_one(&[]) {
            return Some(Naming::Argument);
        }
        if self.kind == Kind::Other && has_below(&self.path) {
            return Some(Naming::Part);
        }
        let place = decided_at(schema, &self.path)?;
        has_below(&self.path[..place]).then_some(Naming::Alternative)
    }
}

fn is_at_or_below(given: &str, place: &str) -> bool {
    let rest = given.strip_prefix(place);
    rest.is_some_and(|rest| place.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// A path as errors write it: `trips[3].stops`, `["odd name"]`; control characters are left out or escaped.
pub(super) fn render(path: &[Step]) -> [String; 2] {
    let write = |is_escaped: bool| {
        let mut text = String::new();
        for step in path {
            match step {
                Step::Index(index) => text.push_str(&format!("[{index}]")),
                Step::Name(name) => write_name(name, is_escaped, &mut text),
            }
        }
        text
    };
    [write(false), write(true)]
}

fn write_name(name: &str, is_escaped: bool, text: &mut String) {
    let name: String = name.chars().filter(|character| is_escaped || !character.is_control()).collect();
    if is_identifier(&name) {
        text.push_str(if text.is_empty() { "" } else { "." });
        text.push_str(&name);
        return;
    }
    text.push_str("[\"");
    for character in name.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            control if control.is_control() => text.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => text.push(other),
        }
    }
    text.push_str("\"]");
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|character| character.is_alphanumeric() || matches!(character, '_' | '$'))
}

/// Returns the depth at which alternatives or conditions apply.
fn decided_at(root: &Value, path: &[Step]) -> Option<usize> {
    const DECIDE: [&str; 11] = [
        "anyOf",
        "oneOf",
        "if",
        "not",
        "dependentSchemas",
        "dependentRequired",
        "contains",
        "uniqueItems",
        "propertyNames",
        "minProperties",
        "maxProperties",
    ];
    let mut schemas = vec![root];
    for (depth, step) in path.iter().map(Some).chain([None]).enumerate() {
        let whole = expand(root, schemas);
        let has = |keywords: &[&str]| whole.iter().any(|map| keywords.iter().any(|keyword| map.contains_key(*keyword)));
        // A choice among whole values says nothing of their parts.
        if has(&DECIDE) || has(&["enum", "const"]) && step.is_some() {
            return Some(depth);
        }
        schemas = whole.into_iter().flat_map(|map| below(map, step?)).flatten().collect();
    }
    None
}

/// The schemas with all that they refer to.
fn expand<'s>(root: &'s Value, schemas: Vec<&'s Value>) -> Vec<&'s Map<String, Value>> {
    let mut whole: Vec<&Map<String, Value>> = Vec::new();
    let mut waiting = schemas;
    while let Some(schema) = waiting.pop() {
        let Some(map) = schema.as_object() else { continue };
        if whole.iter().any(|known| std::ptr::eq(*known, map)) {
            continue;
        }
        whole.push(map);
        let reference = map.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix('#'));
        waiting.extend(reference.and_then(|pointer| root.pointer(pointer)));
        waiting.extend(map.get("allOf").and_then(Value::as_array).into_iter().flatten());
    }
    whole
}

fn below<'s>(map: &'s Map<String, Value>, step: &Step) -> Option<Vec<&'s Value>> {
    let object = |keyword: &str| map.get(keyword).and_then(Value::as_object);
    Some(match step {
        Step::Name(name) => match object("properties").and_then(|declared| declared.get(name)) {
            Some(schema) => vec![schema],
            None => {
                let patterns = object("patternProperties").into_iter().flat_map(Map::values);
                patterns.chain(map.get("additionalProperties")).collect()
            }
        },
        Step::Index(index) => {
            let prefix = map.get("prefixItems").and_then(Value::as_array);
            vec![prefix.and_then(|prefix| prefix.get(*index)).or_else(|| map.get("items"))?]
        }
    })
}
