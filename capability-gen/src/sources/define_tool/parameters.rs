//! Parameters of a function: a flat map or a JSON Schema.
//!
//! In a flat map every member is a parameter, required unless it has `optional: true`, `required: false` or a
//! `default`. The same applies to a nested object if one of its members has such a flag. Results allow the same two
//! forms.

use super::fault::Fault;
use crate::names::nearest;
use crate::schema::array_of;
use serde_json::{Map, Value, json};

/// Member of a possible flat map.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) at: u32,
    pub(super) value: Value,
}

/// Keywords allowed beside `type` or `properties` in an object schema.
const KEYWORDS: [&str; 61] = [
    "$anchor",
    "$comment",
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "else",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "if",
    "items",
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
    "not",
    "nullable",
    "oneOf",
    "optional",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
    "writeOnly",
    "discriminator",
    "xml",
];

/// Type names.
const TYPES: [&str; 8] = ["string", "number", "integer", "boolean", "object", "array", "null", "any"];

/// The members as JSON Schema, converted if they are a flat map.
pub(super) fn schema(entries: Vec<Entry>) -> Result<Value, Fault> {
    if is_schema(&entries)? {
        return Ok(Value::Object(entries.into_iter().map(|entry| (entry.name, entry.value)).collect()));
    }
    let mut properties = Map::new();
    let mut required = Vec::new();
    for Entry { name, at, value } in entries {
        let (schema, is_required) = parameter(&name, at, value)?;
        if is_required {
            required.push(Value::String(name.clone()));
        }
        properties.insert(name, schema);
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    Ok(Value::Object(schema))
}

/// Schema of a type name.
pub(super) fn type_named(name: &str) -> Option<Value> {
    match name {
        "any" => Some(json!({})),
        name if TYPES.contains(&name) => Some(json!({ "type": name })),
        _ => None,
    }
}

fn is_keyword(name: &str) -> bool {
    name.starts_with("x-") || KEYWORDS.contains(&name)
}

fn is_type_name(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPES.contains(&name))
}

/// Returns true for a JSON Schema. Parameters may be called `type` and `properties` too, so their values decide.
fn is_schema(entries: &[Entry]) -> Result<bool, Fault> {
    let get = |name: &str| entries.iter().find(|entry| entry.name == name);
    if let Some(ty) = get("type") {
        let is_flat = || entries.iter().all(|entry| is_type_name(&entry.value));
        return match &ty.value {
            Value::Object(_) => Ok(false),
            Value::Array(_) => Ok(true),
            // `{ type: 'string', query: 'string' }`
            _ if is_flat() && entries.iter().any(|entry| !is_keyword(&entry.name)) => Ok(false),
            value if is_type_name(value) => Ok(true),
            _ => Err(Fault::new(
                ty.at,
                format!("`type` is {}, which is not a JSON Schema type", ty.value),
                format!(
                    "write one of {}; a parameter called `type` is written `type: {{ type: 'string' }}`",
                    TYPES.join(", ")
                ),
            )),
        };
    }
    let are_keywords = || entries.iter().all(|entry| is_keyword(&entry.name));
    if let Some(Entry { value: Value::Object(properties), .. }) = get("properties")
        && properties.values().all(Value::is_object)
        && are_keywords()
    {
        return Ok(true);
    }
    let has = |name: &str, is: fn(&Value) -> bool| get(name).is_some_and(|entry| is(&entry.value));
    Ok(has("$ref", Value::is_string)
        || has("$schema", Value::is_string)
        || ["anyOf", "oneOf", "allOf", "enum"].iter().any(|name| has(name, Value::is_array) && are_keywords()))
}

/// The schema of one parameter of a flat map, and whether it is required.
fn parameter(name: &str, at: u32, value: Value) -> Result<(Value, bool), Fault> {
    let mut schema = match value {
        Value::Object(schema) => schema,
        Value::String(ty) => match type_named(&ty) {
            Some(schema) => return Ok((schema, true)),
            None => {
                let fix = match (array_of(&ty), nearest(&ty, TYPES.iter().copied())) {
                    (Some(array), _) => format!("write `{array}`"),
                    (None, Some(near)) => format!("did you mean '{near}'?"),
                    (None, None) => format!("write one of {}", TYPES.join(", ")),
                };
                let message = format!("the type of the parameter `{name}` is '{ty}', which is not a JSON Schema type");
                return Err(Fault::new(at, message, fix));
            }
        },
        other => {
            return Err(Fault::new(
                at,
                format!("the parameter `{name}` is {other}, which does not say its type"),
                format!("write `{name}: {{ type: 'string' }}`, or a whole JSON Schema with `type: 'object'`"),
            ));
        }
    };
    if let Some((member, _)) = schema.iter().find(|(key, value)| value.is_object() && !is_keyword(key)) {
        return Err(Fault::new(
            at,
            format!("the parameter `{name}` has a member `{member}`, which is not a JSON Schema keyword"),
            "write a nested object as `{ type: 'object', properties: { … } }`",
        ));
    }
    let mut flag = |key: &str| match schema.get(key) {
        Some(Value::Bool(flag)) => {
            let flag = *flag;
            schema.shift_remove(key);
            Ok(Some(flag))
        }
        // Required members of a nested object.
        Some(Value::Array(_)) if key == "required" => Ok(None),
        None => Ok(None),
        Some(other) => {
            Err(Fault::new(at, format!("`{key}` of the parameter `{name}` is {other}"), "write `true` or `false`"))
        }
    };
    let (optional, required) = (flag("optional")?, flag("required")?);
    if optional == Some(true) && required == Some(true) {
        return Err(Fault::new(
            at,
            format!("the parameter `{name}` is both required and optional"),
            "remove one of the two",
        ));
    }
    if schema.get("type") == Some(&json!("any")) {
        schema.shift_remove("type");
    }
    let is_required = optional != Some(true) && required != Some(false) && !schema.contains_key("default");
    nested(name, at, &mut schema)?;
    Ok((Value::Object(schema), is_required))
}

/// Reads the members of a nested object as a flat map if one of them has a flag, which JSON Schema does not have.
fn nested(name: &str, at: u32, schema: &mut Map<String, Value>) -> Result<(), Fault> {
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        nested(name, at, items)?;
    }
    let has_list = schema.contains_key("required");
    let Some(Value::Object(members)) = schema.get_mut("properties") else { return Ok(()) };
    let has_flag =
        |member: &Value| ["optional", "required"].iter().any(|flag| member.get(*flag).is_some_and(Value::is_boolean));
    if has_list || !members.values().any(has_flag) {
        for (member, inner) in members.iter_mut() {
            if let Value::Object(inner) = inner {
                nested(&format!("{name}.{member}"), at, inner)?;
            }
        }
        return Ok(());
    }
    let mut required = Vec::new();
    for (member, inner) in members.iter_mut() {
        let (inner_schema, is_required) = parameter(&format!("{name}.{member}"), at, inner.take())?;
        *inner = inner_schema;
        if is_required {
            required.push(Value::String(member.clone()));
        }
    }
    schema.insert("required".to_owned(), Value::Array(required));
    Ok(())
}
