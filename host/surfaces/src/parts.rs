//! Parts of conversations that all surfaces have: images, tools, calls.

use crate::bounds::{MAX_DESCRIPTION, MAX_IMAGE, MAX_IMAGES, MAX_MESSAGES, MAX_PARTS, MAX_SCHEMA, MAX_TOOLS};
use crate::failure::Failure;
use crate::json::Object;
use agent_spaces_models::{Arguments, Image, Message, Tool, ToolChoice};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Image types that models read.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Longest name of a caller's tool. Some providers take 64 at most, and refuse longer ones themselves.
const MAX_TOOL_NAME: usize = 128;

/// Messages that are read, within bounds.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// System messages of the caller.
    pub(crate) system: Vec<String>,
    pub(crate) messages: Vec<Message>,
    /// Names of the tools by the ids of their calls.
    names: HashMap<String, String>,
    parts: usize,
    images: usize,
}

impl Conversation {
    /// A conversation that begins with a question.
    pub(crate) fn question(text: &str) -> Conversation {
        Conversation { messages: vec![Message::user(text)], ..Conversation::default() }
    }

    /// Counts messages before they are read.
    pub(crate) fn check_count(messages: usize) -> Result<(), Failure> {
        match messages {
            0 => Err(Failure::invalid("messages", "`messages` is empty: send at least one")),
            1..=MAX_MESSAGES => Ok(()),
            _ => Err(Failure::invalid("messages", format!("`messages` has more than {MAX_MESSAGES} items"))),
        }
    }

    /// Counts a part.
    pub(crate) fn count_part(&mut self, at: &str) -> Result<(), Failure> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(Failure::invalid(at, format!("The messages have more than {MAX_PARTS} parts together")));
        }
        Ok(())
    }

    /// Checks an image in base64.
    pub(crate) fn image(&mut self, media_type: &str, data: &str, at: &str) -> Result<Image, Failure> {
        use base64::Engine as _;
        self.images += 1;
        if self.images > MAX_IMAGES {
            return Err(Failure::invalid(at, format!("The messages have more than {MAX_IMAGES} images")));
        }
        if !IMAGE_TYPES.contains(&media_type) {
            let known = IMAGE_TYPES.join(", ");
            return Err(Failure::invalid(at, format!("The image's media type is not supported: send one of {known}")));
        }
        if data.len() > MAX_IMAGE {
            return Err(Failure::invalid(at, format!("The image is larger than {} MiB in base64", MAX_IMAGE >> 20)));
        }
        if base64::engine::general_purpose::STANDARD.decode(data).is_err() {
            return Err(Failure::invalid(at, "The image is not base64 of the standard alphabet, padded"));
        }
        Ok(Image { media_type: media_type.to_owned(), data: data.to_owned() })
    }

    /// Remembers the tool of a call.
    pub(crate) fn name_call(&mut self, id: &str, name: &str) {
        self.names.insert(id.to_owned(), name.to_owned());
    }

    /// Returns the tool of an earlier call.
    pub(crate) fn name_of(&self, id: &str, at: &str) -> Result<String, Failure> {
        let missing = || Failure::invalid(at, format!("`{at}` names no tool call of an earlier assistant message"));
        self.names.get(id).cloned().ok_or_else(missing)
    }

    /// Returns what the caller says as system, as one text.
    pub(crate) fn system(&self) -> Option<String> {
        let texts: Vec<&str> = self.system.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }
}

/// Reads arguments that are JSON text.
pub(crate) fn arguments(text: &str) -> Arguments {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Arguments::Object(object),
        _ if text.trim().is_empty() => Arguments::Object(Object::new()),
        _ => Arguments::Broken(text.to_owned()),
    }
}

/// Writes arguments as JSON text, as the model wrote them.
pub(crate) fn arguments_text(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Object(object) => Value::Object(object.clone()).to_string(),
        Arguments::Broken(text) => text.clone(),
    }
}

