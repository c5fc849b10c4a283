//! What a server answers, as data for scripts.
//!
//! # What a tool's answer becomes
//! 1. `isError`: a [`CallError::Tool`] with the server's text, or what [another host](own_host) says of it.
//! 2. `structuredContent` that is not null: that value. Text beside it is its mirror and left out; where there are
//!    images, audio or resources too that it does not hold itself, they stand in its member [`CONTENT_MEMBER`]. A value
//!    that cannot have the member is put into `{ structuredContent, $content }`.
//! 3. Text only: the blocks joined by newlines, read as JSON where that changes nothing: objects and arrays only, see
//!    `json_text`. Of [another host](own_host), the value that it says it is.
//!    `json_text`; also as Python prints them, see `python_text`.
//! 4. Anything else among the blocks: the list of blocks, in the server's order.
//! 5. `toolResult`, as the first version of the protocol had it: that value.
//! 6. Nothing: the empty string.
//!
//! Secrets are taken out of all of it, and `_meta` of blocks, which is not for scripts. Who passes an answer on to another
//! client needs it as it is: see [`whole`].

mod binary;
mod content;
mod json_text;
pub mod own_host;
mod python_text;

use crate::error::CallError;
use crate::secrets::Redactor;
use content::Blocks;
use serde_json::{Map, Value, json};

/// Where images and the like stand beside structured content.
pub const CONTENT_MEMBER: &str = "$content";

/// Where the first version of the protocol has a tool's answer, in place of `content`.
pub(crate) const TOOL_RESULT: &str = "toolResult";

/// How much of structured content is shown as the text of an error that has no text.
const MAX_ERROR_JSON: usize = 2_000;

/// What a script gets for the answer to `tools/call`.
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
        // It may be large: it is taken, not copied.
        Some(structured) if blocks.are_text() || blocks.stand_in(structured) => {
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

/// The whole answer to `tools/call`, for who passes it on as it is: all blocks, structured content and `_meta`, without
/// secrets. Nothing where its blocks make no sense, or where it has none: today's clients do not know `toolResult`.
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

/// What a script gets for the answer to `resources/read`: `{ contents }`.
pub fn resource(result: &Value, redactor: &Redactor) -> Result<Value, CallError> {
    let result = object(result, "the result")?;
    let contents = list(result.get("contents"), "`contents`")?;
    let contents: Vec<Value> =
        contents.iter().map(|contents| content::resource_contents(contents, redactor)).collect::<Result<_, _>>()?;
    let mut data = json!({ "contents": contents });
    redactor.value(&mut data);
    Ok(data)
}

/// What a script gets for the answer to `prompts/get`: `{ description?, messages }`.
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

/// A failed tool says why in whatever way it can; blocks that make no sense must not hide that it failed.
fn tool_error(blocks: Option<Blocks<'_>>, structured: Option<&Value>, redactor: &Redactor) -> CallError {
    let mut details = structured.cloned();
    if let Some(details) = &mut details {
        redactor.value(details);
    }
    let text = blocks.map(|blocks| blocks.texts().join("\n")).unwrap_or_default();
    let text = match &details {
        _ if !text.trim().is_empty() => redactor.text(&text).into_owned(),
        Some(details) => cut(details.to_string(), MAX_ERROR_JSON),
        None => "the tool failed and does not say why".to_owned(),
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

/// Text of at most so many bytes, with a sign that there was more.
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

/// A list; absent and null are the empty one.
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
