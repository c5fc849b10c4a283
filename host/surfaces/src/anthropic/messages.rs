//! Messages of a request.

use crate::failure::Failure;
use crate::json::{self, Object};
use crate::parts::Conversation;
use agent_spaces_models::{Arguments, Image, Message, Part, Role, ToolCall, ToolResult};
use serde_json::Value;

/// Reads `system` and `messages`.
pub(super) fn read(body: &Object) -> Result<Conversation, Failure> {
    let messages = json::list(body, "messages", "")?.unwrap_or_default();
    Conversation::check_count(messages.len())?;
    let mut conversation = Conversation::default();
    let system = blocks(&mut conversation, body, "system", "")?;
    add_system(&mut conversation, system)?;
    for (number, message) in messages.iter().enumerate() {
        let at = format!("messages[{number}]");
        let message = json::item(message, &at)?;
        match json::needed_text(message, "role", &at)? {
            "user" => {
                let (results, parts) = blocks(&mut conversation, message, "content", &at)?.into_results();
                if !results.is_empty() {
                    conversation.messages.push(Message::results(results));
                }
                if !parts.is_empty() {
                    conversation.messages.push(Message { role: Role::User, parts });
                }
            }
            "assistant" => {
                let Blocks { parts, .. } = blocks(&mut conversation, message, "content", &at)?;
                // A message of thoughts alone is left out.
                if !parts.is_empty() {
                    conversation.messages.push(Message::assistant(parts));
                }
            }
            "system" => {
                let said = blocks(&mut conversation, message, "content", &at)?;
                add_system(&mut conversation, said)?;
            }
            _ => {
                let at = json::path(&at, "role");
                return Err(Failure::invalid(at.clone(), format!("`{at}` is wrong: expected `user` or `assistant`")));
            }
        }
    }
    if conversation.messages.is_empty() {
        return Err(Failure::invalid("messages", "`messages` are empty: send a question"));
    }
    Ok(conversation)
}

fn add_system(conversation: &mut Conversation, blocks: Blocks) -> Result<(), Failure> {
    for part in blocks.parts {
        match part {
            Part::Text(text) => conversation.system.push(text),
            _ => return Err(Failure::invalid("system", "`system` is wrong: expected text alone")),
        }
    }
    Ok(())
}

/// Blocks of one message.
#[derive(Debug, Default)]
struct Blocks {
    /// Text, images, calls.
    parts: Vec<Part>,
    /// Results of calls.
    results: Vec<ToolResult>,
}

impl Blocks {
    fn into_results(self) -> (Vec<ToolResult>, Vec<Part>) {
        // Calls are a model's.
        let parts = self.parts.into_iter().filter(|part| !matches!(part, Part::ToolCall(_)));
        (self.results, parts.collect())
    }

    fn add_text(&mut self, text: &str) {
        // Providers refuse empty texts.
        if !text.is_empty() {
            self.parts.push(Part::Text(text.to_owned()));
        }
    }
}

/// Reads content: a text, or a list of blocks.
fn blocks(conversation: &mut Conversation, object: &Object, key: &str, at: &str) -> Result<Blocks, Failure> {
    let at = json::path(at, key);
    let mut read = Blocks::default();
    let list = match object.get(key) {
        None | Some(Value::Null) => return Ok(read),
        Some(Value::String(text)) => {
            conversation.count_part(&at)?;
            read.add_text(text);
            return Ok(read);
        }
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Failure::invalid(at.clone(), format!("`{at}` is wrong: expected a text or a list"))),
    };
    for (number, block) in list.iter().enumerate() {
        let at = format!("{at}[{number}]");
        conversation.count_part(&at)?;
        add_block(conversation, &mut read, json::item(block, &at)?, &at)?;
    }
    Ok(read)
}

