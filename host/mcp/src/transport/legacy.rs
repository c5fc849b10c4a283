//! Compatibility with older servers: converts their messages to the current protocol.

use serde_json::{Map, Value, json};

/// Converts a message of an older or sloppy server to one that the SDK accepts.
///
/// - A tool's `parameters` become its `inputSchema`; a tool without a schema gets the empty one.
/// - Of a response with both `result` and `error`, the null one is dropped.
pub fn normalise(message: &mut Value) {
    let Some(message) = message.as_object_mut() else { return };
    drop_the_null_one(message);
    let Some(tools) = message.get_mut("result").and_then(|result| result.get_mut("tools")) else { return };
    for tool in tools.as_array_mut().into_iter().flatten() {
        if let Some(tool) = tool.as_object_mut() {
            name_the_schema(tool);
        }
    }
}

fn drop_the_null_one(message: &mut Map<String, Value>) {
    match (message.get("result"), message.get("error")) {
        (Some(_), Some(Value::Null)) => message.shift_remove("error"),
        (Some(Value::Null), Some(_)) => message.shift_remove("result"),
        _ => None,
    };
}

fn name_the_schema(tool: &mut Map<String, Value>) {
    if !tool.get("name").is_some_and(Value::is_string)
        || tool.get("inputSchema").is_some_and(|schema| !schema.is_null())
    {
        return;
    }
    let schema = match tool.get("parameters") {
        Some(Value::Object(_)) => tool.shift_remove("parameters"),
        _ => None,
    };
    tool.insert("inputSchema".to_owned(), schema.unwrap_or_else(|| json!({ "type": "object", "properties": {} })));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool_of(tool: Value) -> Value {
        let mut message = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [tool] } });
        normalise(&mut message);
        message["result"]["tools"][0].clone()
    }

    #[test]
    fn parameters_become_the_input_schema() {
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
        let tool = tool_of(json!({ "name": "t", "parameters": schema, "x-own": 1 }));
        assert_eq!(tool, json!({ "name": "t", "inputSchema": schema, "x-own": 1 }));
    }

    #[test]
    fn a_given_input_schema_wins() {
        let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "parameters": { "a": 1 } });
        assert_eq!(tool_of(tool.clone()), tool);
    }

    #[test]
    fn tools_without_a_schema_get_the_empty_one() {
        let empty = json!({ "type": "object", "properties": {} });
        assert_eq!(tool_of(json!({ "name": "t" }))["inputSchema"], empty);
        assert_eq!(tool_of(json!({ "name": "t", "inputSchema": null }))["inputSchema"], empty);
        assert_eq!(tool_of(json!({ "name": "t", "parameters": [] }))["inputSchema"], empty);
    }

    #[test]
    fn other_messages_stay_as_they_are() {
        for message in [
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [{ "parameters": {} }] } }),
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": { "name": "t" } } }),
            json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": ["t", { "title": "no name" }] } }),
            json!({ "jsonrpc": "2.0", "id": 1, "result": null }),
            json!([1, 2]),
        ] {
            let mut normalised = message.clone();
            normalise(&mut normalised);
            assert_eq!(normalised, message);
        }
    }

    #[test]
    fn a_null_error_beside_a_result_is_dropped() {
        let mut message = json!({ "jsonrpc": "2.0", "id": 1, "result": {}, "error": null });
        normalise(&mut message);
        assert_eq!(message, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
        let mut message = json!({ "jsonrpc": "2.0", "id": 1, "result": null, "error": { "code": 1, "message": "m" } });
        normalise(&mut message);
        assert_eq!(message, json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": 1, "message": "m" } }));
    }
}
