//! Messages of a chat completion.

use crate::failure::Failure;
use crate::json::{self, Object};
use crate::parts::{Conversation, arguments};
use agent_spaces_models::{Image, Message, Part, Role, ToolCall, ToolResult};
use serde_json::Value;

/// Reads the messages of a request.
pub(crate) fn read(messages: &[Value]) -> Result<Conversation, Failure> {
    Conversation::check_count(messages.len())?;
    let mut conversation = Conversation::default();
    for (number, message) in messages.iter().enumerate() {
        let at = format!("messages[{number}]");
        let message = json::item(message, &at)?;
        match json::needed_text(message, "role", &at)? {
            "system" | "developer" => {
                let text = text_of(content(&mut conversation, message, &at)?, &at)?;
                conversation.system.push(text);
            }
            "user" => {
                let parts = content(&mut conversation, message, &at)?;
                // Providers refuse empty messages.
                if !parts.is_empty() {
                    conversation.messages.push(Message { role: Role::User, parts });
                }
            }
            "assistant" => add_assistant(&mut conversation, message, &at)?,
            "tool" => add_result(&mut conversation, message, &at)?,
            _ => {
                let roles = "`system`, `developer`, `user`, `assistant` or `tool`";
                let at = json::path(&at, "role");
                return Err(Failure::invalid(at.clone(), format!("`{at}` is wrong: expected {roles}")));
            }
        }
    }
    if conversation.messages.is_empty() {
        return Err(Failure::invalid("messages", "`messages` have no question: send a `user` message with text"));
    }
    Ok(conversation)
}

fn add_assistant(conversation: &mut Conversation, message: &Object, at: &str) -> Result<(), Failure> {
    let mut parts = content(conversation, message, at)?;
    for (number, call) in json::list(message, "tool_calls", at)?.unwrap_or_default().iter().enumerate() {
        let at = format!("{at}.tool_calls[{number}]");
        conversation.count_part(&at)?;
        let call = json::item(call, &at)?;
        let id = json::id(call, "id", &at)?;
        let missing =
            || Failure::invalid(at.clone(), format!("`{at}` has no `function`: other calls are not supported"));
        let function = json::object(call, "function", &at)?.ok_or_else(missing)?;
        let at = format!("{at}.function");
        let name = json::id(function, "name", &at)?;
        conversation.name_call(id, name);
        parts.push(Part::ToolCall(ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments(json::text(function, "arguments", &at)?.unwrap_or_default()),
            opaque: None,
        }));
    }
    // Clients send back empty answers too, which providers refuse.
    if !parts.is_empty() {
        conversation.messages.push(Message::assistant(parts));
    }
    Ok(())
}

fn add_result(conversation: &mut Conversation, message: &Object, at: &str) -> Result<(), Failure> {
    let id = json::id(message, "tool_call_id", at)?;
    let name = conversation.name_of(id, &json::path(at, "tool_call_id"))?;
    let (text, images) = split(content(conversation, message, at)?);
    let result = ToolResult { call_id: id.to_owned(), name, text, images, is_error: false };
    conversation.messages.push(Message::results(vec![result]));
    Ok(())
}

/// Reads `content`: a text, a list of parts, or nothing.
fn content(conversation: &mut Conversation, message: &Object, at: &str) -> Result<Vec<Part>, Failure> {
    let at = json::path(at, "content");
    let parts = match message.get("content") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(text)) if text.is_empty() => return Ok(Vec::new()),
        Some(Value::String(text)) => {
            conversation.count_part(&at)?;
            return Ok(vec![Part::Text(text.clone())]);
        }
        Some(Value::Array(parts)) => parts,
        Some(_) => return Err(Failure::invalid(at.clone(), format!("`{at}` is wrong: expected a text or a list"))),
    };
    let mut read = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let at = format!("{at}[{number}]");
        conversation.count_part(&at)?;
        let part = json::item(part, &at)?;
        match json::needed_text(part, "type", &at)? {
            "text" => match json::needed_text(part, "text", &at)? {
                "" => {}
                text => read.push(Part::Text(text.to_owned())),
            },
            "image_url" => read.push(Part::Image(image(conversation, part, &at)?)),
            "refusal" => read.push(Part::Text(json::needed_text(part, "refusal", &at)?.to_owned())),
            other => {
                let other: String = other.chars().take(40).collect();
                let message = format!("Parts of the type {other:?} are not supported: send `text` or `image_url`");
                return Err(Failure::invalid(json::path(&at, "type"), message));
            }
        }
    }
    Ok(read)
}

