//! Reasoning: members in which servers send it, and those that they require back.
//!
//! | member | servers | sent back |
//! |---|---|---|
//! | `reasoning_details` | OpenRouter | yes, unchanged: signatures and encrypted reasoning |
//! | `reasoning_content` | DeepSeek, llama.cpp, Qwen, Kimi | yes: DeepSeek refuses a turn with calls without it, even if it was empty; the others put it into their template or ignore it |
//! | `reasoning` | OpenRouter, vLLM, Groq | no: nobody demands it, and strict servers refuse a member that they do not know |
//!
//! All of it goes to the model it came from and to no other.

use serde_json::{Map, Value};

use super::failure::too_large;
use crate::answer::Watch;
use crate::assembler::{self, Assembler};
use crate::bounds::{MAX_ANSWER, MAX_PARTS};
use crate::wire::json::elements;
use crate::{ModelError, Origin, Part, Reasoning};

/// Members of [`Reasoning::data`]: OpenRouter's details.
const DETAILS: &str = "details";
/// The member that the text came in, if that is given back.
const FIELD: &str = "field";
/// The value of [`FIELD`].
const REASONING_CONTENT: &str = "reasoning_content";
/// Details that a piece may belong to, counted from the last. Bounds the search that each piece causes.
const OPEN_DETAILS: usize = 32;

/// Reasoning of one answer, as far as the assembler does not have it yet.
#[derive(Default)]
pub(super) struct Thoughts {
    details: Vec<Map<String, Value>>,
    bytes: usize,
    /// The server has the member `reasoning_content`.
    has_field: bool,
    /// The open part came in this member, and its data does not say so yet.
    is_unmarked: bool,
    /// Some reasoning had text.
    has_text: bool,
}

impl Thoughts {
    /// Reads the reasoning of a message or a delta. Details of a whole answer are complete; those of a stream are pieces.
    pub(super) fn read(
        &mut self,
        message: &Value,
        is_whole: bool,
        assembler: &mut Assembler,
        watch: &mut Watch<'_>,
    ) -> Result<(), ModelError> {
        let content = message.get(REASONING_CONTENT).and_then(Value::as_str);
        let plain = message.get("reasoning").and_then(Value::as_str);
        let details = elements(message, "reasoning_details");
        self.has_field |= content.is_some();
        // Servers that send both say the same in both.
        if let Some(text) = content.filter(|text| !text.is_empty()) {
            self.is_unmarked = true;
            self.text(text, assembler, watch)?;
        } else if let Some(text) = plain.filter(|text| !text.is_empty()) {
            self.text(text, assembler, watch)?;
        } else {
            for text in details.iter().filter_map(readable) {
                self.text(text, assembler, watch)?;
            }
        }
        for detail in details.iter().filter_map(Value::as_object).filter(|detail| !detail.is_empty()) {
            self.detail(detail, is_whole, assembler.origin())?;
        }
        Ok(())
    }

    /// Appends text of reasoning.
    pub(super) fn text(
        &mut self,
        text: &str,
        assembler: &mut Assembler,
        watch: &mut Watch<'_>,
    ) -> Result<(), ModelError> {
        self.has_text = true;
        assembler.reasoning(text, watch)
    }

    /// Before a call: an empty `reasoning_content` is kept, because it has to be given back with the call.
    pub(super) fn before_call(&mut self, assembler: &mut Assembler) -> Result<(), ModelError> {
        if self.has_field && !self.has_text {
            self.has_text = true;
            self.is_unmarked = true;
        }
        self.end(assembler)
    }

    /// Before another part, and at the end: gives the data of the open part to the assembler.
    pub(super) fn end(&mut self, assembler: &mut Assembler) -> Result<(), ModelError> {
        if self.details.is_empty() && !self.is_unmarked {
            return Ok(());
        }
        let details = std::mem::take(&mut self.details);
        let bytes = std::mem::take(&mut self.bytes);
        let is_unmarked = std::mem::take(&mut self.is_unmarked);
        assembler.reasoning_data(bytes, |data| {
            let mut members = Map::new();
            if is_unmarked {
                members.insert(FIELD.to_owned(), REASONING_CONTENT.into());
            }
            if !details.is_empty() {
                members.insert(DETAILS.to_owned(), details.into_iter().map(Value::Object).collect());
            }
            *data = Value::Object(members);
        })?;
        assembler.close();
        Ok(())
    }

