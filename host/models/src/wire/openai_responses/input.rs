//! Input items: the conversation of a request.

use serde_json::{Value, json};

use crate::wire::json::{elements, text_or_empty};
use crate::wire::openai_call_ids::CallIds;
use crate::{Arguments, Image, Message, Origin, Part, Reasoning, Role, ToolCall, ToolResult};

/// Longest `call_id` that the API accepts.
const MAX_CALL_ID: usize = 64;

/// The items of a conversation. `stored`: the provider keeps what it answers, and finds reasoning by its id.
pub(super) fn items(origin: &Origin, stored: bool, messages: &[Message]) -> Vec<Value> {
    let mut writer = Writer {
        origin,
        stored,
        items: Vec::new(),
        thoughts: Vec::new(),
        marker: None,
        ids: CallIds::new(MAX_CALL_ID),
    };
    for message in messages {
        match message.role {
            Role::Assistant => writer.assistant(message),
            Role::User | Role::Tool => writer.user(message),
        }
    }
    writer.items
}

struct Writer<'a> {
    origin: &'a Origin,
    stored: bool,
    items: Vec<Value>,
    /// Reasoning that waits for the item after it. The API refuses reasoning that nothing follows, as an answer has that
    /// reached its bound while the model thought.
    thoughts: Vec<Value>,
    /// Id and phase of the next text.
    marker: Option<&'a Value>,
    ids: CallIds,
}

impl<'a> Writer<'a> {
    fn assistant(&mut self, message: &'a Message) {
        for part in &message.parts {
            match part {
                Part::Text(text) if text.is_empty() => {}
                Part::Text(text) => self.text(text),
                Part::Reasoning(reasoning) => self.reasoning(reasoning),
                Part::ToolCall(call) => self.call(call),
                Part::ToolResult(result) => self.result(result),
                // A model's message cannot hold one.
                Part::Image(_) => {}
            }
        }
    }

    fn user(&mut self, message: &'a Message) {
        self.thoughts.clear();
        self.marker = None;
        let mut content = Vec::new();
        for part in &message.parts {
            match part {
                Part::Text(text) => content.push(json!({ "type": "input_text", "text": text })),
                Part::Image(picture) => content.push(image(picture)),
                Part::ToolResult(result) => {
                    self.said(&mut content);
                    self.result(result);
                }
                Part::ToolCall(call) => {
                    self.said(&mut content);
                    self.call(call);
                }
                Part::Reasoning(_) => {}
            }
        }
        self.said(&mut content);
    }

    /// Writes the user's message, if there is content.
    fn said(&mut self, content: &mut Vec<Value>) {
        if !content.is_empty() {
            self.items.push(json!({ "type": "message", "role": "user", "content": std::mem::take(content) }));
        }
    }

    fn text(&mut self, text: &str) {
        self.items.append(&mut self.thoughts);
        let mut item = json!({
            "type": "message",
            "role": "assistant",
            "content": [{ "type": "output_text", "text": text }],
        });
        if let Some(marker) = self.marker.take() {
            for name in ["id", "phase"] {
                if let Some(value) = marker.get(name).filter(|value| value.is_string()) {
                    item[name] = value.clone();
                }
            }
            item["status"] = json!("completed");
        }
        self.items.push(item);
    }

    fn reasoning(&mut self, reasoning: &'a Reasoning) {
        let Some(data) = reasoning.data.as_ref().filter(|_| reasoning.from == *self.origin) else { return };
        match text_or_empty(data, "type") {
            "message" => self.marker = Some(data),
            // Without its content the API looks the item up, and finds it only if it was stored.
            "reasoning"
                if self.stored
                    || !text_or_empty(data, "encrypted_content").is_empty()
                    || !elements(data, "content").is_empty() =>
            {
                self.thoughts.push(data.clone());
            }
            _ => {}
        }
    }

    fn call(&mut self, call: &ToolCall) {
        self.items.append(&mut self.thoughts);
        self.marker = None;
        let arguments = match &call.arguments {
            Arguments::Object(object) => Value::from(object.clone()).to_string(),
            // Cut before they began.
            Arguments::Broken(text) if text.is_empty() => "{}".to_owned(),
            Arguments::Broken(text) => text.clone(),
        };
        let call_id = self.ids.of(&call.id);
        self.items.push(json!({
            "type": "function_call",
            "call_id": call_id,
            "name": call.name,
            "arguments": arguments,
        }));
    }

    fn result(&mut self, result: &ToolResult) {
        let output = if result.images.is_empty() {
            json!(result.text)
        } else {
            let text = (!result.text.is_empty()).then(|| json!({ "type": "input_text", "text": result.text }));
            Value::Array(text.into_iter().chain(result.images.iter().map(image)).collect())
        };
        let call_id = self.ids.of(&result.call_id);
        self.items.push(json!({ "type": "function_call_output", "call_id": call_id, "output": output }));
    }
}

fn image(image: &Image) -> Value {
    json!({ "type": "input_image", "detail": "auto", "image_url": image.data_url() })
}
