//! MCP definitions of the three tools of code mode.

use super::describe::MAX_NAMES;
use super::follow::MAX_WAIT;
use super::search::MAX_LIMIT;
use crate::object;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

pub(super) const SEARCH: &str = "search_capabilities";
pub(super) const DESCRIBE: &str = "describe_capabilities";
pub(super) const RUN: &str = "run_code";

/// Lists the tools.
pub(crate) fn list() -> Vec<Tool> {
    vec![search(), describe(), run()]
}

fn search() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "What you want to do, in plain words" },
            "limit": { "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": 10 },
        },
        "required": ["query"], "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": {
            "functions": { "type": "array", "items": {
                "type": "object",
                "properties": {
                    "name": { "type": "string" }, "module": { "type": "string" },
                    "signature": { "type": "string" }, "description": { "type": "string" },
                },
                "required": ["name", "module"],
            } },
            "notes": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["functions"],
    });
    tool(SEARCH, "Search capabilities", "Find functions to call, best match first, one per line.", input, output)
        .annotate(reading())
}

fn describe() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "names": {
                "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": MAX_NAMES,
                "description": "Functions (slack.listChannels), capabilities (slack) or modules",
            },
            "part": { "type": "integer" },
        },
        "required": ["names"], "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": {
            "declarations": { "type": "string" }, "unknown": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["declarations"],
    });
    let text = "Get the exact TypeScript declarations of functions. Read them before a call.";
    tool(DESCRIBE, "Describe capabilities", text, input, output).annotate(reading())
}

fn run() -> Tool {
    let input = json!({
        "type": "object",
        "properties": {
            "code": { "type": "string", "description": "A TypeScript module; its default export is the result" },
            "resume": { "type": "string", "description": "Handle of an earlier result, instead of code" },
            "timeout": { "type": "number", "exclusiveMinimum": 0, "description": "Time limit in seconds" },
            "wait": {
                "type": "number", "minimum": 0, "maximum": MAX_WAIT.as_secs(), "default": MAX_WAIT.as_secs(),
                "description": "Seconds to wait before you get a handle",
            },
        },
        "additionalProperties": false,
    });
    let output = json!({
        "type": "object",
        "properties": {
            "status": { "enum": ["done", "failed", "running", "awaiting_approval"] },
            "value": {}, "console": { "type": "array", "items": { "type": "string" } },
            "part": { "type": "string" }, "resume": { "type": "string" },
            "runId": { "type": "string" }, "usage": { "type": "object" },
            "waited": { "type": "number" }, "returned": { "type": "string" },
            "error": { "type": "object" }, "warnings": { "type": "string" },
            "diagnostics": { "type": "array" }, "approvals": { "type": "array", "items": { "type": "object" } },
        },
        "required": ["status"],
    });
    let text = "Run a TypeScript program in a sandbox. Filter and combine in code; return only what you need.";
    let hints = ToolAnnotations::new().read_only(false).destructive(true).idempotent(false).open_world(true);
    tool(RUN, "Run code", text, input, output).annotate(hints)
}

fn reading() -> ToolAnnotations {
    ToolAnnotations::new().read_only(true).idempotent(true).open_world(false)
}

fn tool(name: &'static str, title: &str, description: &'static str, input: Value, output: Value) -> Tool {
    let mut tool = Tool::new(name, description, object(input));
    tool.title = Some(title.to_owned());
    tool.output_schema = Some(object(output));
    tool
}
