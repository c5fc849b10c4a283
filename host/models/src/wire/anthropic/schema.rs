//! Schema of a structured answer, in the subset of JSON Schema that Anthropic accepts.

use serde_json::{Map, Value};

use crate::wire::json::is_object_schema;

/// Keywords that the provider refuses. They are moved into the description; the caller validates the answer.
const UNSUPPORTED: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];
/// Keywords whose value is a schema, or a list of schemas.
const NESTED: &[&str] = &["items", "prefixItems", "anyOf", "oneOf", "allOf", "not"];
/// Keywords whose members are schemas.
const NAMED: &[&str] = &["properties", "$defs", "definitions"];

/// The schema with closed objects, which the provider demands, and without keywords that it refuses.
pub(super) fn adapt(schema: &Value) -> Value {
    match schema {
        Value::Object(schema) => Value::Object(adapt_object(schema)),
        Value::Array(schemas) => schemas.iter().map(adapt).collect(),
        other => other.clone(),
    }
}

fn adapt_object(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut adapted = Map::new();
    let mut told = Vec::new();
    for (name, value) in schema {
        let value = match name.as_str() {
            keyword if UNSUPPORTED.contains(&keyword) || is_refused_min_items(keyword, value) => {
                told.push(format!("{keyword}: {value}"));
                continue;
            }
            keyword if NESTED.contains(&keyword) => adapt(value),
            keyword if NAMED.contains(&keyword) => match value {
                Value::Object(named) => named.iter().map(|(name, schema)| (name.clone(), adapt(schema))).collect(),
                other => other.clone(),
            },
            _ => value.clone(),
        };
        adapted.insert(name.clone(), value);
    }
    if is_object_schema(schema) && !schema.contains_key("additionalProperties") {
        adapted.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if !told.is_empty() {
        let told = told.join(", ");
        let text = match schema.get("description").and_then(Value::as_str) {
            Some(description) => format!("{description} ({told})"),
            None => told,
        };
        adapted.insert("description".to_owned(), Value::String(text));
    }
    adapted
}

/// Only 0 and 1 are accepted.
fn is_refused_min_items(keyword: &str, value: &Value) -> bool {
    keyword == "minItems" && value.as_u64().is_none_or(|count| count > 1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_closed_at_every_depth() {
        let adapted = adapt(&json!({
            "type": "object",
            "properties": {
                "type": {"type": ["object", "null"], "properties": {}},
                "list": {"type": "array", "items": {"anyOf": [{"type": "object"}, {"type": "string"}]}},
                "open": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "$defs": {"d": {"properties": {"a": {}}}},
        }));
        assert_eq!(
            adapted,
            json!({
                "type": "object",
                "properties": {
                    "type": {"type": ["object", "null"], "properties": {}, "additionalProperties": false},
                    "list": {"type": "array", "items": {"anyOf": [
                        {"type": "object", "additionalProperties": false}, {"type": "string"}]}},
                    "open": {"type": "object", "additionalProperties": {"type": "string"}},
                },
                "$defs": {"d": {"properties": {"a": {}}, "additionalProperties": false}},
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn refused_keywords_are_told_in_words_and_properties_of_their_name_stay() {
        let adapted = adapt(&json!({"type": "object", "properties": {
            "minimum": {"type": "integer", "minimum": 3, "description": "Age"},
            "few": {"type": "array", "minItems": 1, "maxItems": 2},
            "many": {"type": "array", "minItems": 5},
        }}));
        assert_eq!(
            adapted["properties"],
            json!({
                "minimum": {"type": "integer", "description": "Age (minimum: 3)"},
                "few": {"type": "array", "minItems": 1, "description": "maxItems: 2"},
                "many": {"type": "array", "description": "minItems: 5"},
            })
        );
    }
}
