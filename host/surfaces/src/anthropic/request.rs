//! A request for a message. Members that we do not know are ignored: clients send many.

use super::messages;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::json::{self, Object};
use crate::parts::{add_tool, answer_schema, check_choice};
use agent_spaces_agent::{OutputFormat, Sampling, SessionChoice};
use agent_spaces_models::{Tool, ToolChoice};

/// Member of requests whose conversation the server should keep.
pub(super) const THREAD: &str = "thread";

/// A request.
#[derive(Debug)]
pub(super) struct MessageRequest {
    pub(super) asking: Asking,
    pub(super) is_streamed: bool,
}

/// Reads a request.
pub(super) fn read(body: &Object) -> Result<MessageRequest, Failure> {
    let agent = json::id(body, "model", "")?.to_owned();
    // To ignore it would lose the conversation: later requests of a thread have new messages alone.
    if body.get(THREAD).is_some_and(|thread| !thread.is_null()) {
        let message = "`thread` is not supported, nothing is kept here: send the whole conversation without it";
        return Err(Failure::invalid(THREAD, message));
    }
    let conversation = messages::read(body)?;
    let mut caller_tools = tools(body)?;
    let choice = json::object(body, "tool_choice", "")?;
    let tool_choice = match choice.map(tool_choice).transpose()?.unwrap_or_default() {
        // It is about the caller's tools. The agent's own are the agent's affair.
        ToolChoice::None => {
            caller_tools.clear();
            ToolChoice::Auto
        }
        choice => choice,
    };
    check_choice(&tool_choice, &caller_tools)?;
    let one_by_one =
        choice.map(|choice| json::boolean(choice, "disable_parallel_tool_use", "tool_choice")).transpose()?;
    let sampling = Sampling {
        temperature: json::number(body, "temperature", 0.0, 1.0)?,
        top_p: json::number(body, "top_p", 0.0, 1.0)?,
        parallel_tool_calls: one_by_one.flatten().map(|one_by_one| !one_by_one),
        max_output_tokens: json::count(body, "max_tokens")?,
    };
    let asking = Asking {
        agent,
        session: SessionChoice::None,
        system: conversation.system(),
        messages: conversation.messages,
        caller_tools,
        tool_choice,
        output: output(body)?,
        sampling,
    };
    Ok(MessageRequest { asking, is_streamed: json::boolean(body, "stream", "")?.unwrap_or_default() })
}

fn tools(body: &Object) -> Result<Vec<Tool>, Failure> {
    let mut tools = Vec::new();
    for (number, tool) in json::list(body, "tools", "")?.unwrap_or_default().iter().enumerate() {
        let at = format!("tools[{number}]");
        let tool = json::item(tool, &at)?;
        if json::text(tool, "type", &at)?.is_some_and(|kind| kind != "custom") {
            let message = format!(
                "`{at}` is a tool that Anthropic defines, which models of others do not know: send a tool with an \
                 `input_schema` and without a `type`"
            );
            return Err(Failure::invalid(json::path(&at, "type"), message));
        }
        let (name, description) = (json::needed_text(tool, "name", &at)?, json::text(tool, "description", &at)?);
        add_tool(&mut tools, name, description, json::object(tool, "input_schema", &at)?, &at)?;
    }
    Ok(tools)
}

fn tool_choice(choice: &Object) -> Result<ToolChoice, Failure> {
    match json::needed_text(choice, "type", "tool_choice")? {
        "auto" => Ok(ToolChoice::Auto),
        "any" => Ok(ToolChoice::Required),
        "none" => Ok(ToolChoice::None),
        "tool" => Ok(ToolChoice::Tool(json::id(choice, "name", "tool_choice")?.to_owned())),
        _ => Err(Failure::invalid(
            "tool_choice.type",
            "`tool_choice.type` is wrong: expected `auto`, `any`, `tool` or `none`",
        )),
    }
}

/// Reads the schema of the answer, from where it is now (`output_config.format`) or was before (`output_format`).
fn output(body: &Object) -> Result<Option<OutputFormat>, Failure> {
    let config = json::object(body, "output_config", "")?;
    let now = config.map(|config| json::object(config, "format", "output_config")).transpose()?.flatten();
    let (at, format) = match (now, json::object(body, "output_format", "")?) {
        (Some(format), _) => ("output_config.format", format),
        (None, Some(format)) => ("output_format", format),
        (None, None) => return Ok(None),
    };
    let schema_at = json::path(at, "schema");
    let missing = || Failure::invalid(schema_at.clone(), format!("`{schema_at}` is missing"));
    if json::needed_text(format, "type", at)? != "json_schema" {
        let at = json::path(at, "type");
        return Err(Failure::invalid(at.clone(), format!("`{at}` is wrong: expected `json_schema`")));
    }
    let schema = json::object(format, "schema", at)?.ok_or_else(missing)?;
    Ok(Some(OutputFormat::Json(answer_schema(schema, &schema_at)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read_with(more: Value) -> Result<MessageRequest, Failure> {
        let mut body =
            json!({ "model": "planner", "max_tokens": 9, "messages": [{ "role": "user", "content": "hi" }] });
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        read(body.as_object().unwrap())
    }

    #[test]
    fn members_are_read_and_unknown_ones_ignored() {
        let look = json!({ "name": "look", "description": "Looks", "input_schema": { "type": "object" } });
        let request = read_with(json!({
            "stream": true, "temperature": 1, "tools": [look], "metadata": { "user_id": "u" },
            "tool_choice": { "type": "any", "disable_parallel_tool_use": true }, "top_k": 5,
            "thinking": { "type": "enabled", "budget_tokens": 1024 }, "context_management": {},
        }))
        .unwrap();
        assert!(request.is_streamed);
        let asking = request.asking;
        assert_eq!((asking.caller_tools[0].name.as_str(), asking.tool_choice), ("look", ToolChoice::Required));
        assert_eq!((asking.sampling.parallel_tool_calls, asking.sampling.max_output_tokens), (Some(false), Some(9)));
        assert_eq!((asking.sampling.temperature, asking.session), (Some(1.0), SessionChoice::None));
    }

    #[test]
    fn schemas_of_answers_are_read_from_both_places() {
        let format = json!({ "type": "json_schema", "schema": { "type": "object" } });
        let expected = Some(OutputFormat::Json(json!({ "type": "object" })));
        let now = json!({ "output_config": { "format": format, "effort": "low" } });
        assert_eq!(read_with(now).unwrap().asking.output, expected);
        assert_eq!(read_with(json!({ "output_format": format })).unwrap().asking.output, expected);
    }

    #[test]
    fn wrong_members_are_named() {
        let place = |more: Value| read_with(more).unwrap_err().param.unwrap();
        assert_eq!(place(json!({ "model": 1 })), "model");
        assert_eq!(place(json!({ "max_tokens": -1 })), "max_tokens");
        assert_eq!(place(json!({ "tool_choice": { "type": "perhaps" } })), "tool_choice.type");
        let search = json!([{ "type": "web_search_20250305", "name": "web_search" }]);
        assert_eq!(place(json!({ "tools": search })), "tools[0].type");
        assert_eq!(place(json!({ "output_format": { "type": "json_schema" } })), "output_format.schema");
        assert_eq!(place(json!({ "thread": { "type": "create" } })), "thread");
        assert!(read_with(json!({ "thread": null })).is_ok());
    }
}
