//! What a call gave, as MCP says it.

use super::exposed::{ExposedTool, Output};
use crate::handlers::CapabilityError;
use crate::serve::calls::told;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// A value: as text, and as structured content where the tool says what that is.
pub(super) fn of_value(value: Value, exposed: &ExposedTool) -> CallToolResult {
    let text = match &value {
        // A text is one as it is, which is also how a host behind this one reads it.
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = match exposed.output {
        Output::Unknown => None,
        Output::Object => value.is_object().then_some(value),
        Output::Wrapped => Some(json!({ "result": value })),
    };
    result
}

/// Why there is no value, in words that a model can act on.
pub(super) fn of_error(error: &CapabilityError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(told(error))])
}