    fn detail(&mut self, piece: &Map<String, Value>, is_whole: bool, origin: &Origin) -> Result<(), ModelError> {
        let open = if is_whole {
            None
        } else {
            self.details.iter_mut().rev().take(OPEN_DETAILS).find(|open| is_more_of(open, piece))
        };
        if let Some(open) = open {
            self.bytes = self.bytes.saturating_add(append(open, piece));
        } else {
            let members = piece.iter().map(|(name, value)| size(name, value));
            self.bytes = members.fold(self.bytes, usize::saturating_add);
            self.details.push(piece.clone());
        }
        if self.bytes > MAX_ANSWER || self.details.len() > MAX_PARTS {
            return Err(too_large(origin, "reasoning"));
        }
        Ok(())
    }
}

/// Adds the reasoning of an assistant message that is sent back to this model.
pub(super) fn give_back(parts: &[Part], origin: &Origin, is_openrouter: bool, message: &mut Map<String, Value>) {
    let own: Vec<&Reasoning> = parts
        .iter()
        .filter_map(|part| if let Part::Reasoning(reasoning) = part { Some(reasoning) } else { None })
        .filter(|reasoning| reasoning.from == *origin)
        .collect();
    let details = details_of(&own);
    if is_openrouter && !details.is_empty() {
        message.insert("reasoning_details".to_owned(), details.into_iter().map(Value::Object).collect());
        return;
    }
    let marked: Vec<&str> = own
        .iter()
        .filter(|reasoning| member(reasoning, FIELD).and_then(Value::as_str) == Some(REASONING_CONTENT))
        .map(|reasoning| reasoning.text.as_str())
        .collect();
    if !marked.is_empty() {
        message.insert(REASONING_CONTENT.to_owned(), marked.concat().into());
    }
}

/// The details of all parts. A signature that came after the text it signs, in a part of its own, returns to it.
fn details_of(own: &[&Reasoning]) -> Vec<Map<String, Value>> {
    let mut details: Vec<Map<String, Value>> = Vec::new();
    let given = own.iter().filter_map(|reasoning| member(reasoning, DETAILS)).filter_map(Value::as_array).flatten();
    for detail in given.filter_map(Value::as_object) {
        let is_bare = ["text", "summary", "data"].iter().all(|name| !has(detail, name));
        let signed = if is_bare {
            details.iter_mut().rev().take(OPEN_DETAILS).find(|open| is_more_of(open, detail))
        } else {
            None
        };
        if let Some(signed) = signed {
            append(signed, detail);
        } else {
            details.push(detail.clone());
        }
    }
    details
}

/// Returns true if a piece continues a detail: type and index are the same, and neither says that the detail had ended. A
/// signature is the end of a text, and encrypted data comes at once.
fn is_more_of(open: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    let is_same = |name: &str| present(open, name) == present(piece, name);
    let is_not_other = |name: &str| is_same(name) || !has(open, name) || !has(piece, name);
    let is_signed = has(open, "signature") && ["signature", "text", "summary"].iter().any(|name| has(piece, name));
    let is_again = has(open, "data") && has(piece, "data");
    is_same("type") && is_same("index") && is_not_other("id") && !is_signed && !is_again
}

/// Appends a piece to a detail, and gives the bytes that it adds.
fn append(open: &mut Map<String, Value>, piece: &Map<String, Value>) -> usize {
    let mut bytes = 0;
    for (name, value) in piece.iter().filter(|(_, value)| !value.is_null()) {
        match (open.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(more)) if name == "text" || name == "summary" => {
                text.push_str(more);
                bytes += more.len();
            }
            (None | Some(Value::Null), _) => {
                bytes = size(name, value).saturating_add(bytes);
                open.insert(name.clone(), value.clone());
            }
            // Members that are said once, such as the format, are repeated with every piece.
            _ => {}
        }
    }
    bytes
}

/// Memory of a member.
fn size(name: &str, value: &Value) -> usize {
    assembler::size(value).saturating_add(name.len())
}

/// A member that is there and not null.
fn present<'a>(detail: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    detail.get(name).filter(|value| !value.is_null())
}

/// Returns true if a member says something.
fn has(detail: &Map<String, Value>, name: &str) -> bool {
    present(detail, name).is_some_and(|value| value.as_str() != Some(""))
}

fn member<'a>(reasoning: &'a Reasoning, name: &str) -> Option<&'a Value> {
    reasoning.data.as_ref()?.get(name)
}

/// Text of a detail that people may read.
fn readable(detail: &Value) -> Option<&str> {
    ["text", "summary"].iter().filter_map(|name| detail.get(name)?.as_str()).find(|text| !text.is_empty())
}
