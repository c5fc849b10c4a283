//! MCP definitions of the two tools of toolbox mode.

use crate::object;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::json;

pub(super) const OPEN: &str = "open_toolbox";
pub(super) const USE: &str = "use_tool";

/// Lists the tools.
pub(super) fn list() -> Vec<Tool> {
    vec![open(), use_tool()]
}

fn open() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "toolbox": { "type": "string", "minLength": 1, "description": "Name of the toolbox" },
        },
        "required": ["toolbox"], "additionalProperties": false,
    });
    let text = json!({ "type": "string" });
    let output = json!({
        "type": "object",
        "properties": {
            "toolbox": text, "description": text, "servers_connected": { "type": "integer" },
            "tools": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "name": text, "description": text, "inputSchema": { "type": "object" }, "server": text, "toolbox": text,
                },
                "required": ["name", "description", "inputSchema", "server", "toolbox"],
            } },
        },
        "required": ["toolbox", "description", "servers_connected", "tools"],
    });
    let description = "Connect to all MCP servers in a toolbox and return available tools.";
    let mut tool = Tool::new(OPEN, description, object(input));
    tool.title = Some("Open a toolbox".to_owned());
    tool.output_schema = Some(object(output));
    tool.annotate(ToolAnnotations::new().read_only(true).idempotent(true).open_world(true))
}

fn use_tool() -> Tool {
    let name = |what: &str| json!({ "type": "string", "minLength": 1, "description": what });
    let input = json!({
        "type": "object",
        "properties": {
            "tool": {
                "type": "object",
                "properties": {
                    "toolbox": name("Name of an open toolbox"), "server": name("Name of the tool's server"),
                    "tool": name("Name of the tool"),
                },
                "required": ["toolbox", "server", "tool"], "additionalProperties": false,
            },
            "arguments": { "type": "object", "description": "Arguments that match the tool's inputSchema" },
        },
        "required": ["tool"], "additionalProperties": false,
    });
    let description = "Execute a tool from an opened toolbox by delegating to the downstream MCP server.";
    let mut tool = Tool::new(USE, description, object(input));
    tool.title = Some("Use a tool".to_owned());
    tool.annotate(ToolAnnotations::new().read_only(false).destructive(true).idempotent(false).open_world(true))
}
