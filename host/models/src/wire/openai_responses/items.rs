//! Output items: state of one while it is read, and the data that is sent back.

use serde_json::{Value, json};

use crate::Finish;
use crate::bounds::MAX_ID;
use crate::wire::json::{elements, excerpt, text_or_empty};

/// State of an item.
pub(super) struct Item {
    /// Number of items before. Not the key: a server may count wrongly, and two calls have one key then.
    pub(super) serial: usize,
    pub(super) kind: Kind,
    pub(super) done: bool,
    /// True if text was reported.
    pub(super) told: bool,
    /// Piece that the last reasoning belonged to.
    pub(super) piece: Option<Piece>,
    /// Data of the part before a message's text.
    pub(super) marker: Option<Value>,
    /// Key of the call in the assembler, once it has begun.
    pub(super) call: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Message,
    Reasoning,
    Call,
    Other,
}

/// A part of a reasoning item.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// Of the summary, by index.
    Summary(u64),
    /// Of the reasoning itself, by index.
    Content(u64),
}

impl Kind {
    pub(super) fn of(item: &Value) -> Kind {
        match text_or_empty(item, "type") {
            "message" => Kind::Message,
            "reasoning" => Kind::Reasoning,
            "function_call" => Kind::Call,
            _ => Kind::Other,
        }
    }
}

/// The key of an item that has no index.
pub(super) fn named(id: &str) -> String {
    format!("id:{id}")
}

/// Data of the part before a message's text, if the message has a phase.
pub(super) fn marker(item: &Value) -> Option<Value> {
    let (id, phase) = (text_or_empty(item, "id"), text_or_empty(item, "phase"));
    if text_or_empty(item, "type") != "message" || phase.is_empty() || id.len().max(phase.len()) > MAX_ID {
        return None;
    }
    let mut marker = json!({ "type": "message", "phase": phase });
    if !id.is_empty() {
        marker["id"] = json!(id);
    }
    Some(marker)
}

/// A reasoning item as the next request sends it back.
pub(super) fn given_back(item: &Value) -> Value {
    let mut thought = json!({ "type": "reasoning", "summary": texts(item, "summary", "summary_text") });
    for name in ["id", "encrypted_content"] {
        if let Some(value) = item.get(name).filter(|value| value.is_string()) {
            thought[name] = value.clone();
        }
    }
    let content = texts(item, "content", "reasoning_text");
    if !content.is_empty() {
        thought["content"] = Value::Array(content);
    }
    thought
}

/// The texts of a member, without what else a server may put there.
fn texts(item: &Value, name: &str, kind: &str) -> Vec<Value> {
    let texts = elements(item, name).iter().map(|text| text_or_empty(text, "text")).filter(|text| !text.is_empty());
    texts.map(|text| json!({ "type": kind, "text": text })).collect()
}

/// Finish reason of an incomplete response.
pub(super) fn incomplete(details: &Value) -> Finish {
    match text_or_empty(details, "reason") {
        "max_output_tokens" => Finish::Length,
        "content_filter" => Finish::Refused("content_filter".to_owned()),
        "" => Finish::Other("incomplete".to_owned()),
        reason => Finish::Other(excerpt(reason)),
    }
}