fn add_block(conversation: &mut Conversation, read: &mut Blocks, block: &Object, at: &str) -> Result<(), Failure> {
    match json::needed_text(block, "type", at)? {
        "text" => read.add_text(json::needed_text(block, "text", at)?),
        "image" => read.parts.push(Part::Image(image(conversation, block, at)?)),
        "document" => read.add_text(document(block, at)?),
        "tool_use" => {
            let (id, name) = (json::id(block, "id", at)?, json::id(block, "name", at)?);
            let arguments = Arguments::Object(json::object(block, "input", at)?.cloned().unwrap_or_default());
            conversation.name_call(id, name);
            let call = ToolCall { id: id.to_owned(), name: name.to_owned(), arguments, opaque: None };
            read.parts.push(Part::ToolCall(call));
        }
        "tool_result" => {
            let result = result(conversation, block, at)?;
            read.results.push(result);
        }
        // They are the thoughts of a model of the agent, which has them no more.
        "thinking" | "redacted_thinking" => {}
        other => {
            let other: String = other.chars().take(40).collect();
            let message = format!(
                "Blocks of the type {other:?} are not supported: send `text`, `image`, `tool_use` or `tool_result`"
            );
            return Err(Failure::invalid(json::path(at, "type"), message));
        }
    }
    Ok(())
}

fn result(conversation: &mut Conversation, block: &Object, at: &str) -> Result<ToolResult, Failure> {
    let id = json::id(block, "tool_use_id", at)?;
    let name = conversation.name_of(id, &json::path(at, "tool_use_id"))?;
    let is_error = json::boolean(block, "is_error", at)?.unwrap_or_default();
    let mut read = ToolResult { call_id: id.to_owned(), name, text: String::new(), images: Vec::new(), is_error };
    let at = json::path(at, "content");
    let list = match block.get("content") {
        None | Some(Value::Null) => return Ok(read),
        Some(Value::String(text)) => return Ok(ToolResult { text: text.clone(), ..read }),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Failure::invalid(at.clone(), format!("`{at}` is wrong: expected a text or a list"))),
    };
    for (number, part) in list.iter().enumerate() {
        let at = format!("{at}[{number}]");
        conversation.count_part(&at)?;
        let part = json::item(part, &at)?;
        let text = match json::needed_text(part, "type", &at)? {
            "text" => json::needed_text(part, "text", &at)?,
            "document" => document(part, &at)?,
            "image" => {
                read.images.push(image(conversation, part, &at)?);
                continue;
            }
            // A tool that a search of the client found.
            "tool_reference" => json::needed_text(part, "tool_name", &at)?,
            _ => {
                let message = "Results have blocks of the types `text`, `image` and `document` alone";
                return Err(Failure::invalid(json::path(&at, "type"), message));
            }
        };
        if !read.text.is_empty() {
            read.text.push('\n');
        }
        read.text.push_str(text);
    }
    Ok(read)
}

/// Reads the source of a block, which must have one of two types. Nothing is fetched on behalf of a caller.
fn source<'a>(block: &'a Object, kind: &str, at: &str) -> Result<&'a Object, Failure> {
    let at = json::path(at, "source");
    let wrong = || Failure::invalid(at.clone(), format!("`{at}` is not supported: send a source of the type `{kind}`"));
    let source = json::object(block, "source", "")?.ok_or_else(wrong)?;
    if json::needed_text(source, "type", &at)? == kind { Ok(source) } else { Err(wrong()) }
}

fn image(conversation: &mut Conversation, block: &Object, at: &str) -> Result<Image, Failure> {
    let source = source(block, "base64", at)?;
    let at = json::path(at, "source");
    let (media_type, data) = (json::needed_text(source, "media_type", &at)?, json::needed_text(source, "data", &at)?);
    conversation.image(media_type, data, &at)
}

/// Text in place of a document that is not text. A client that has one in its conversation sends it with every request,
/// and could not go on if it were refused.
const UNREADABLE: &str = "(A document is here that is not text, and cannot be read.)";

