//! Results that a server's SDK puts into `{"result": …}`, since structured content must be an object.
//!
//! Two SDKs do so, and each says it in its way: FastMCP by `x-fastmcp-wrap-result`; the official one for Python by a
//! schema that it makes itself, of a model named after the function. A model of the server's own that happens to have one
//! member `result` is not taken for that: names of Python's classes begin with a capital letter.

use serde_json::{Map, Value};

/// What FastMCP marks such a schema with.
const MARK: &str = "x-fastmcp-wrap-result";

/// All that the official SDK writes into such a schema.
const SDK_KEYS: [&str; 5] = ["$defs", "properties", "required", "title", "type"];

/// What an output schema says of a result that may stand in an object.
pub(super) enum WrappedResult {
    /// It does not.
    No,
    /// It does, and its own schema cannot be taken out: it refers to places that would move.
    Stuck,
    /// It does, and this is its own schema.
    Inner(Value),
}

/// Whether results with this output schema are the member `result` of what the server sends.
pub fn is_result_wrapped(schema: &Value) -> bool {
    matches!(wrapped_result(schema), WrappedResult::Inner(_))
}

pub(super) fn wrapped_result(schema: &Value) -> WrappedResult {
    let Some(outer) = schema.as_object().filter(|outer| is_marked(outer) || is_of_sdk(outer)) else {
        return WrappedResult::No;
    };
    let Some(properties) = outer.get("properties").and_then(Value::as_object) else { return WrappedResult::No };
    let mut inner = match properties.get("result").filter(|_| properties.len() == 1) {
        Some(Value::Object(inner)) => inner.clone(),
        Some(Value::Bool(true)) => Map::new(),
        _ => return WrappedResult::No,
    };
    for key in ["$defs", "definitions"] {
        let Some(Value::Object(outer)) = outer.get(key) else { continue };
        let Value::Object(names) = inner.entry(key).or_insert_with(|| Map::new().into()) else {
            return WrappedResult::No;
        };
        for (name, schema) in outer {
            names.entry(name).or_insert_with(|| schema.clone());
        }
    }
    let inner = Value::Object(inner);
    if refers_outside_definitions(&inner) { WrappedResult::Stuck } else { WrappedResult::Inner(inner) }
}

fn is_marked(schema: &Map<String, Value>) -> bool {
    schema.get(MARK) == Some(&Value::Bool(true))
}

/// Whether the official SDK made it of a function: `{"properties": {"result": …}, "required": ["result"], "title":
/// "addOutput", "type": "object"}`.
fn is_of_sdk(schema: &Map<String, Value>) -> bool {
    let title = schema.get("title").and_then(Value::as_str).unwrap_or_default();
    let required = schema.get("required").and_then(Value::as_array);
    schema.keys().all(|key| SDK_KEYS.contains(&key.as_str()))
        && schema.get("type").and_then(Value::as_str) == Some("object")
        && required.is_some_and(|names| matches!(names.as_slice(), [name] if name == "result"))
        && title.strip_suffix("Output").is_some_and(|name| name.starts_with(|first: char| !first.is_uppercase()))
}

fn refers_outside_definitions(schema: &Value) -> bool {
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Object(members) => {
                let moves = |target: &str| target == "#" || target.starts_with("#/properties");
                if members.get("$ref").and_then(Value::as_str).is_some_and(moves) {
                    return true;
                }
                waiting.extend(members.values());
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::is_result_wrapped;
    use serde_json::{Value, json};

    fn of_sdk(title: &str, result: Value) -> Value {
        json!({ "properties": { "result": result }, "required": ["result"], "title": title, "type": "object" })
    }

    /// As versions 1.30 and 2.3 of the SDK list them.
    #[test]
    fn what_the_official_sdk_wraps_is_recognised() {
        let point =
            json!({ "properties": { "x": { "title": "X", "type": "integer" } }, "required": ["x"], "title": "P" });
        let mut optional =
            of_sdk("find_pointOutput", json!({ "anyOf": [{ "$ref": "#/$defs/P" }, { "type": "null" }] }));
        optional["$defs"] = json!({ "P": point });
        for schema in [
            of_sdk("addOutput", json!({ "title": "Result", "type": "integer" })),
            of_sdk("_privateOutput", json!({ "title": "Result", "type": "null" })),
            optional,
        ] {
            assert!(is_result_wrapped(&schema), "{schema}");
        }
    }

    #[test]
    fn a_models_own_member_is_not_taken_for_that() {
        let integer = json!({ "title": "Result", "type": "integer" });
        let with = |key: &str, value: Value| {
            let mut schema = of_sdk("addOutput", integer.clone());
            schema[key] = value;
            schema
        };
        for schema in [
            of_sdk("AddOutput", integer.clone()),
            of_sdk("Answer", integer.clone()),
            of_sdk("Output", integer.clone()),
            with("description", json!("a docstring")),
            with("additionalProperties", json!(false)),
            with("required", json!([])),
            with("required", json!(["result", "more"])),
            with("properties", json!({ "result": {}, "more": {} })),
            with("type", json!(["object"])),
            json!({ "type": "object", "properties": { "result": integer }, "required": ["result"] }),
            json!(true),
        ] {
            assert!(!is_result_wrapped(&schema), "{schema}");
        }
    }
}
