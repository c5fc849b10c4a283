//! What a call gave, as MCP says it; and for another host of this project, all that MCP has no place for.

use super::exposed::{ExposedTool, Output};
use crate::handlers::CapabilityError;
use crate::serve::calls::told;
use agent_spaces_mcp::results::own_host;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use serde_json::{Value, json};

/// A value: as text, and as structured content where the tool says what that is.
pub(super) fn of_value(value: Value, exposed: &ExposedTool) -> CallToolResult {
    let (text, kind) = match &value {
        // A text is one as it is.
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

/// Why there is no value, in words that a model can act on.
pub(super) fn of_error(error: &CapabilityError) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(told(error))]);
    result.meta = serde_json::to_value(error).ok().map(|error| meta(own_host::ERROR, error));
    result
}

fn meta(key: &str, value: Value) -> MetaObject {
    MetaObject(JsonObject::from_iter([(key.to_owned(), value)]))
}
