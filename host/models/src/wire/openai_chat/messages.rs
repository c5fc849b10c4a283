//! The conversation of a request.

use serde_json::{Map, Value, json};

use super::reasoning;
use crate::wire::openai_call_ids::CallIds;
use crate::{Arguments, Image, Message, ModelError, ModelErrorKind, Origin, Part, Role, ToolCall, ToolResult};

/// Longest id of a tool call that OpenAI accepts.
const MAX_CALL_ID: usize = 40;
/// Stands before the text of a failed result: the format has no member that says so.
const FAILED: &str = "Error: ";
/// A failed result without text.
const FAILED_SILENTLY: &str = "the call failed and gave no reason";
/// A result that has images and no text. Results hold text alone.
const IMAGES_FOLLOW: &str = "The result is in the images of the next message.";

/// Writes messages.
pub(super) struct Writer<'a> {
    origin: &'a Origin,
    is_openrouter: bool,
    ids: CallIds,
    entries: Vec<Entry>,
    /// Images of results. They follow after all results of a turn, because nothing may stand between these.
    images: Vec<Value>,
}

enum Entry {
    /// Content of a user's message. Neighbours are merged, since templates of open models want turns to alternate.
    User(Vec<Value>),
    /// A message as it is sent.
    Other(Value),
}

impl<'a> Writer<'a> {
    pub(super) fn new(origin: &'a Origin, is_openrouter: bool) -> Self {
        Writer { origin, is_openrouter, ids: CallIds::new(MAX_CALL_ID), entries: Vec::new(), images: Vec::new() }
    }

    /// Writes a conversation.
    ///
    /// # Errors
    /// `Configuration`, if a message has a part that its role cannot have.
    pub(super) fn write(mut self, system: Option<&str>, messages: &[Message]) -> Result<Value, ModelError> {
        if let Some(system) = system {
            self.entries.push(Entry::Other(json!({ "role": "system", "content": system })));
        }
        for message in messages {
            match message.role {
                Role::User => self.user(message)?,
                Role::Assistant => self.assistant(message)?,
                Role::Tool => self.results(message)?,
            }
        }
        self.end_results();
        Ok(self.entries.into_iter().map(Entry::into_message).collect())
    }

    fn user(&mut self, message: &Message) -> Result<(), ModelError> {
        self.end_results();
        let mut content = Vec::new();
        for part in &message.parts {
            match part {
                Part::Text(text) if text.is_empty() => {}
                Part::Text(text) => content.push(text_part(text)),
                Part::Image(image) => content.push(image_part(image)),
                _ => return Err(self.misplaced("a user message holds a part that is neither text nor image")),
            }
        }
        self.push_user(content);
        Ok(())
    }

    fn assistant(&mut self, message: &Message) -> Result<(), ModelError> {
        self.end_results();
        let mut calls = Vec::new();
        for part in &message.parts {
            match part {
                Part::Text(_) | Part::Reasoning(_) => {}
                Part::ToolCall(call) => calls.push(self.call(call)),
                _ => return Err(self.misplaced("an assistant message holds an image or a result")),
            }
        }
        let text = message.text();
        // Reasoning alone is no message: servers want text or calls.
        if text.is_empty() && calls.is_empty() {
            return Ok(());
        }
        let mut written = Map::new();
        written.insert("role".to_owned(), "assistant".into());
        written.insert("content".to_owned(), if text.is_empty() { Value::Null } else { text.into() });
        reasoning::give_back(&message.parts, self.origin, self.is_openrouter, &mut written);
        if !calls.is_empty() {
            written.insert("tool_calls".to_owned(), calls.into());
        }
        self.entries.push(Entry::Other(written.into()));
        Ok(())
    }

    fn call(&mut self, call: &ToolCall) -> Value {
        let arguments = match &call.arguments {
            Arguments::Object(members) => serde_json::to_string(members).unwrap_or_else(|_| "{}".to_owned()),
            // The format holds any text, but servers parse it for their templates and fail for good on what is not JSON.
            // The result tells the model what was wrong.
            Arguments::Broken(_) => "{}".to_owned(),
        };
        let mut written = json!({
            "id": self.ids.of(&call.id),
            "type": "function",
            "function": { "name": call.name, "arguments": arguments },
        });
        if let Some(opaque) = call.opaque.as_ref().filter(|opaque| opaque.from == *self.origin)
            && let Some(members) = written.as_object_mut()
        {
            members.insert("extra_content".to_owned(), opaque.value.clone());
        }
        written
    }

    fn results(&mut self, message: &Message) -> Result<(), ModelError> {
        for part in &message.parts {
            let Part::ToolResult(result) = part else {
                return Err(self.misplaced("a tool message holds a part that is no result"));
            };
            let id = self.ids.of(&result.call_id);
            let content = result_text(result);
            if !result.images.is_empty() {
                self.images.push(text_part(&format!("Images of the result of {} ({id}):", result.name)));
                self.images.extend(result.images.iter().map(image_part));
            }
            self.entries.push(Entry::Other(json!({ "role": "tool", "tool_call_id": id, "content": content })));
        }
        Ok(())
    }

    fn end_results(&mut self) {
        let images = std::mem::take(&mut self.images);
        self.push_user(images);
    }

    fn push_user(&mut self, content: Vec<Value>) {
        if content.is_empty() {
            return;
        }
        if let Some(Entry::User(before)) = self.entries.last_mut() {
            before.extend(content);
        } else {
            self.entries.push(Entry::User(content));
        }
    }

    fn misplaced(&self, what: &str) -> ModelError {
        let fault = format!("{what}, which chat completions cannot express; move it to a message of its role");
        ModelError::of(self.origin, ModelErrorKind::Configuration, fault)
    }
}

impl Entry {
    fn into_message(self) -> Value {
        let parts = match self {
            Entry::Other(message) => return message,
            Entry::User(parts) => parts,
        };
        // Servers that know no lists take text.
        let texts: Option<Vec<&str>> = parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
        let text = texts.map(|texts| texts.join("\n\n"));
        let content = text.map_or(Value::Array(parts), Value::String);
        json!({ "role": "user", "content": content })
    }
}

fn result_text(result: &ToolResult) -> String {
    match (result.is_error, result.text.is_empty()) {
        (true, true) => format!("{FAILED}{FAILED_SILENTLY}"),
        (true, false) => format!("{FAILED}{}", result.text),
        (false, true) if !result.images.is_empty() => IMAGES_FOLLOW.to_owned(),
        (false, _) => result.text.clone(),
    }
}

fn text_part(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn image_part(image: &Image) -> Value {
    json!({ "type": "image_url", "image_url": { "url": image.data_url() } })
}
