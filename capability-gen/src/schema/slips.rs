//! Slips of the pen in a schema: `requird`, `minLenght`, `"type": "intger"`. Who writes a schema for this project is
//! told at once; of another's schema only the operator is.

use super::keywords::{self, KNOWN, LIST, MAP, ONE};
use super::notes::{Notes, Path};
use super::words::{TYPES, Word, array_of, type_word};
use crate::names::nearest;
use serde_json::{Map, Value};

/// The longest key that is compared with all keywords, of which the longest has 21 letters.
const MAX_KEY_BYTES: usize = 32;

/// Keys of one schema document that are compared: a hostile one has nothing but unknown keys.
pub(super) const MAX_COMPARED: usize = 1_000;

/// Too short, or too plain a word, to be what somebody meant to write.
const NEVER_MEANT: &[&str] = &["if", "then", "else", "not", "id", "example", "examples"];

/// Keywords by which an object has members besides its `properties`.
const MEMBERS_ELSEWHERE: &[&str] = &[
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
];

/// Keywords that bound one thing from below and from above.
const BOUNDS: &[(&str, &str)] = &[
    ("minimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("minContains", "maxContains"),
];

/// Keywords of text that members are often called by.
const NAMES_OF_MEMBERS: &[&str] = &["id", "title", "description", "format"];

/// Notes keys that are no keywords.
pub(super) fn unknown_keywords(map: &Map<String, Value>, path: &Path<'_>, notes: &mut Notes<'_>) {
    for key in map.keys().filter(|key| !keywords::is_known(key)) {
        if !notes.may_compare() {
            return;
        }
        let shown = short(key);
        match bound_of(key, map).or_else(|| meant(key)) {
            Some(meant) => {
                let at = Path::Key(path, &shown);
                notes.slip(&at, format!("`{shown}` is no keyword of JSON Schema"), format!("did you mean `{meant}`?"));
            }
            None if notes.is_strict() => {
                notes.add(&Path::Key(path, &shown), "no keyword of JSON Schema, so it changes nothing");
            }
            None => {}
        }
    }
}

/// An object's members without the schema around them: `{"street": {"type": "string"}}`, `{"id": "string"}`.
pub(super) fn bare_members(map: &Map<String, Value>, path: &Path<'_>, notes: &mut Notes<'_>) {
    let is_type = |value: &Value| value.as_str().is_some_and(|word| TYPES.contains(&word));
    let is_schema = |value: &Value| {
        is_type(value) || ["type", "$ref", "properties", "enum"].iter().any(|keyword| value.get(*keyword).is_some())
    };
    // A text that is the name of a type says nothing as one of these.
    let is_known = |(key, value): (&String, &Value)| {
        keywords::is_known(key) && !(NAMES_OF_MEMBERS.contains(&key.as_str()) && is_type(value))
    };
    if map.is_empty() || map.iter().any(is_known) {
        return;
    }
    let message = "none of its keywords is JSON Schema's".to_owned();
    let fix = "write {\"type\": \"object\", \"properties\": {…}} if these are members".to_owned();
    let is_certain = map.values().all(is_schema) && map.keys().any(|key| !keywords::is_known(key));
    match is_certain {
        true => notes.slip_to_any(path, message, fix),
        false if map.values().any(|value| value.is_object() || is_type(value)) => {
            notes.add(path, format!("{message}, so this is any value; {fix}"));
        }
        false => {}
    }
}

/// A type that JSON has not.
pub(super) fn unknown_type(word: &Value, path: &Path<'_>, notes: &mut Notes<'_>) {
    let text = word.as_str().unwrap_or_default();
    let fix = match (array_of(text), nearest(text, TYPES.iter().copied())) {
        (Some(array), _) => format!("write {array}"),
        (None, Some(near)) => format!("did you mean \"{near}\"?"),
        (None, None) => format!("write one of {}", TYPES.join(", ")),
    };
    notes.slip_to_any(path, format!("JSON has no type {}", short(&word.to_string())), fix);
}

/// A reference to nothing.
pub(super) fn lost_reference(text: &str, root: &Value, path: &Path<'_>, notes: &mut Notes<'_>) {
    let folders = ["$defs", "definitions"].into_iter();
    let names = folders.filter_map(|folder| Some((folder, root.get(folder)?.as_object()?)));
    let names: Vec<(&str, &str)> =
        names.flat_map(|(folder, names)| names.keys().map(move |name| (folder, name.as_str()))).collect();
    let last = text.rsplit(['/', '#']).next().unwrap_or(text);
    let near = match notes.may_compare() {
        true => nearest(last, names.iter().take(MAX_COMPARED).map(|(_, name)| *name)),
        false => None,
    };
    let place = near.and_then(|near| names.iter().find(|(_, name)| *name == near));
    let fix = match place {
        Some((folder, name)) => format!("did you mean \"#/{folder}/{}\"?", short(name)),
        None => "put what it refers to under `$defs` and refer to it as `#/$defs/…`".to_owned(),
    };
    notes.slip_to_any(path, format!("`$ref` to {:?} leads nowhere", short(text)), fix);
}

/// A required name that no member has: a slip where it is almost that of one, and where no member could have it. Otherwise
/// it is a member of any value, which is seldom meant.
pub(super) fn lost_required(
    name: &str,
    (schema, members): (&Map<String, Value>, &Map<String, Value>),
    path: &Path<'_>,
    notes: &mut Notes<'_>,
) {
    if members.contains_key(name) || !notes.may_compare() {
        return;
    }
    let message = format!("`required` names `{}`, which is not among the properties", short(name));
    let near = nearest(name, members.keys().take(MAX_COMPARED).map(String::as_str));
    if let Some(near) = near {
        return notes.slip(path, message, format!("did you mean `{}`?", short(near)));
    }
    let is_open = |(keyword, value): (&String, &Value)| {
        MEMBERS_ELSEWHERE.contains(&keyword.as_str()) && *value != Value::Bool(false)
    };
    if path.is_part() || schema.iter().any(is_open) {
        return;
    }
    let fix = "add it to `properties`, or take it out of `required`".to_owned();
    match schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        true => notes.slip(path, format!("{message}, so no object fits"), fix),
        false => notes.add(path, format!("{message}, so it is any value; {fix}")),
    }
}