/// Adds a tool of the caller.
pub(crate) fn add_tool(
    tools: &mut Vec<Tool>,
    name: &str,
    description: Option<&str>,
    parameters: Option<&Object>,
    at: &str,
) -> Result<(), Failure> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !(1..=MAX_TOOL_NAME).contains(&name.len()) || !name.bytes().all(is_plain) {
        return Err(Failure::invalid(
            at,
            format!("`{at}` has a wrong name: 1 to {MAX_TOOL_NAME} letters, digits, `_` and `-`"),
        ));
    }
    if tools.len() >= MAX_TOOLS {
        return Err(Failure::invalid("tools", format!("`tools` has more than {MAX_TOOLS} items")));
    }
    if tools.iter().any(|tool| tool.name == name) {
        return Err(Failure::invalid(at, format!("`{at}` has the name of another tool: {name}")));
    }
    let description = description.unwrap_or_default();
    let parameters = match parameters {
        Some(parameters) => Value::Object(parameters.clone()),
        None => json!({ "type": "object", "properties": {} }),
    };
    if description.len() > MAX_DESCRIPTION || parameters.to_string().len() > MAX_SCHEMA {
        return Err(Failure::invalid(at, format!("`{at}` is too long: shorten its description or its schema")));
    }
    tools.push(Tool { name: name.to_owned(), description: description.to_owned(), parameters });
    Ok(())
}

/// Checks that a choice has a tool of the caller to choose.
pub(crate) fn check_choice(choice: &ToolChoice, tools: &[Tool]) -> Result<(), Failure> {
    let fault = match choice {
        ToolChoice::Required if tools.is_empty() => "`tool_choice` needs a tool: send `tools`",
        ToolChoice::Tool(name) if tools.iter().all(|tool| tool.name != *name) => {
            "`tool_choice` names no tool of `tools`"
        }
        ToolChoice::Auto | ToolChoice::None | ToolChoice::Required | ToolChoice::Tool(_) => return Ok(()),
    };
    Err(Failure::invalid("tool_choice", fault))
}

/// Checks a schema of answers.
pub(crate) fn answer_schema(schema: &Object, at: &str) -> Result<Value, Failure> {
    let schema = Value::Object(schema.clone());
    if schema.to_string().len() > MAX_SCHEMA {
        return Err(Failure::invalid(at, format!("`{at}` is larger than {} KiB", MAX_SCHEMA >> 10)));
    }
    Ok(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_checked() {
        let mut conversation = Conversation::default();
        assert!(conversation.image("image/png", "aGk=", "x").is_ok());
        for (media_type, data) in [("image/svg+xml", "aGk="), ("image/png", "no base64!"), ("image/png", "aGk")] {
            assert!(conversation.image(media_type, data, "x").is_err(), "{media_type} {data}");
        }
        for _ in 0..MAX_IMAGES {
            let _ = conversation.image("image/png", "aGk=", "x");
        }
        assert!(conversation.image("image/png", "aGk=", "x").is_err());
    }

    #[test]
    fn tools_are_checked() {
        let mut tools = Vec::new();
        add_tool(&mut tools, "look-up_1", None, None, "tools[0]").unwrap();
        assert_eq!(tools[0].parameters["type"], "object");
        for wrong in ["", "a b", "é", "look-up_1", &"x".repeat(MAX_TOOL_NAME + 1)] {
            assert!(add_tool(&mut tools, wrong, None, None, "tools[1]").is_err(), "{wrong}");
        }
        assert!(add_tool(&mut tools, "long", Some(&"x".repeat(MAX_DESCRIPTION + 1)), None, "tools[1]").is_err());
    }

    #[test]
    fn a_choice_is_among_the_tools_of_the_caller() {
        let mut tools = Vec::new();
        assert!(
            check_choice(&ToolChoice::Auto, &tools).is_ok() && check_choice(&ToolChoice::Required, &tools).is_err()
        );
        add_tool(&mut tools, "look", None, None, "tools[0]").unwrap();
        assert!(check_choice(&ToolChoice::Required, &tools).is_ok());
        assert!(check_choice(&ToolChoice::Tool("look".to_owned()), &tools).is_ok());
        assert!(check_choice(&ToolChoice::Tool("leave".to_owned()), &tools).is_err());
    }

    #[test]
    fn arguments_that_are_no_object_are_kept_as_they_are() {
        assert_eq!(arguments(""), Arguments::Object(Object::new()));
        assert_eq!(arguments("[1]"), Arguments::Broken("[1]".to_owned()));
        assert_eq!(arguments_text(&arguments(r#"{"b":1,"a":2}"#)), r#"{"b":1,"a":2}"#);
    }
}
