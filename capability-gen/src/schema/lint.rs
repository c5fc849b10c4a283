//! Lint of likely mistakes in a schema: `requird`, `minLenght`, `"type": "intger"`. Errors in the project's own
//! formats, warnings for the operator in others.

use super::keywords::{self, KNOWN, LIST, MAP, ONE};
use super::notes::{Notes, Path};
use super::type_names::{TYPES, TypeName, array_of, parse_type_name};
use serde_json::{Map, Value};

/// Longest key that is compared with the keywords, of which the longest has 21 letters.
const MAX_KEY_BYTES: usize = 32;

/// Keywords never suggested: too short or too common.
const NEVER_MEANT: &[&str] = &["if", "then", "else", "not", "id", "example", "examples"];

/// Keywords that declare members besides `properties`.
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

/// Pairs of lower and upper bounds.
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

/// Keywords with text values that are also common names of members.
const NAMES_OF_MEMBERS: &[&str] = &["id", "title", "description", "format"];

/// Reports unknown keywords.
pub(super) fn unknown_keywords(map: &Map<String, Value>, path: &Path<'_>, notes: &mut Notes<'_>) {
    for key in map.keys().filter(|key| !keywords::is_known(key)) {
        let shown = short(key);
        match bound_of(key, map).or_else(|| meant(key, notes)) {
            Some(meant) => {
                let at = Path::Key(path, &shown);
                notes.mistake(
                    &at,
                    format!("unknown JSON Schema keyword `{shown}`"),
                    format!("did you mean `{meant}`?"),
                );
            }
            None if notes.is_strict() => {
                notes.add(&Path::Key(path, &shown), "unknown JSON Schema keyword, ignored");
            }
            None => {}
        }
    }
}

/// Reports members without the surrounding schema: `{"street": {"type": "string"}}`, `{"id": "string"}`.
pub(super) fn bare_members(map: &Map<String, Value>, path: &Path<'_>, notes: &mut Notes<'_>) {
    let is_type = |value: &Value| value.as_str().is_some_and(|word| TYPES.contains(&word));
    let is_schema = |value: &Value| {
        is_type(value) || ["type", "$ref", "properties", "enum"].iter().any(|keyword| value.get(*keyword).is_some())
    };
    // A type name is not a plausible value of these keywords.
    let is_known = |(key, value): (&String, &Value)| {
        keywords::is_known(key) && !(NAMES_OF_MEMBERS.contains(&key.as_str()) && is_type(value))
    };
    if map.is_empty() || map.iter().any(is_known) {
        return;
    }
    let message = "no JSON Schema keywords".to_owned();
    let fix = "write {\"type\": \"object\", \"properties\": {…}} if these are members".to_owned();
    let is_certain = map.values().all(is_schema) && map.keys().any(|key| !keywords::is_known(key));
    match is_certain {
        true => notes.mistake_as_any(path, message, fix),
        false if map.values().any(|value| value.is_object() || is_type(value)) => {
            notes.add(path, format!("{message}, so this is any value; {fix}"));
        }
        false => {}
    }
}

/// Reports an unknown type.
pub(super) fn unknown_type(word: &Value, path: &Path<'_>, notes: &mut Notes<'_>) {
    let text = word.as_str().unwrap_or_default();
    let fix = match (array_of(text), notes.nearest(text, TYPES.iter().copied())) {
        (Some(array), _) => format!("write {array}"),
        (None, Some(near)) => format!("did you mean \"{near}\"?"),
        (None, None) => format!("write one of {}", TYPES.join(", ")),
    };
    notes.mistake_as_any(path, format!("unknown JSON type {}", short(&word.to_string())), fix);
}

/// Reports an unresolved reference.
pub(super) fn unresolved_reference(text: &str, root: &Value, path: &Path<'_>, notes: &mut Notes<'_>) {
    let folders = ["$defs", "definitions"].into_iter();
    let names = folders.filter_map(|folder| Some((folder, root.get(folder)?.as_object()?)));
    let names = names.flat_map(|(folder, names)| names.keys().map(move |name| (folder, name.as_str())));
    let last = text.rsplit(['/', '#']).next().unwrap_or(text);
    let near = notes.nearest(last, names.clone().map(|(_, name)| name));
    let place = near.and_then(|near| names.clone().find(|(_, name)| *name == near));
    let fix = match place {
        Some((folder, name)) => format!("did you mean \"#/{folder}/{}\"?", short(name)),
        None => "define it under `$defs` and refer to it as `#/$defs/…`".to_owned(),
    };
    notes.mistake_as_any(path, format!("unresolved `$ref` {:?}", short(text)), fix);
}

