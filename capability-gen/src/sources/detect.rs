//! Format detection. The rules are documented at [`super::parse`].

use super::Format;
use super::error::SourceError;
use super::flat::{self, Bias};
use super::node::Node;
use crate::names::nearest;
use serde_json::Value;

/// Maximum number of keys searched for a misspelt `functions`.
const MAX_KEYS_LOOKED_AT: usize = 32;

const FIX: &str = "Give a tool {name, functions}, a function {name, parameters}, a list of either, an MCP server's \
    {tools: […]}, or an OpenAPI document; or say which format it is.";

pub(super) fn format(root: &Node<'_>) -> Result<Format, SourceError> {
    match root.value {
        Value::Array(items) if items.is_empty() => Err(root.error("the list is empty", FIX)),
        Value::Array(_) => list(root, Format::OpenAi),
        Value::Object(_) => object(root),
        _ => Err(root.error("this is neither an object nor an array", FIX)),
    }
}

fn object(root: &Node<'_>) -> Result<Format, SourceError> {
    if root.has("openapi") || root.has("swagger") {
        return Ok(Format::OpenApi);
    }
    if is_tool(root.value) {
        return Ok(Format::Tool);
    }
    if ["jsonrpc", "result", "nextCursor"].into_iter().any(|key| root.has(key)) {
        return Ok(Format::Mcp);
    }
    if let Some(tools) = root.get("tools") {
        return list(&tools, Format::Mcp);
    }
    match one(root) {
        Some(format) => Ok(format),
        None if root.has("version") || root.has("config") => Ok(Format::Tool),
        None if root.has("name") => Ok(Format::OpenAi),
        None => Err(root.error("unknown format", FIX)),
    }
}

fn list(node: &Node<'_>, otherwise: Format) -> Result<Format, SourceError> {
    if node.items().any(|item| is_tool(item.value)) {
        return Ok(Format::Tool);
    }
    let formats = || node.items().filter_map(|item| one(&item));
    // One `inputSchema` decides, since the legacy `parameters` are ambiguous.
    if formats().any(|format| format == Format::Mcp) {
        return Ok(Format::Mcp);
    }
    Ok(formats().next().unwrap_or(otherwise))
}

fn is_tool(value: &Value) -> bool {
    let Some(members) = value.as_object() else { return false };
    members.contains_key("functions")
        || members.iter().take(MAX_KEYS_LOOKED_AT).any(|(key, value)| {
            (value.is_array() || value.is_object())
                && key != "function"
                && nearest(key, ["functions"].into_iter()).is_some()
        })
}

/// Format of one function, if it shows.
fn one(node: &Node<'_>) -> Option<Format> {
    if node.value.get("inputSchema").is_some() {
        return Some(Format::Mcp);
    }
    if node.has("input_schema") {
        return Some(Format::Anthropic);
    }
    if let Some(parameters) = node.get("parameters") {
        // The parser refuses ambiguous parameters, with their place.
        let is_flat = flat::is_flat(&parameters, Bias::None).unwrap_or(false);
        return Some(if is_flat { Format::Flat } else { Format::OpenAi });
    }
    if ["outputSchema", "annotations", "title"].into_iter().any(|key| node.has(key)) {
        return Some(Format::Mcp);
    }
    match node.value.get("type") {
        Some(kind) if kind != "function" => Some(Format::Anthropic),
        Some(_) => Some(Format::OpenAi),
        None => node.has("function").then_some(Format::OpenAi),
    }
}
