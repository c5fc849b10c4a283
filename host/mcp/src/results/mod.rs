//! Conversion of results from a server to data for scripts.
//!
//! # Conversion of a tool result
//! 1. `isError`: a [`CallError::Tool`] with the server's text, or the error of [another host](own_host).
//! 2. `structuredContent` that is not null: that value. Text blocks repeat it and are left out. Images, audio and resources
//!    that it does not contain go to its member [`CONTENT_MEMBER`]. A value that cannot have the member is wrapped in
//!    `{ structuredContent, $content }`.
//! 3. Text only: the blocks joined by newlines, parsed as JSON if that is lossless: objects and arrays only (`json_text`),
//!    also in Python syntax (`python_text`). From [another host](own_host), the value with its type.
//! 4. Any other blocks: the list of blocks, in the server's order.
//! 5. `toolResult`, of the first protocol version: that value.
//! 6. None of these: the empty string.
//!
//! Secrets are redacted, and `_meta` of blocks is removed. For forwarding a result unchanged to another client, see
//! [`whole`].

mod binary;
mod content;
mod json_text;
pub mod own_host;
mod python_text;

use crate::error::CallError;
use agent_spaces_secrets::Redactor;
use content::Blocks;
use serde_json::{Map, Value, json};

/// Member for images and other blocks beside structured content.
pub const CONTENT_MEMBER: &str = "$content";

/// Member of a tool result in the first protocol version, instead of `content`.
pub(crate) const TOOL_RESULT: &str = "toolResult";

/// Length limit of structured content used as the text of an error without text.
const MAX_ERROR_JSON: usize = 2_000;

/// Converts the result of `tools/call` to data for a script.
pub fn data(mut whole: Value, redactor: &Redactor) -> Result<Value, CallError> {
    let result = object(&whole, "the result")?;
    let structured = result.get("structuredContent").filter(|value| !value.is_null());
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    let blocks = Blocks::of(result.get("content"));
    if is_error {
        let said = || tool_error(blocks.ok(), structured, redactor);
        return Err(own_host::error(&whole, redactor).unwrap_or_else(said));
    }
    let blocks = blocks?;
    let mut data = match structured {
        // It may be large: move it instead of copying it.
        Some(structured) if blocks.are_text() || blocks.are_contained_in(structured) => {
            whole.get_mut("structuredContent").map(Value::take).unwrap_or_default()
        }
        Some(structured) => {
            let content = blocks.beside(structured, redactor)?;
            with_content(whole.get_mut("structuredContent").map(Value::take).unwrap_or_default(), content)
        }
        None if result.get("content").is_none() && result.contains_key(TOOL_RESULT) => {
            whole.get_mut(TOOL_RESULT).map(Value::take).unwrap_or_default()
        }
        None if blocks.are_text() => match own_host::value(&whole, &blocks.texts()) {
            Some(value) => value,
            None => json_text::data(&blocks.texts())?,
        },
        None => Value::Array(blocks.values(redactor)?),
    };
    redactor.value(&mut data);
    Ok(data)
}

/// Returns the complete result of `tools/call` for forwarding: all blocks, structured content and `_meta`, with secrets
/// redacted. Returns `None` if its blocks are invalid, or if it only has `toolResult`, which current clients do not know.
pub fn whole(result: &Value, redactor: &Redactor) -> Option<Value> {
    let mut result = object(result, "the result").ok()?.clone();
    if result.get("content").is_none() && result.contains_key(TOOL_RESULT) {
        return None;
    }
    if let Some(Value::Array(blocks)) = result.get_mut("content") {
        for block in blocks {
            *block = content::whole_block(block, redactor).ok()?;
        }
    }
    let mut whole = Value::Object(result);
    redactor.value(&mut whole);
    Some(whole)
}

/// Converts the result of `resources/read` to data for a script: `{ contents }`.
pub fn resource(result: &Value, redactor: &Redactor) -> Result<Value, CallError> {
    let result = object(result, "the result")?;
    let contents = list(result.get("contents"), "`contents`")?;
    let contents: Vec<Value> =
        contents.iter().map(|contents| content::resource_contents(contents, redactor)).collect::<Result<_, _>>()?;
    let mut data = json!({ "contents": contents });
    redactor.value(&mut data);
    Ok(data)
}

/// Converts the result of `prompts/get` to data for a script: `{ description?, messages }`.
pub fn prompt(result: &Value, redactor: &Redactor) -> Result<Value, CallError> {
    let result = object(result, "the result")?;
    let mut messages = Vec::new();
    for message in list(result.get("messages"), "`messages`")? {
        let message = object(message, "a message")?;
        let role = text(message.get("role"), "a message's `role`")?;
        let block = message.get("content").ok_or_else(|| malformed("a message has no `content`"))?;
        messages.push(json!({ "role": role, "content": content::block(block, redactor)? }));
    }
    let mut data = Map::new();
    if let Some(description) = result.get("description").filter(|description| !description.is_null()) {
        data.insert("description".to_owned(), text(Some(description), "`description`")?.into());
    }
    data.insert("messages".to_owned(), Value::Array(messages));
    let mut data = Value::Object(data);
    redactor.value(&mut data);
    Ok(data)
}

/// Returns the error of a failed tool. Invalid blocks must not hide that it failed.
fn tool_error(blocks: Option<Blocks<'_>>, structured: Option<&Value>, redactor: &Redactor) -> CallError {
    let mut details = structured.cloned();
    if let Some(details) = &mut details {
        redactor.value(details);
    }
    let text = blocks.map(|blocks| blocks.texts().join("\n")).unwrap_or_default();
    let text = match &details {
        _ if !text.trim().is_empty() => redactor.text(&text).into_owned(),
        Some(details) => cut(details.to_string(), MAX_ERROR_JSON),
        None => "the tool failed without an error message".to_owned(),
    };
    CallError::Tool { text, details }
}

fn with_content(structured: Value, content: Vec<Value>) -> Value {
    match structured {
        Value::Object(mut members) if !members.contains_key(CONTENT_MEMBER) => {
            members.insert(CONTENT_MEMBER.to_owned(), Value::Array(content));
            Value::Object(members)
        }
        structured => json!({ "structuredContent": structured, CONTENT_MEMBER: content }),
    }
}

/// Truncates text to `limit` bytes and appends an ellipsis.
fn cut(mut text: String, limit: usize) -> String {
    if text.len() > limit {
        text.truncate(text.floor_char_boundary(limit));
        text.push('…');
    }
    text
}

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, CallError> {
    value.as_object().ok_or_else(|| malformed(&format!("{what} is not an object")))
}

/// Returns a list; absent and null are empty.
fn list<'a>(value: Option<&'a Value>, what: &str) -> Result<&'a [Value], CallError> {
    match value {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => Err(malformed(&format!("{what} is not a list"))),
    }
}

fn text<'a>(value: Option<&'a Value>, what: &str) -> Result<&'a str, CallError> {
    value.and_then(Value::as_str).ok_or_else(|| malformed(&format!("{what} is not text")))
}

fn malformed(message: &str) -> CallError {
    CallError::Malformed(message.to_owned())
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
