//! Construction of schemas: unions, constants, objects.

use oxc_ast::ast::{Expression, TSType};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// `{ const: value }`, with its type if that helps a reader.
pub(super) fn constant(value: Value) -> Value {
    enumeration(vec![value])
}

pub(super) fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// Schema of one of these scalars.
pub(super) fn enumeration(values: Vec<Value>) -> Value {
    let mut schema = Map::new();
    if !values.is_empty() && values.iter().all(Value::is_string) {
        schema.insert("type".to_owned(), json!("string"));
    }
    match <[Value; 1]>::try_from(values) {
        Ok([value]) => schema.insert("const".to_owned(), value),
        Err(values) => schema.insert("enum".to_owned(), Value::Array(values)),
    };
    Value::Object(schema)
}

/// The scalars of a schema that is only an enumeration.
pub(super) fn scalars(schema: &Value) -> Option<Vec<Value>> {
    let schema = schema.as_object()?;
    if schema.keys().any(|key| !matches!(key.as_str(), "type" | "const" | "enum" | "title" | "description")) {
        return None;
    }
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), None) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// Union of schemas: literals first, without duplicates; any value if one of them is any value.
pub(super) fn union(alternatives: Vec<Value>) -> Value {
    let mut literals = Vec::new();
    let mut others = Vec::new();
    let mut seen = HashSet::new();
    for alternative in alternatives {
        if alternative.as_object().is_some_and(Map::is_empty) {
            return json!({});
        }
        match scalars(&alternative) {
            Some(values) => literals.extend(values.into_iter().filter(|value| seen.insert(format!("={value}")))),
            // `never` adds nothing.
            None if alternative == json!({ "not": {} }) => {}
            None if seen.insert(alternative.to_string()) => others.push(alternative),
            None => {}
        }
    }
    if !literals.is_empty() {
        others.insert(0, enumeration(literals));
    }
    match others.len() {
        0 => json!({ "not": {} }),
        1 => others.swap_remove(0),
        _ => json!({ "anyOf": others }),
    }
}

/// Returns true for an object schema with nothing but members, which can be merged and picked from.
pub(super) fn is_plain_object(schema: &Value) -> bool {
    const KEYS: [&str; 7] =
        ["type", "properties", "required", "additionalProperties", "title", "description", "deprecated"];
    schema.get("type") == Some(&json!("object"))
        && schema.as_object().is_some_and(|schema| schema.keys().all(|key| KEYS.contains(&key.as_str())))
}

/// JSON Schema type of a scalar.
pub(super) fn kind(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(_) => Some("string"),
        Value::Number(_) => Some("number"),
        Value::Bool(_) => Some("boolean"),
        Value::Null => Some("null"),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns true if no value of the schema is an object.
pub(super) fn is_primitive(schema: &Value) -> bool {
    let is_primitive = |ty: &Value| matches!(ty.as_str(), Some("string" | "number" | "integer" | "boolean" | "null"));
    schema.get("type").is_some_and(is_primitive)
}

/// The members of an object schema.
pub(super) fn properties(schema: &Value) -> Map<String, Value> {
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
}

/// The names that an object schema requires.
pub(super) fn required(schema: &Value) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

/// Additional cost of a long text: one for each so many bytes.
pub(in super::super) fn long(text: &str) -> usize {
    const BYTES_OF_ONE: usize = 64;
    text.len() / BYTES_OF_ONE
}

/// Number of values of a schema, including the cost of its text, and its depth.
pub(in super::super) fn measure(schema: &Value) -> (usize, u32) {
    let of = |values: &mut dyn Iterator<Item = (&str, &Value)>| {
        values.fold((1, 1), |(size, depth), (name, value)| {
            let (more, deeper) = measure(value);
            (size + long(name) + more, depth.max(deeper + 1))
        })
    };
    match schema {
        Value::Array(items) => of(&mut items.iter().map(|item| ("", item))),
        Value::Object(members) => of(&mut members.iter().map(|(name, member)| (name.as_str(), member))),
        Value::String(text) => (1 + long(text), 1),
        _ => (1, 1),
    }
}

/// The type of a constant: the literal if it is declared `as const`, otherwise the widened type.
pub(super) fn of_value(value: &Value, is_const: bool) -> Value {
    match value {
        Value::Array(items) if is_const => {
            let count = items.len();
            let items: Vec<Value> = items.iter().map(|item| of_value(item, true)).collect();
            json!({ "type": "array", "prefixItems": items, "minItems": count, "items": false })
        }
        Value::Array(items) => list(union(items.iter().map(|item| of_value(item, false)).collect())),
        Value::Object(members) => {
            let properties = members.iter().map(|(name, value)| (name.clone(), of_value(value, is_const))).collect();
            let required = members.keys().map(|name| json!(name)).collect();
            Value::Object(super::object_schema(properties, required))
        }
        Value::Null => json!({ "type": "null" }),
        scalar if is_const => constant(scalar.clone()),
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Number(_) => json!({ "type": "number" }),
        Value::String(_) => json!({ "type": "string" }),
    }
}

/// True if an expression is `… as const`, or a scalar, which a `const` does not widen.
pub(in super::super) fn is_const(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::ParenthesizedExpression(it) => is_const(&it.expression),
        Expression::TSSatisfiesExpression(it) => is_const(&it.expression),
        Expression::TSAsExpression(it) => match &it.type_annotation {
            TSType::TSTypeReference(it) => it.type_name.is_const(),
            _ => false,
        },
        Expression::ObjectExpression(_) | Expression::ArrayExpression(_) => false,
        _ => true,
    }
}
