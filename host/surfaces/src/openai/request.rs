//! A request for a chat completion. Members that we do not know are ignored: clients send many.

use super::messages;
use crate::asking::Asking;
use crate::failure::Failure;
use crate::json::{self, Object};
use crate::parts::{add_tool, answer_schema, check_choice};
use agent_spaces_agent::{OutputFormat, Sampling, SessionChoice};
use agent_spaces_models::{Tool, ToolChoice};
use serde_json::{Value, json};

/// A request.
#[derive(Debug)]
pub(super) struct ChatRequest {
    pub(super) asking: Asking,
    pub(super) is_streamed: bool,
    /// True if a stream ends with the tokens.
    pub(super) has_usage: bool,
}

/// Reads a request.
pub(super) fn read(body: &Object) -> Result<ChatRequest, Failure> {
    let agent = json::id(body, "model", "")?.to_owned();
    let conversation = messages::read(json::list(body, "messages", "")?.unwrap_or_default())?;
    if body.get("n").is_some_and(|count| !count.is_null() && *count != json!(1)) {
        return Err(Failure::invalid("n", "`n` is wrong: an agent gives one answer"));
    }
    let mut caller_tools = tools(body)?;
    let tool_choice = match tool_choice(body)? {
        // It is about the caller's tools. The agent's own are the agent's affair.
        ToolChoice::None => {
            caller_tools.clear();
            ToolChoice::Auto
        }
        choice => choice,
    };
    check_choice(&tool_choice, &caller_tools)?;
    let options = json::object(body, "stream_options", "")?;
    let has_usage = options.map(|options| json::boolean(options, "include_usage", "stream_options")).transpose()?;
    let sampling = Sampling {
        temperature: json::number(body, "temperature", 0.0, 2.0)?,
        top_p: json::number(body, "top_p", 0.0, 1.0)?,
        parallel_tool_calls: json::boolean(body, "parallel_tool_calls", "")?,
        max_output_tokens: json::count(body, "max_completion_tokens")?.or(json::count(body, "max_tokens")?),
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
    let is_streamed = json::boolean(body, "stream", "")?.unwrap_or_default();
    Ok(ChatRequest { asking, is_streamed, has_usage: has_usage.flatten().unwrap_or_default() })
}

fn tools(body: &Object) -> Result<Vec<Tool>, Failure> {
    let mut tools = Vec::new();
    for (number, tool) in json::list(body, "tools", "")?.unwrap_or_default().iter().enumerate() {
        let at = format!("tools[{number}]");
        let tool = json::item(tool, &at)?;
        let unsupported =
            || Failure::invalid(at.clone(), format!("`{at}` is not supported: send tools of the type `function`"));
        let function = json::object(tool, "function", &at)?.ok_or_else(unsupported)?;
        let at = format!("{at}.function");
        let name = json::needed_text(function, "name", &at)?;
        let description = json::text(function, "description", &at)?;
        add_tool(&mut tools, name, description, json::object(function, "parameters", &at)?, &at)?;
    }
    Ok(tools)
}

fn tool_choice(body: &Object) -> Result<ToolChoice, Failure> {
    let wrong = || {
        let message = "`tool_choice` is wrong: expected `auto`, `none`, `required`, or a function by its name";
        Failure::invalid("tool_choice", message)
    };
    match body.get("tool_choice") {
        None | Some(Value::Null) => Ok(ToolChoice::Auto),
        Some(Value::String(choice)) => match choice.as_str() {
            "auto" => Ok(ToolChoice::Auto),
            "none" => Ok(ToolChoice::None),
            "required" => Ok(ToolChoice::Required),
            _ => Err(wrong()),
        },
        Some(Value::Object(choice)) => {
            let function = json::object(choice, "function", "tool_choice")?.ok_or_else(wrong)?;
            Ok(ToolChoice::Tool(json::id(function, "name", "tool_choice.function")?.to_owned()))
        }
        Some(_) => Err(wrong()),
    }
}

fn output(body: &Object) -> Result<Option<OutputFormat>, Failure> {
    let Some(format) = json::object(body, "response_format", "")? else { return Ok(None) };
    match json::needed_text(format, "type", "response_format")? {
        // As the agent's configuration says.
        "text" => Ok(None),
        "json_object" => Ok(Some(OutputFormat::Json(json!({ "type": "object" })))),
        "json_schema" => {
            let at = "response_format.json_schema";
            let missing = |at: &str| Failure::invalid(at, format!("`{at}` is missing"));
            let named = json::object(format, "json_schema", "response_format")?.ok_or_else(|| missing(at))?;
            let schema = json::object(named, "schema", at)?;
            let at = "response_format.json_schema.schema";
            Ok(Some(OutputFormat::Json(answer_schema(schema.ok_or_else(|| missing(at))?, at)?)))
        }
        _ => {
            let message = "`response_format.type` is wrong: expected `text`, `json_object` or `json_schema`";
            Err(Failure::invalid("response_format.type", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_with(more: Value) -> Result<ChatRequest, Failure> {
        let mut body = json!({ "model": "planner", "messages": [{ "role": "user", "content": "hi" }] });
        body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
        read(body.as_object().unwrap())
    }

    fn function(name: &str) -> Value {
        json!({ "type": "function", "function": { "name": name, "parameters": { "type": "object" }, "strict": true } })
    }

    #[test]
    fn members_are_read_and_unknown_ones_ignored() {
        let request = read_with(json!({
            "stream": true, "stream_options": { "include_usage": true }, "temperature": 0.2, "top_p": 1,
            "max_tokens": 10, "max_completion_tokens": 20, "tools": [function("look")], "tool_choice": "required",
            "parallel_tool_calls": false, "store": true, "user": "u", "logprobs": null, "n": 1, "seed": 7,
        }))
        .unwrap();
        assert!(request.is_streamed && request.has_usage);
        let asking = request.asking;
        assert_eq!((asking.agent.as_str(), asking.caller_tools.len()), ("planner", 1));
        assert_eq!(asking.tool_choice, ToolChoice::Required);
        let expected = Sampling {
            temperature: Some(0.2),
            top_p: Some(1.0),
            parallel_tool_calls: Some(false),
            max_output_tokens: Some(20),
        };
        assert_eq!(asking.sampling, expected);
        assert!(matches!(asking.session, SessionChoice::None));
    }

    #[test]
    fn a_caller_without_tools_leaves_the_agents_own_alone() {
        let asking = read_with(json!({ "tools": [function("look")], "tool_choice": "none" })).unwrap().asking;
        assert_eq!((asking.caller_tools.len(), asking.tool_choice), (0, ToolChoice::Auto));
        let named = json!({ "type": "function", "function": { "name": "look" } });
        let asking = read_with(json!({ "tools": [function("look")], "tool_choice": named })).unwrap().asking;
        assert_eq!(asking.tool_choice, ToolChoice::Tool("look".to_owned()));
    }

    #[test]
    fn schemas_of_answers_are_read() {
        let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
        let format = json!({ "type": "json_schema", "json_schema": { "name": "n", "strict": true, "schema": schema } });
        let asking = read_with(json!({ "response_format": format })).unwrap().asking;
        assert_eq!(asking.output, Some(OutputFormat::Json(schema)));
        assert_eq!(read_with(json!({ "response_format": { "type": "text" } })).unwrap().asking.output, None);
    }

    #[test]
    fn wrong_members_are_named() {
        let place = |more: Value| read_with(more).unwrap_err().param.unwrap();
        assert_eq!(place(json!({ "model": null })), "model");
        assert_eq!(place(json!({ "n": 2 })), "n");
        assert_eq!(place(json!({ "temperature": 9 })), "temperature");
        assert_eq!(place(json!({ "max_tokens": 0 })), "max_tokens");
        assert_eq!(place(json!({ "tool_choice": "perhaps" })), "tool_choice");
        assert_eq!(place(json!({ "tools": [{ "type": "web_search" }] })), "tools[0]");
        assert_eq!(place(json!({ "tools": [function("a"), function("a")] })), "tools[1].function");
        let without = json!({ "type": "json_schema", "json_schema": { "name": "n" } });
        assert_eq!(place(json!({ "response_format": without })), "response_format.json_schema.schema");
        assert_eq!(place(json!({ "stream": "yes" })), "stream");
    }
}
