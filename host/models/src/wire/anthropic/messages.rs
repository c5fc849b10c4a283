//! Conversation of a request: alternating messages of `user` and `assistant`, made of content blocks.

use serde_json::{Map, Value, json};

use super::call_ids::{self, CallIds};
use crate::{Image, Message, Origin, Part, Reasoning, Role, ToolResult};

const USER: &str = "user";
const ASSISTANT: &str = "assistant";
/// Longest name of a tool.
const MAX_NAME: usize = 128;
/// Text of a failed call that said nothing: the format refuses an error without text.
const SILENT_FAILURE: &str = "The call failed without a message.";

/// Writes the conversation for `origin`. Messages without content are left out.
pub(super) fn write(origin: &Origin, messages: &[Message]) -> Vec<Value> {
    let mut ids = CallIds::default();
    let mut written: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in messages {
        let mut blocks = Vec::new();
        let role = match message.role {
            Role::Assistant => {
                blocks.extend(message.parts.iter().filter_map(|part| assistant_block(origin, part, &mut ids)));
                ASSISTANT
            }
            Role::User | Role::Tool => {
                for part in &message.parts {
                    user_blocks(part, &mut ids, &mut blocks);
                }
                USER
            }
        };
        if blocks.is_empty() {
            continue;
        }
        match written.last_mut() {
            Some((last, content)) if *last == role => content.append(&mut blocks),
            _ => written.push((role, blocks)),
        }
    }
    written.into_iter().map(|(role, content)| json!({"role": role, "content": in_order(content)})).collect()
}

/// The format requires results before all other blocks of their message.
fn in_order(mut content: Vec<Value>) -> Vec<Value> {
    content.sort_by_key(|block| block["type"] != "tool_result");
    content
}

fn assistant_block(origin: &Origin, part: &Part, ids: &mut CallIds) -> Option<Value> {
    match part {
        Part::Text(text) => text_block(text),
        Part::Reasoning(reasoning) => reasoning_block(origin, reasoning),
        Part::ToolCall(call) => Some(json!({
            "type": "tool_use",
            "id": ids.of_call(&call.id),
            "name": tool_name(&call.name),
            "input": call.arguments.to_object(),
        })),
        Part::Image(_) | Part::ToolResult(_) => None,
    }
}

fn user_blocks(part: &Part, ids: &mut CallIds, blocks: &mut Vec<Value>) {
    match part {
        Part::Text(text) => blocks.extend(text_block(text)),
        Part::Image(image) => blocks.push(image_block(image)),
        Part::ToolResult(result) => result_blocks(result, ids, blocks),
        Part::Reasoning(_) | Part::ToolCall(_) => {}
    }
}

/// The format refuses text that is empty or only space.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn image_block(image: &Image) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": image.data}})
}

/// The result of a failed call may hold text alone: its images follow as blocks of the message.
fn result_blocks(result: &ToolResult, ids: &mut CallIds, blocks: &mut Vec<Value>) {
    let mut content: Vec<Value> = text_block(&result.text).into_iter().collect();
    let mut images: Vec<Value> = result.images.iter().map(image_block).collect();
    let mut block = Map::new();
    block.insert("type".to_owned(), json!("tool_result"));
    block.insert("tool_use_id".to_owned(), json!(ids.of_result(&result.call_id)));
    if result.is_error {
        block.insert("is_error".to_owned(), json!(true));
        if content.is_empty() {
            content.extend(text_block(SILENT_FAILURE));
        }
    } else {
        content.append(&mut images);
    }
    if !content.is_empty() {
        block.insert("content".to_owned(), Value::Array(content));
    }
    blocks.push(Value::Object(block));
    blocks.append(&mut images);
}

/// Reasoning goes back to the model that produced it: thinking with its signature, other blocks unchanged.
fn reasoning_block(origin: &Origin, reasoning: &Reasoning) -> Option<Value> {
    if reasoning.from != *origin {
        return None;
    }
    let mut block = reasoning.data.as_ref()?.as_object()?.clone();
    if block.get("type")?.as_str()? == "thinking" {
        block.insert("thinking".to_owned(), json!(reasoning.text));
    }
    Some(Value::Object(block))
}

/// A model may call a tool by a name that the format refuses. That call has failed; the next request must not.
fn tool_name(name: &str) -> String {
    if name.is_empty() {
        return "_".to_owned();
    }
    name.chars().take(MAX_NAME).map(call_ids::plain).collect()
}
