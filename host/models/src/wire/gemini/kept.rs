//! Data that Gemini requires back with its answers, as a conversation keeps it.
//!
//! A signature belongs to one part, and is sent back on that part. On a call it is in [`ToolCall::opaque`]. On text or
//! a thought it is in [`crate::Reasoning::data`], for text in an own reasoning part right after it. Parts that a
//! conversation has no form for, such as code that Gemini ran itself, are kept whole.

use serde_json::{Map, Value, json};

use crate::assembler;
use crate::{Origin, ToolCall};

const SIGNATURE: &str = "thoughtSignature";

/// Content of [`crate::Reasoning::data`].
#[derive(Debug, PartialEq)]
pub(super) enum Kept {
    /// Signature of this thought.
    Thought(String),
    /// Signature of the text part before.
    Text(String),
    /// A whole part.
    Part(Value),
}

impl Kept {
    /// Bytes that it holds.
    pub(super) fn size(&self) -> usize {
        match self {
            Kept::Thought(signature) | Kept::Text(signature) => signature.len(),
            Kept::Part(part) => assembler::size(part),
        }
    }

    pub(super) fn into_value(self) -> Value {
        match self {
            Kept::Thought(signature) => json!({"thought": signature}),
            Kept::Text(signature) => json!({"text": signature}),
            Kept::Part(part) => json!({"part": part}),
        }
    }

    /// Reads what `into_value` wrote.
    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let signature = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        if let Some(signature) = signature("thought") {
            Some(Kept::Thought(signature))
        } else if let Some(signature) = signature("text") {
            Some(Kept::Text(signature))
        } else {
            value.get("part").filter(|part| part.is_object()).cloned().map(Kept::Part)
        }
    }
}

/// Signature of a part of an answer.
pub(super) fn signature(part: &Value) -> Option<&str> {
    part.get(SIGNATURE).and_then(Value::as_str).filter(|signature| !signature.is_empty())
}

/// Puts a signature on a part of a request.
pub(super) fn sign(part: &mut Value, signature: &str) {
    if let Some(part) = part.as_object_mut() {
        part.insert(SIGNATURE.to_owned(), Value::from(signature));
    }
}

/// Kept data of a call: its signature, and the id that the model gave.
pub(super) fn of_call(signature: Option<&str>, id: Option<&str>) -> Option<Value> {
    let mut kept = Map::new();
    if let Some(signature) = signature {
        kept.insert(SIGNATURE.to_owned(), Value::from(signature));
    }
    if let Some(id) = id {
        kept.insert("id".to_owned(), Value::from(id));
    }
    (!kept.is_empty()).then_some(Value::Object(kept))
}

/// Signature and id of a call, if this model gave them.
pub(super) fn in_call<'a>(origin: &Origin, call: &'a ToolCall) -> (Option<&'a str>, Option<&'a str>) {
    match &call.opaque {
        Some(opaque) if opaque.from == *origin => {
            (signature(&opaque.value), opaque.value.get("id").and_then(Value::as_str))
        }
        _ => (None, None),
    }
}