/// Reads an image. Only data URLs: the server fetches nothing on behalf of a caller.
fn image(conversation: &mut Conversation, part: &Object, at: &str) -> Result<Image, Failure> {
    let at = json::path(at, "image_url");
    let missing = || Failure::invalid(at.clone(), format!("`{at}` is missing"));
    let url = json::needed_text(json::object(part, "image_url", "")?.ok_or_else(missing)?, "url", &at)?;
    let data = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    let Some((media_type, data)) = data else {
        let message = "Images are read from data URLs alone: send `data:image/png;base64,…`";
        return Err(Failure::invalid(json::path(&at, "url"), message));
    };
    conversation.image(media_type, data, &at)
}

/// Takes texts and images apart.
fn split(parts: Vec<Part>) -> (String, Vec<Image>) {
    let (mut text, mut images) = (String::new(), Vec::new());
    for part in parts {
        match part {
            Part::Text(more) => text.push_str(&more),
            Part::Image(image) => images.push(image),
            Part::Reasoning(_) | Part::ToolCall(_) | Part::ToolResult(_) => {}
        }
    }
    (text, images)
}

fn text_of(parts: Vec<Part>, at: &str) -> Result<String, Failure> {
    match split(parts) {
        (text, images) if images.is_empty() => Ok(text),
        _ => Err(Failure::invalid(at, format!("`{at}` is wrong: a system message has text alone"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use agent_spaces_models::Arguments;
    use serde_json::json;

    fn read_all(messages: Value) -> Result<Conversation, Failure> {
        read(messages.as_array().unwrap())
    }

    #[test]
    fn a_conversation_with_tools_is_read() {
        let conversation = read_all(json!([
            { "role": "developer", "content": "Be brief." },
            { "role": "user", "content": [
                { "type": "text", "text": "What is this?" },
                { "type": "image_url", "image_url": { "url": "data:image/png;base64,aGk=", "detail": "low" } },
            ] },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "c1", "type": "function", "function": { "name": "look", "arguments": "{\"x\":1}" } },
            ] },
            { "role": "tool", "tool_call_id": "c1", "content": [{ "type": "text", "text": "a cat" }] },
            { "role": "system", "content": "In French." },
        ]))
        .unwrap();
        assert_eq!(conversation.system().as_deref(), Some("Be brief.\n\nIn French."));
        let [user, assistant, tool] = conversation.messages.as_slice() else { panic!("{conversation:?}") };
        assert!(matches!(user.parts[..], [Part::Text(_), Part::Image(_)]));
        let Part::ToolCall(call) = &assistant.parts[0] else { panic!("{assistant:?}") };
        assert_eq!(call.arguments, Arguments::Object(json!({ "x": 1 }).as_object().cloned().unwrap()));
        let Part::ToolResult(result) = &tool.parts[0] else { panic!("{tool:?}") };
        assert_eq!((result.name.as_str(), result.text.as_str()), ("look", "a cat"));
    }

    #[test]
    fn wrong_messages_are_refused_with_their_place() {
        let place = |messages: Value| read_all(messages).unwrap_err().param.unwrap();
        assert_eq!(place(json!([])), "messages");
        assert_eq!(place(json!([{ "role": "system", "content": "x" }])), "messages");
        assert_eq!(place(json!([{ "role": "user", "content": "" }])), "messages");
        assert_eq!(place(json!([{ "role": "robot", "content": "x" }])), "messages[0].role");
        assert_eq!(place(json!([{ "role": "user", "content": 1 }])), "messages[0].content");
        assert_eq!(place(json!([{ "role": "tool", "tool_call_id": "c9", "content": "" }])), "messages[0].tool_call_id");
        let remote = json!([{ "type": "image_url", "image_url": { "url": "http://169.254.169.254/" } }]);
        let refused = read_all(json!([{ "role": "user", "content": remote }])).unwrap_err();
        assert_eq!(refused.param.as_deref(), Some("messages[0].content[0].image_url.url"));
        assert!(refused.message.contains("data URLs"));
        assert!(read_all(json!(["x"])).is_err() && read_all(json!([{ "role": "user", "content": [1] }])).is_err());
    }
}
