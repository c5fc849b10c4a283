//! Body of a request to Ollama.

use serde_json::{Map, Value, json};

use crate::wire::json::merge;
use crate::{Message, Origin, Part, Request, Role, Tool, ToolCall, ToolChoice, ToolResult};

/// Writes the body.
pub(super) fn body(origin: &Origin, request: &Request) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), Value::from(request.model.as_str()));
    body.insert("messages".to_owned(), Value::Array(messages(origin, request)));
    // Without it, Ollama streams.
    body.insert("stream".to_owned(), Value::from(request.stream));
    let tools: Vec<Value> =
        request.tools.iter().filter(|tool| is_offered(&request.tool_choice, tool)).map(write_tool).collect();
    if !tools.is_empty() {
        body.insert("tools".to_owned(), Value::Array(tools));
    }
    if let Some(output) = &request.output {
        body.insert("format".to_owned(), output.schema.clone());
    }
    let options = options(request);
    if !options.is_empty() {
        body.insert("options".to_owned(), Value::Object(options));
    }
    merge(&mut body, &request.options);
    Value::Object(body)
}

fn is_offered(choice: &ToolChoice, tool: &Tool) -> bool {
    match choice {
        ToolChoice::Auto | ToolChoice::Required => true,
        ToolChoice::None => false,
        ToolChoice::Tool(name) => *name == tool.name,
    }
}

fn write_tool(tool: &Tool) -> Value {
    let function = json!({"name": tool.name, "description": tool.description, "parameters": tool.parameters});
    json!({"type": "function", "function": function})
}

fn options(request: &Request) -> Map<String, Value> {
    let mut options = Map::new();
    if let Some(tokens) = request.max_output_tokens {
        options.insert("num_predict".to_owned(), Value::from(tokens));
    }
    if let Some(temperature) = request.temperature {
        options.insert("temperature".to_owned(), Value::from(temperature));
    }
    if let Some(top_p) = request.top_p {
        options.insert("top_p".to_owned(), Value::from(top_p));
    }
    if !request.stop.is_empty() {
        options.insert("stop".to_owned(), json!(request.stop));
    }
    options
}

fn messages(origin: &Origin, request: &Request) -> Vec<Value> {
    let mut written = Vec::new();
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        written.push(json!({"role": "system", "content": system}));
    }
    for group in request.messages.chunk_by(|one, next| one.role == next.role) {
        match group.first().map(|message| message.role) {
            Some(Role::User) => written.extend(group.iter().filter_map(user)),
            Some(Role::Assistant) => written.extend(group.iter().filter_map(|message| assistant(origin, message))),
            Some(Role::Tool) => results(group, &mut written),
            None => {}
        }
    }
    written
}

/// Results. Not every template shows images of a tool's message: they follow all results, as a user's.
fn results(group: &[Message], written: &mut Vec<Value>) {
    let mut images = Vec::new();
    for part in group.iter().flat_map(|message| &message.parts) {
        if let Part::ToolResult(result) = part {
            written.push(write_result(result));
            images.extend(result.images.iter().map(|image| image.data.as_str()));
        }
    }
    if !images.is_empty() {
        written.push(json!({"role": "user", "content": "Images in the results:", "images": images}));
    }
}

fn user(message: &Message) -> Option<Value> {
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => texts.push(text.as_str()),
            Part::Image(image) => images.push(image.data.as_str()),
            _ => {}
        }
    }
    let mut written = json!({"role": "user", "content": texts.join("\n")});
    if !images.is_empty() {
        written["images"] = json!(images);
    }
    (!texts.is_empty() || !images.is_empty()).then_some(written)
}

/// An assistant message. Thinking without text or calls is not sent back.
fn assistant(origin: &Origin, message: &Message) -> Option<Value> {
    let mut thinking = String::new();
    let mut calls = Vec::new();
    for part in &message.parts {
        match part {
            Part::Reasoning(reasoning) if reasoning.from == *origin => thinking.push_str(&reasoning.text),
            Part::ToolCall(call) => calls.push(write_call(call)),
            _ => {}
        }
    }
    let text = message.text();
    if text.is_empty() && calls.is_empty() {
        return None;
    }
    let mut written = json!({"role": "assistant", "content": text});
    if !thinking.is_empty() {
        written["thinking"] = Value::from(thinking);
    }
    if !calls.is_empty() {
        written["tool_calls"] = Value::Array(calls);
    }
    Some(written)
}

fn write_call(call: &ToolCall) -> Value {
    json!({"id": call.id, "function": {"name": call.name, "arguments": call.arguments.to_object()}})
}

/// A result. Templates tell results apart by name or by id, so both are sent.
fn write_result(result: &ToolResult) -> Value {
    json!({"role": "tool", "content": result.text, "tool_name": result.name, "tool_call_id": result.call_id})
}