/// A lower bound above its upper one: no value fits.
pub(super) fn crossed_bounds(schema: &Map<String, Value>, path: &Path<'_>, notes: &mut Notes<'_>) {
    for (low, high) in BOUNDS {
        let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let (Some(least), Some(most)) = (number(low), number(high)) else { continue };
        let is_exclusive = low.starts_with("exclusive") || high.starts_with("exclusive");
        if least > most || (is_exclusive && least == most) {
            let (least, most) = (&schema[*low], &schema[*high]);
            let message = format!("`{low}` is {least} and `{high}` is {most}, so no value fits");
            notes.slip(path, message, "correct one of the two".to_owned());
        }
    }
}

/// `min` and `max` of other schema languages: the keyword that bounds values of the schema's type.
fn bound_of(key: &str, schema: &Map<String, Value>) -> Option<&'static str> {
    let is_low = match key {
        "min" => true,
        "max" => false,
        _ => return None,
    };
    let [low, high] = match schema.get("type").and_then(Value::as_str).map(type_word) {
        Some(Word::Exact("string") | Word::Other("string")) => ["minLength", "maxLength"],
        Some(Word::Exact("array") | Word::Other("array")) => ["minItems", "maxItems"],
        Some(Word::Exact("object") | Word::Other("object")) => ["minProperties", "maxProperties"],
        _ => ["minimum", "maximum"],
    };
    Some(if is_low { low } else { high })
}

/// The keyword that a key is one slip away from; of a long one, two or more.
fn meant(key: &str) -> Option<&'static str> {
    if key.len() < 3 || key.len() > MAX_KEY_BYTES {
        return None;
    }
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let wanted = plain(key);
    let known = [KNOWN, ONE, LIST, MAP].into_iter().flatten().copied();
    let candidates = known.filter(|known| !NEVER_MEANT.contains(known));
    let distances = candidates.map(|known| (strsim::osa_distance(&wanted, &plain(known)), known));
    let near = distances.filter(|(distance, known)| *distance <= (known.len() / 5).max(1));
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

fn short(text: &str) -> String {
    match text.char_indices().nth(64) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
