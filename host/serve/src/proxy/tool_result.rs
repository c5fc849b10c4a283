//! Conversion of call results to MCP. `_meta` carries what MCP cannot express, for another host of this project.

use crate::calls::error_text;
use crate::exposure::{ExposedTool, Output};
use agent_spaces_mcp::results::own_host;
use agent_spaces_types::capability_error::CapabilityError;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::{Value, json};

/// Converts a value: to text, and to structured content if the tool has an output schema.
pub(super) fn of_value(value: Value, exposed: &ExposedTool) -> CallToolResult {
    let (text, kind) = match &value {
        // A string is passed on as it is.
        Value::String(text) => (text.clone(), own_host::TEXT),
        value => (value.to_string(), own_host::JSON),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = match exposed.output {
        Output::Unknown => None,
        Output::Object => value.is_object().then_some(value),
        Output::Wrapped => Some(json!({ "result": value })),
    };
    if result.structured_content.is_none() {
        result.meta = Some(meta(own_host::CONTENT, json!(kind)));
    }
    result
}

/// Converts an error to a tool result.
pub(super) fn of_error(error: &CapabilityError) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(error_text(error))]);
    result.meta = serde_json::to_value(error).ok().map(|error| meta(own_host::ERROR, error));
    result
}

fn meta(key: &str, value: Value) -> MetaObject {
    MetaObject(JsonObject::from_iter([(key.to_owned(), value)]))
}
