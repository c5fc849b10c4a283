//! Check for schemas that OpenAI's strict mode accepts.

use serde_json::Value;

use crate::wire::json::{elements, is_object_schema};

/// Deeper schemas count as not strict; OpenAI takes ten levels of objects.
const MAX_DEPTH: usize = 32;
/// Keywords that strict mode refuses.
const REFUSED: &[&str] = &[
    "allOf",
    "oneOf",
    "not",
    "if",
    "patternProperties",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
];
/// Keywords whose value maps names to schemas.
const MAPS: &[&str] = &["properties", "$defs", "definitions"];
/// Keywords whose value is a list of schemas.
const LISTS: &[&str] = &["anyOf", "prefixItems"];

/// Returns true if every object of a schema names all of its members as required and allows no others, and no keyword is used
/// that strict mode refuses. Such a schema is enforced while the model writes; any other is sent without `strict`,
/// because the provider would refuse it.
pub(super) fn is_strict(schema: &Value) -> bool {
    is_strict_within(schema, MAX_DEPTH) && schema.get("type").and_then(Value::as_str) == Some("object")
}

fn is_strict_within(schema: &Value, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let Some(members) = schema.as_object() else {
        return false;
    };
    if REFUSED.iter().any(|name| members.contains_key(*name)) {
        return false;
    }
    if is_object_schema(members) && !is_closed(schema) {
        return false;
    }
    let mapped = MAPS.iter().filter_map(|name| schema.get(name)?.as_object()).flat_map(|schemas| schemas.values());
    let listed = LISTS.iter().filter_map(|name| schema.get(name)?.as_array()).flatten();
    mapped.chain(listed).chain(schema.get("items")).all(|schema| is_strict_within(schema, depth))
}

/// Returns true if all properties are required and no others are allowed.
fn is_closed(schema: &Value) -> bool {
    let required = elements(schema, "required");
    let are_all_required = match schema.get("properties").and_then(Value::as_object) {
        Some(properties) => properties.keys().all(|name| required.iter().any(|required| required == name)),
        None => true,
    };
    are_all_required && schema.get("additionalProperties") == Some(&Value::Bool(false))
}
