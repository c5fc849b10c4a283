//! Root schema of parameters, which must describe an object.

use super::SchemaError;
use super::normal::{Normal, types_of};
use super::notes::{Notes, Path};
use crate::definition::Place;
use serde_json::{Map, Value, json};

/// Expands the shorthand `{"station": {"type": "string"}}`: members without the surrounding schema.
pub(super) fn shorthand(raw: &Value) -> Option<Value> {
    let members = raw.as_object().filter(|members| !members.is_empty())?;
    let is_schema = |value: &Value| {
        value.get("type").is_some_and(|it| it.is_string() || it.is_array())
            || ["enum", "anyOf", "oneOf"].iter().any(|keyword| value.get(*keyword).is_some_and(Value::is_array))
    };
    let holds_schemas = |name: &String| {
        let keyword = name.as_str();
        super::keywords::ONE.contains(&keyword) || super::keywords::MAP.contains(&keyword)
    };
    let is_shorthand = members.values().all(is_schema) && !members.keys().all(holds_schemas);
    is_shorthand.then(|| json!({ "type": "object", "properties": members }))
}

/// Inlines the root's reference, and makes it an object.
pub(super) fn params(normal: &mut Normal, place: &Place, notes: &mut Notes<'_>) -> Result<(), SchemaError> {
    let resolved = normal.resolve(&normal.root).clone();
    let Value::Object(mut root) = resolved else { return Err(no_object(place)) };
    let types = types_of(&root);
    if !types.is_empty() && !types.contains(&"object") {
        return Err(no_object(place));
    }
    if types.len() > 1 {
        notes.add(&Path::Root, "parameters are read as an object: other types are left out");
    }
    root.insert("type".to_owned(), "object".into());
    if let Some(Value::Array(branches)) = root.get_mut("enum") {
        branches.retain(Value::is_object);
    }
    normal.root = Value::Object(root);
    Ok(())
}

/// Refuses parameters that allow no object.
pub(super) fn require_object(normal: &Normal, place: &Place) -> Result<(), SchemaError> {
    let is_possible = match &normal.root {
        Value::Object(root) => can_be_object(root, normal),
        _ => false,
    };
    if is_possible { Ok(()) } else { Err(no_object(place)) }
}

fn can_be_object(root: &Map<String, Value>, normal: &Normal) -> bool {
    let branch = |schema: &Value| match normal.resolve(schema) {
        Value::Object(map) => types_of(map).is_empty() || types_of(map).contains(&"object"),
        _ => false,
    };
    let is_constant = |value: &Value| value.is_object();
    let of = |keyword: &str| root.get(keyword).and_then(Value::as_array);
    ["anyOf", "oneOf"].iter().all(|keyword| of(keyword).is_none_or(|branches| branches.iter().any(branch)))
        && of("allOf").is_none_or(|parts| parts.iter().all(branch))
        && of("enum").is_none_or(|values| values.iter().any(is_constant))
        && root.get("const").is_none_or(is_constant)
}

fn no_object(place: &Place) -> SchemaError {
    SchemaError {
        place: place.clone(),
        message: "parameters must be an object, but this schema allows none".to_owned(),
        fix: "give it `\"type\": \"object\"` and name each parameter under `properties`".to_owned(),
    }
}
