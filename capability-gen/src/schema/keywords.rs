//! Keywords of JSON Schema, and which of them hold subschemas.

use serde_json::{Map, Value};

/// Keywords whose value is a schema.
pub(super) const ONE: &[&str] = &[
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
];

/// Keywords whose value is a list of schemas.
pub(super) const LIST: &[&str] = &["allOf", "anyOf", "oneOf", "prefixItems", "items", "type"];

/// Keywords whose value is an object of schemas.
pub(super) const MAP: &[&str] =
    &["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];

/// Keywords with one subschema that applies to the same value as its parent.
pub(super) const IN_PLACE_ONE: &[&str] = &["not", "if", "then", "else"];

/// Keywords with a list of such subschemas.
pub(super) const IN_PLACE_LIST: &[&str] = &["allOf", "anyOf", "oneOf"];

/// Internal keyword of the normal form: required members of an object that have a default. Sources cannot set it, since
/// their unknown keywords are dropped.
pub(super) const FILLED: &str = "filled";

/// Annotations: documentation, and defaults.
pub(super) const ANNOTATIONS: &[&str] = &["title", "description", "deprecated", "default", "format", FILLED];

/// The format of base64 text.
pub(super) const BASE64_FORMAT: &str = "byte";

/// Known keywords of all dialects that hold no subschema.
pub(super) const KNOWN: &[&str] = &[
    "$anchor",
    "$comment",
    "$dynamicRef",
    "$dynamicAnchor",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$schema",
    "$vocabulary",
    "const",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "dependentRequired",
    "deprecated",
    "description",
    "discriminator",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "externalDocs",
    "format",
    "id",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "nullable",
    "optional",
    "pattern",
    "readOnly",
    "required",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
    "xml",
];

/// Returns true for a known keyword or an extension (`x-…`).
pub(super) fn is_known(keyword: &str) -> bool {
    [KNOWN, ONE, LIST, MAP].iter().any(|names| names.contains(&keyword)) || keyword.starts_with("x-")
}

/// The subschemas in a keyword's value.
pub(super) fn inside<'a>(keyword: &str, value: &'a Value) -> impl Iterator<Item = &'a Value> {
    let one = ONE.contains(&keyword) && !value.is_array();
    let list = value.as_array().filter(|_| LIST.contains(&keyword));
    let map = value.as_object().filter(|_| MAP.contains(&keyword));
    one.then_some(value).into_iter().chain(list.into_iter().flatten()).chain(map.into_iter().flat_map(Map::values))
}

/// Direct subschemas of a schema.
pub(super) fn children(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    schema.iter().flat_map(|(keyword, value)| inside(keyword, value))
}

/// Subschemas that apply to the same value, without following references.
pub(super) fn in_place(schema: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let ones = IN_PLACE_ONE.iter().filter_map(|keyword| schema.get(*keyword));
    let lists = IN_PLACE_LIST.iter().filter_map(|keyword| schema.get(*keyword)?.as_array()).flatten();
    let dependents = schema.get("dependentSchemas").and_then(Value::as_object).into_iter().flat_map(Map::values);
    ones.chain(lists).chain(dependents)
}

/// Calls `change` with every direct subschema.
pub(super) fn for_each_child_mut(schema: &mut Map<String, Value>, mut change: impl FnMut(&str, &mut Value)) {
    for (keyword, value) in schema.iter_mut() {
        let keyword = keyword.as_str();
        match value {
            Value::Array(list) if LIST.contains(&keyword) => list.iter_mut().for_each(|it| change(keyword, it)),
            Value::Object(map) if MAP.contains(&keyword) => map.values_mut().for_each(|it| change(keyword, it)),
            Value::Object(_) | Value::Bool(_) if ONE.contains(&keyword) => change(keyword, value),
            _ => {}
        }
    }
}

/// Returns true if it has constraining keywords other than these.
pub(super) fn constrains_beyond(schema: &Map<String, Value>, except: &[&str]) -> bool {
    schema.keys().any(|keyword| !except.contains(&keyword.as_str()) && !ANNOTATIONS.contains(&keyword.as_str()))
}
