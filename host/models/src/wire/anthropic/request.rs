//! Body of a request.

use serde_json::{Map, Value, json};

use super::{cache, messages, schema};
use crate::wire::json;
use crate::{ModelError, ModelErrorKind, Origin, Part, Request, ToolChoice};

/// `max_tokens` where the request has no bound, since the format demands one. It is enough for a long file in one call,
/// every model that is served takes it, and a model that runs wild costs little before it is stopped.
const DEFAULT_MAX_TOKENS: u64 = 16_384;

/// Member of the body by which the provider places cache breakpoints itself. Where the options have it, even as `null`,
/// this wire places none.
const CACHE_CONTROL: &str = "cache_control";

/// Name of the tool that stands in for tools that were taken away. It cannot be called.
const NO_TOOL: &str = "no_tool";

/// Writes the body of a request to `origin`.
pub(super) fn body(origin: &Origin, request: &Request) -> Result<Value, ModelError> {
    let mut messages = messages::write(origin, &request.messages);
    if messages.is_empty() {
        let fault = "the conversation is empty; add a user message";
        return Err(ModelError::of(origin, ModelErrorKind::Configuration, fault));
    }
    let mut system = system(request);
    let mut tools = tools(request);
    if !request.options.contains_key(CACHE_CONTROL) {
        cache::mark(&mut tools, &mut system, &mut messages);
    }

    let mut body = Map::new();
    let mut put = |name: &str, value: Value| body.insert(name.to_owned(), value);
    put("model", json!(request.model));
    put("max_tokens", json!(max_tokens(request)));
    if !tools.is_empty() {
        put("tools", Value::Array(tools));
        if let Some(choice) = tool_choice(request) {
            put("tool_choice", choice);
        }
    } else if has_calls(request) {
        // The format refuses calls and results in a conversation without any tool.
        put("tools", json!([{"name": NO_TOOL, "input_schema": {"type": "object"}}]));
        put("tool_choice", json!({"type": "none"}));
    }
    if !system.is_empty() {
        put("system", Value::Array(system));
    }
    put("messages", Value::Array(messages));
    if let Some(temperature) = request.temperature {
        put("temperature", json!(temperature));
    }
    if let Some(top_p) = request.top_p {
        put("top_p", json!(top_p));
    }
    if !request.stop.is_empty() {
        put("stop_sequences", json!(request.stop));
    }
    if let Some(output) = &request.output {
        put("output_config", json!({"format": {"type": "json_schema", "schema": schema::adapt(&output.schema)}}));
    }
    if request.stream {
        put("stream", json!(true));
    }
    json::merge(&mut body, &request.options);
    if body.get(CACHE_CONTROL).is_some_and(Value::is_null) {
        body.remove(CACHE_CONTROL);
    }
    Ok(Value::Object(body))
}

fn has_calls(request: &Request) -> bool {
    let mut parts = request.messages.iter().flat_map(|message| &message.parts);
    parts.any(|part| matches!(part, Part::ToolCall(_) | Part::ToolResult(_)))
}

/// A thinking budget counts towards `max_tokens`, which has to exceed it.
fn max_tokens(request: &Request) -> u64 {
    if let Some(bound) = request.max_output_tokens {
        return u64::from(bound);
    }
    let budget = request.options.get("thinking").and_then(|thinking| thinking.get("budget_tokens"));
    DEFAULT_MAX_TOKENS.saturating_add(budget.and_then(Value::as_u64).unwrap_or(0))
}

/// Blocks of the system prompt. The format refuses text that is empty or only space.
fn system(request: &Request) -> Vec<Value> {
    let text = request.system.as_deref().filter(|text| !text.trim().is_empty());
    text.map(|text| json!({"type": "text", "text": text})).into_iter().collect()
}

fn tools(request: &Request) -> Vec<Value> {
    let tool = |tool: &crate::Tool| {
        let mut written = Map::new();
        written.insert("name".to_owned(), json!(tool.name));
        if !tool.description.is_empty() {
            written.insert("description".to_owned(), json!(tool.description));
        }
        written.insert("input_schema".to_owned(), tool.parameters.clone());
        Value::Object(written)
    };
    request.tools.iter().map(tool).collect()
}

/// `None` where it would say what the provider does by itself.
fn tool_choice(request: &Request) -> Option<Value> {
    let mut choice = match &request.tool_choice {
        // This choice has no room for the flag below, nor a need.
        ToolChoice::None => return Some(json!({"type": "none"})),
        ToolChoice::Auto => Map::from_iter([("type".to_owned(), json!("auto"))]),
        ToolChoice::Required => Map::from_iter([("type".to_owned(), json!("any"))]),
        ToolChoice::Tool(name) => {
            Map::from_iter([("type".to_owned(), json!("tool")), ("name".to_owned(), json!(name))])
        }
    };
    if let Some(parallel) = request.parallel_tool_calls {
        choice.insert("disable_parallel_tool_use".to_owned(), json!(!parallel));
    } else if request.tool_choice == ToolChoice::Auto {
        return None;
    }
    Some(Value::Object(choice))
}
