//! Flat parameter maps: `{"message": {"type": "string"}, "times": "integer"}`.
//!
//! Parameters are required unless they have `optional: true`, `required: false` or a `default`. This is a format of its
//! own (with functions as in [`super::openai`]), and allowed for parameters in the other hand-written formats.
//!
//! # Distinguishing a flat map from a JSON Schema
//!
//! A member *means a keyword* when its key is one and its value has that keyword's shape. So `type: "object"` means
//! the keyword and `type: {…}` a parameter called `type`; `properties: {type: "object"}` is a parameter called
//! `properties`, since a schema's `properties` has schemas in it, and `title: "string"` is a parameter called `title`.
//! It is a JSON Schema if `properties` means the keyword and is not empty, or if no member looks like a parameter; a
//! flat map if some member looks like a parameter. Ambiguous maps (`{"type": "string"}`; `type: "object"` beside what
//! looks like a parameter; `type: "array"` beside nothing but keywords of arrays, such as `items`) are refused.
//!
//! A result may be any schema, so it is a flat map only if no member means a keyword.

use super::error::{SourceError, quoted};
use super::listed::{self, Listed};
use super::node::Node;
use crate::definition::Definition;
use crate::names::nearest;
use crate::schema::array_of;
use serde_json::{Map, Value, json};

const TYPE_NAMES: [&str; 8] = ["string", "number", "integer", "boolean", "object", "array", "null", "any"];

/// Keywords of arrays whose values look like parameters: beside `type: "array"` they are keywords.
const ARRAY_KEYWORDS: [&str; 4] = ["items", "additionalItems", "contains", "unevaluatedItems"];

/// Treatment of ambiguous maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bias {
    /// Refuse it.
    None,
    /// It is a flat map: the format was stated.
    Flat,
    /// It is a schema: the format allows nothing else.
    Schema,
}

pub(super) fn parse(root: &Node<'_>, name: &str) -> Result<Vec<Definition>, SourceError> {
    let mut definitions = listed::parse(root, name, Listed { bias: Bias::Flat, vendor: "function-calling" })?;
    definitions.iter_mut().for_each(|definition| definition.is_own_format = true);
    Ok(definitions)
}

/// Returns true if parameters are a flat map rather than a JSON Schema.
pub(super) fn is_flat(node: &Node<'_>, bias: Bias) -> Result<bool, SourceError> {
    let Some(map) = node.value.as_object() else { return Ok(false) };
    if bias == Bias::Schema {
        return Ok(false);
    }
    let means = |key: &str| map.get(key).is_some_and(|value| means_keyword(key, value));
    let type_name = map.get("type").filter(|value| means_keyword("type", value));
    let has_properties = map.get("properties").and_then(Value::as_object).is_some_and(|members| !members.is_empty());
    let is_only_schema = ["$schema", "$ref", "$id", "$defs", "allOf", "anyOf", "oneOf"].into_iter().any(means);
    let type_is_parameter = map.get("type").is_some_and(Value::is_object);
    if !type_is_parameter && (is_only_schema || (means("properties") && (has_properties || type_name.is_some()))) {
        return Ok(false);
    }
    let is_array = type_name.is_some_and(|name| name == "array");
    let is_parameter = |key: &str, value: &Value| {
        let is_keyword = means_keyword(key, value) || (is_array && ARRAY_KEYWORDS.contains(&key));
        !is_keyword && looks_like_parameter(value)
    };
    let parameter = map.iter().find(|(key, value)| is_parameter(key, value));
    let is_object = type_name.is_some_and(|name| name == "object" || name.is_array());
    match (type_name, parameter) {
        (None, Some(_)) => Ok(true),
        // Only unknown members, such as {"message": 5}: read as a flat map, with an error at each.
        (None, None) => Ok(map.iter().all(|(key, value)| !means_keyword(key, value))),
        (Some(_), None) if is_object => Ok(false),
        (Some(_), Some(_)) if !is_object => Ok(true),
        _ if bias == Bias::Flat => Ok(true),
        (Some(_), Some((key, value))) => {
            let message = format!("{} is beside \"type\" and not in \"properties\"", quoted(key));
            let fix = "Put the parameters into \"properties\"; for a parameter called \"type\" write \"type\": {\"type\": …}.";
            Err(node.member(key, value).error(message, fix))
        }
        (Some(name), None) => {
            let message = format!("the parameters are of type {name}, and must be an object");
            let fix = "Write \"type\": \"object\" with \"properties\"; for a parameter called \"type\" write \"type\": {\"type\": …}.";
            Err(node.error(message, fix))
        }
    }
}

