//! Conversation of a request: `contents` of the roles `user` and `model`.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::kept::{self, Kept};
use crate::{Image, Message, Origin, Part, Reasoning, Role, ToolCall, ToolResult};

/// Signature that Google documents for calls which the model did not make itself. From version 3 on, a call without a
/// signature is refused.
const FOREIGN_CALL: &str = "skip_thought_signature_validator";

/// Writes the conversation. Neighbours of one role are one content: all results of a turn have to be in one, and a call
/// may not follow a content of the model.
pub(super) fn write(origin: &Origin, messages: &[Message]) -> Value {
    let writer = Writer { origin, ids: ids(origin, messages), is_version_3: is_version_3(&origin.model) };
    let mut contents = Vec::new();
    for group in messages.chunk_by(|one, next| one.role == next.role) {
        let Some(first) = group.first() else { continue };
        let parts = group.iter().flat_map(|message| &message.parts);
        let (role, parts): (&str, Vec<Value>) = match first.role {
            Role::User => ("user", parts.filter_map(user_part).collect()),
            Role::Assistant => ("model", writer.model_parts(parts)),
            Role::Tool => ("user", writer.result_parts(parts)),
        };
        if !parts.is_empty() {
            contents.push(json!({"role": role, "parts": parts}));
        }
    }
    Value::Array(contents)
}

struct Writer<'a> {
    origin: &'a Origin,
    /// Ids that this model gave to its calls, by our ids.
    ids: HashMap<&'a str, &'a str>,
    is_version_3: bool,
}

impl Writer<'_> {
    fn model_parts<'p>(&self, parts: impl Iterator<Item = &'p Part>) -> Vec<Value> {
        let mut written: Vec<Value> = Vec::new();
        // Whether the part before is the text that a signature may belong to.
        let mut after_text = false;
        for part in parts {
            let is_text = matches!(part, Part::Text(text) if !text.is_empty());
            match part {
                Part::Text(text) if is_text => written.push(json!({"text": text})),
                Part::ToolCall(call) => written.push(self.call(call)),
                Part::Reasoning(reasoning) if reasoning.from == *self.origin => {
                    give_back(reasoning, after_text, &mut written);
                }
                _ => {}
            }
            after_text = is_text;
        }
        if self.is_version_3 {
            sign_foreign_calls(&mut written);
        }
        written
    }

    fn call(&self, call: &ToolCall) -> Value {
        let mut part = json!({"functionCall": {"name": call.name, "args": call.arguments.to_object()}});
        let (signature, id) = kept::in_call(self.origin, call);
        if let Some(id) = id {
            part["functionCall"]["id"] = Value::from(id);
        }
        if let Some(signature) = signature {
            kept::sign(&mut part, signature);
        }
        part
    }

    /// Results. Before version 3 they hold no images: these follow all results then.
    fn result_parts<'p>(&self, parts: impl Iterator<Item = &'p Part>) -> Vec<Value> {
        let mut written = Vec::new();
        let mut images = Vec::new();
        for part in parts {
            let Part::ToolResult(result) = part else { continue };
            let mut part = self.result(result);
            if !result.images.is_empty() {
                let data: Vec<Value> = result.images.iter().map(inline_data).collect();
                if self.is_version_3 {
                    part["functionResponse"]["parts"] = Value::Array(data);
                } else {
                    images.push(json!({"text": format!("Images in the result of {}:", result.name)}));
                    images.extend(data);
                }
            }
            written.push(part);
        }
        written.append(&mut images);
        written
    }

    fn result(&self, result: &ToolResult) -> Value {
        let member = if result.is_error { "error" } else { "result" };
        let mut part = json!({"functionResponse": {"name": result.name, "response": {member: result.text}}});
        if let Some(id) = self.ids.get(result.call_id.as_str()) {
            part["functionResponse"]["id"] = Value::from(*id);
        }
        part
    }
}

fn ids<'a>(origin: &Origin, messages: &'a [Message]) -> HashMap<&'a str, &'a str> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| match part {
            Part::ToolCall(call) => kept::in_call(origin, call).1.map(|id| (call.id.as_str(), id)),
            _ => None,
        })
        .collect()
}

fn user_part(part: &Part) -> Option<Value> {
    match part {
        Part::Text(text) if !text.is_empty() => Some(json!({"text": text})),
        Part::Image(image) => Some(inline_data(image)),
        _ => None,
    }
}

fn inline_data(image: &Image) -> Value {
    json!({"inlineData": {"mimeType": image.media_type, "data": image.data}})
}

/// Sends kept data back. The model ignores thoughts without a signature.
fn give_back(reasoning: &Reasoning, after_text: bool, written: &mut Vec<Value>) {
    match reasoning.data.as_ref().and_then(Kept::from_value) {
        Some(Kept::Thought(signature)) => {
            let mut part = json!({"text": reasoning.text, "thought": true});
            kept::sign(&mut part, &signature);
            written.push(part);
        }
        Some(Kept::Text(signature)) => {
            if !after_text {
                written.push(json!({"text": ""}));
            }
            if let Some(text) = written.last_mut() {
                kept::sign(text, &signature);
            }
        }
        Some(Kept::Part(part)) => written.push(part),
        None => {}
    }
}

/// Of parallel calls the first one alone is signed.
fn sign_foreign_calls(written: &mut [Value]) {
    let is_call = |part: &Value| part.get("functionCall").is_some();
    if written.iter().any(|part| is_call(part) && kept::signature(part).is_some()) {
        return;
    }
    if let Some(call) = written.iter_mut().find(|part| is_call(part)) {
        kept::sign(call, FOREIGN_CALL);
    }
}

/// Returns true if a model is of version 3 or later. A name without a version, such as `gemini-flash-latest`, is of a late one.
fn is_version_3(model: &str) -> bool {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let Some(rest) = model.strip_prefix("gemini-") else { return false };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits == 0 || rest[..digits].parse::<u32>().is_ok_and(|version| version >= 3)
}

#[cfg(test)]
mod tests {
    use super::is_version_3;

    #[test]
    fn versions_of_models() {
        for name in ["gemini-3-flash-preview", "models/gemini-3.1-pro", "gemini-10-pro", "gemini-flash-latest"] {
            assert!(is_version_3(name), "{name}");
        }
        for name in ["gemini-2.5-flash", "models/gemini-2.0-flash", "gemma-3-27b-it", ""] {
            assert!(!is_version_3(name), "{name}");
        }
    }
}