/// Reports a required name that is not among the properties: a mistake if it resembles one or if no other members are
/// allowed. Otherwise it is a member of any value, which is seldom intended.
pub(super) fn undeclared_required(
    name: &str,
    (schema, members): (&Map<String, Value>, &Map<String, Value>),
    path: &Path<'_>,
    notes: &mut Notes<'_>,
) {
    if members.contains_key(name) {
        return;
    }
    let message = format!("`required` names `{}`, which is not among the properties", short(name));
    let near = notes.nearest(name, members.keys().map(String::as_str));
    if let Some(near) = near {
        return notes.mistake(path, message, format!("did you mean `{}`?", short(near)));
    }
    let is_open = |keyword: &&str| schema.get(*keyword).is_some_and(|value| *value != Value::Bool(false));
    if path.is_part() || MEMBERS_ELSEWHERE.iter().any(is_open) {
        return;
    }
    let fix = "add it to `properties`, or take it out of `required`".to_owned();
    match schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        true => notes.mistake(path, format!("{message}, so no object fits"), fix),
        false => notes.add(path, format!("{message}, so it is any value; {fix}")),
    }
}

/// Reports a lower bound above its upper bound.
pub(super) fn crossed_bounds(schema: &Map<String, Value>, path: &Path<'_>, notes: &mut Notes<'_>) {
    for (low, high) in BOUNDS {
        let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        let (Some(least), Some(most)) = (number(low), number(high)) else { continue };
        let is_exclusive = low.starts_with("exclusive") || high.starts_with("exclusive");
        if least > most || (is_exclusive && least == most) {
            let (least, most) = (&schema[*low], &schema[*high]);
            let message = format!("`{low}` is {least} and `{high}` is {most}, so no value fits");
            notes.mistake(path, message, "correct one of the two".to_owned());
        }
    }
}

/// Keyword that corresponds to `min` or `max` of other schema languages, by the schema's type.
fn bound_of(key: &str, schema: &Map<String, Value>) -> Option<&'static str> {
    let is_low = match key {
        "min" => true,
        "max" => false,
        _ => return None,
    };
    let [low, high] = match schema.get("type").and_then(Value::as_str).map(parse_type_name) {
        Some(TypeName::Exact("string") | TypeName::Other("string")) => ["minLength", "maxLength"],
        Some(TypeName::Exact("array") | TypeName::Other("array")) => ["minItems", "maxItems"],
        Some(TypeName::Exact("object") | TypeName::Other("object")) => ["minProperties", "maxProperties"],
        _ => ["minimum", "maximum"],
    };
    Some(if is_low { low } else { high })
}

/// The keyword that a key is a likely typo of: one edit away, or more for long keywords.
fn meant(key: &str, notes: &mut Notes<'_>) -> Option<&'static str> {
    if key.len() < 3 || key.len() > MAX_KEY_BYTES {
        return None;
    }
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    let wanted = plain(key);
    let known = [KNOWN, ONE, LIST, MAP].into_iter().flatten().copied();
    let letters = wanted.chars().count();
    let tolerance = |known: &str| (known.len() / 5).max(1);
    // The distance is at least the difference in length.
    let is_candidate = |known: &&str| !NEVER_MEANT.contains(known) && known.len().abs_diff(letters) <= tolerance(known);
    let candidates = known.filter(is_candidate);
    if !notes.may_compare(&wanted, candidates.clone()) {
        return None;
    }
    let distances = candidates.map(|known| (strsim::osa_distance(&wanted, &plain(known)), known));
    let near = distances.filter(|(distance, known)| *distance <= tolerance(known));
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

fn short(text: &str) -> String {
    match text.char_indices().nth(64) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