/// Reads a document that is text.
fn document<'a>(block: &'a Object, at: &str) -> Result<&'a str, Failure> {
    let kind = json::object(block, "source", at)?.and_then(|source| source.get("type")?.as_str());
    if kind == Some("base64") {
        return Ok(UNREADABLE);
    }
    json::needed_text(source(block, "text", at)?, "data", &json::path(at, "source"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read_all(system: Value, messages: Value) -> Result<Conversation, Failure> {
        read(json!({ "system": system, "messages": messages }).as_object().unwrap())
    }

    #[test]
    fn a_conversation_with_tools_is_read() {
        let png = json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "aGk=" } });
        let conversation = read_all(
            json!([{ "type": "text", "text": "Be brief.", "cache_control": { "type": "ephemeral" } }]),
            json!([
                { "role": "user", "content": [{ "type": "text", "text": "What is this?" }, png] },
                { "role": "assistant", "content": [
                    { "type": "thinking", "thinking": "hm", "signature": "s" },
                    { "type": "redacted_thinking", "data": "x" },
                    { "type": "tool_use", "id": "t1", "name": "look", "input": { "x": 1 } },
                ] },
                { "role": "user", "content": [
                    { "type": "text", "text": "And now?" },
                    { "type": "tool_result", "tool_use_id": "t1", "is_error": true, "content": [
                        { "type": "text", "text": "no" }, { "type": "text", "text": "cat" }, png,
                    ] },
                ] },
            ]),
        )
        .unwrap();
        assert_eq!(conversation.system().as_deref(), Some("Be brief."));
        let [asked, called, results, more] = conversation.messages.as_slice() else { panic!("{conversation:?}") };
        assert!(matches!(asked.parts[..], [Part::Text(_), Part::Image(_)]));
        assert!(matches!(called.parts[..], [Part::ToolCall(_)]));
        let Part::ToolResult(result) = &results.parts[0] else { panic!("{results:?}") };
        assert_eq!((result.name.as_str(), result.text.as_str(), result.is_error), ("look", "no\ncat", true));
        assert_eq!((result.images.len(), more.text().as_str()), (1, "And now?"));
    }

    #[test]
    fn a_document_that_is_not_text_does_not_end_the_conversation() {
        let text =
            json!({ "type": "document", "source": { "type": "text", "media_type": "text/plain", "data": "one" } });
        let pdf = json!({ "type": "base64", "media_type": "application/pdf", "data": "aGk=" });
        let pdf = json!({ "type": "document", "source": pdf });
        let conversation = read_all(Value::Null, json!([{ "role": "user", "content": [text, pdf] }])).unwrap();
        let [Part::Text(text), Part::Text(pdf)] = conversation.messages[0].parts.as_slice() else {
            panic!("{conversation:?}")
        };
        assert_eq!((text.as_str(), pdf.as_str()), ("one", UNREADABLE));
        let remote = json!([{ "type": "document", "source": { "type": "url", "url": "http://169.254.169.254/" } }]);
        assert!(read_all(Value::Null, json!([{ "role": "user", "content": remote }])).is_err());
    }

    #[test]
    fn wrong_messages_are_refused_with_their_place() {
        let place = |messages: Value| read_all(Value::Null, messages).unwrap_err().param.unwrap();
        assert_eq!(place(json!([])), "messages");
        assert_eq!(place(json!([{ "role": "robot", "content": "x" }])), "messages[0].role");
        assert_eq!(place(json!([{ "role": "user", "content": [{ "type": "video" }] }])), "messages[0].content[0].type");
        let lost = json!([{ "type": "tool_result", "tool_use_id": "t9", "content": "x" }]);
        assert_eq!(place(json!([{ "role": "user", "content": lost }])), "messages[0].content[0].tool_use_id");
        let remote = json!([{ "type": "image", "source": { "type": "url", "url": "http://169.254.169.254/" } }]);
        assert_eq!(place(json!([{ "role": "user", "content": remote }])), "messages[0].content[0].source");
        let thoughts = json!([{ "type": "thinking", "thinking": "hm" }]);
        assert_eq!(place(json!([{ "role": "assistant", "content": thoughts }])), "messages");
        assert!(read_all(json!([{ "type": "image" }]), json!([{ "role": "user", "content": "x" }])).is_err());
    }
}