/// Returns true if a result is a flat map rather than a JSON Schema.
pub(super) fn is_flat_result(map: &Map<String, Value>) -> bool {
    let means = |key: &str, value: &Value| {
        means_keyword(key, value) || ((ARRAY_KEYWORDS.contains(&key) || key == "contentSchema") && value.is_object())
    };
    map.values().any(looks_like_parameter) && !map.iter().any(|(key, value)| means(key, value))
}

/// Converts a flat map to the schema of an object.
pub(super) fn schema(node: &Node<'_>) -> Result<Value, SourceError> {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, parameter) in node.members() {
        let (schema, is_required) = read_parameter(&parameter)?;
        properties.insert(name.to_owned(), schema);
        if is_required {
            required.push(Value::from(name));
        }
    }
    let mut schema =
        Map::from_iter([("type".to_owned(), json!("object")), ("properties".to_owned(), properties.into())]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    Ok(schema.into())
}

/// Schema of a bare type name.
pub(super) fn named_type(node: &Node<'_>) -> Result<Value, SourceError> {
    let name = node.text("a type")?;
    match name {
        "any" => Ok(json!({})),
        name if TYPE_NAMES.contains(&name) => Ok(json!({"type": name})),
        name => {
            let fix = match (array_of(name), nearest(name, TYPE_NAMES.iter().copied())) {
                (Some(array), _) => format!("Write {array}."),
                (None, Some(near)) => format!("Did you mean {near:?}?"),
                (None, None) => format!("Write one of {}, or a schema.", TYPE_NAMES.join(", ")),
            };
            Err(node.error(format!("unknown type {}", quoted(name)), fix))
        }
    }
}

fn read_parameter(node: &Node<'_>) -> Result<(Value, bool), SourceError> {
    let Some(map) = node.value.as_object() else {
        if node.value.is_string() {
            return Ok((named_type(node)?, true));
        }
        return Err(node.mistyped("a parameter", "a schema such as {\"type\": \"string\"}, or a type's name"));
    };
    let optional = node.get_bool("optional")?;
    // A nested object's list of required members is not a flag.
    let required = if node.value["required"].is_array() { None } else { node.get_bool("required")? };
    let is_required = match (optional, required) {
        (Some(optional), Some(required)) if optional == required => {
            return Err(node.error("contradictory \"optional\" and \"required\"", "Remove \"optional\"."));
        }
        (_, Some(required)) => required,
        (Some(optional), None) => !optional,
        (None, None) => !map.contains_key("default"),
    };
    let flags = |key: &str| key == "optional" || (key == "required" && required.is_some());
    let schema: Map<_, _> =
        map.iter().filter(|(key, _)| !flags(key)).map(|(key, value)| (key.clone(), value.clone())).collect();
    Ok((schema.into(), is_required))
}

fn is_type_name(value: &Value) -> bool {
    value.as_str().is_some_and(|name| TYPE_NAMES.contains(&name))
}

fn looks_like_parameter(value: &Value) -> bool {
    value.is_object() || is_type_name(value)
}

/// Returns true if a member's value has the shape of the keyword with its name.
fn means_keyword(key: &str, value: &Value) -> bool {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    let all_members = |test: fn(&Value) -> bool| value.as_object().is_some_and(|members| members.values().all(test));
    let is_other_than_parameter = || !is_type_name(value) && !value.get("type").is_some_and(Value::is_string);
    match key {
        "type" => is_type_name(value) || value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
            all_members(|member| member.is_object() || member.is_boolean())
        }
        "dependencies" => all_members(|member| !member.is_string()),
        "dependentRequired" => all_members(Value::is_array),
        "required" => value.is_array() || value.is_boolean(),
        "additionalProperties" | "unevaluatedProperties" | "propertyNames" | "not" | "if" | "then" | "else" => {
            is_schema(value)
        }
        "allOf" | "anyOf" | "oneOf" | "enum" | "examples" => value.is_array(),
        "minProperties" | "maxProperties" => value.is_number(),
        "deprecated" | "readOnly" | "writeOnly" | "nullable" => value.is_boolean(),
        "title" | "description" | "format" => value.is_string() && !is_type_name(value),
        "default" | "const" | "example" | "discriminator" | "xml" | "externalDocs" => is_other_than_parameter(),
        _ if key.starts_with('$') => value.is_string(),
        _ if key.starts_with("x-") => is_other_than_parameter(),
        _ => false,
    }
}
