//! Body of a request.

use serde_json::{Map, Value, json};
use url::Url;

use super::messages::Writer;
use super::schema;
use crate::wire::json;
use crate::{ModelError, Origin, Provider, Request, ToolChoice};

/// The body of a request.
pub(super) fn body(provider: &Provider, request: &Request) -> Result<Value, ModelError> {
    let origin = Origin::new(provider, &request.model);
    let messages = Writer::new(&origin, provider.openrouter).write(request.system.as_deref(), &request.messages)?;
    let mut body = Map::new();
    let mut add = |name: &str, value: Value| {
        body.insert(name.to_owned(), value);
    };
    add("model", json!(request.model));
    add("messages", messages);
    if !request.tools.is_empty() {
        add("tools", tools(request));
        if let Some(choice) = tool_choice(&request.tool_choice) {
            add("tool_choice", choice);
        }
        if let Some(is_parallel) = request.parallel_tool_calls {
            add("parallel_tool_calls", json!(is_parallel));
        }
    }
    if let Some(bound) = request.max_output_tokens {
        add(bound_name(&provider.base_url), json!(bound));
    }
    if let Some(temperature) = request.temperature {
        add("temperature", json!(temperature));
    }
    if let Some(top_p) = request.top_p {
        add("top_p", json!(top_p));
    }
    if !request.stop.is_empty() {
        add("stop", json!(request.stop));
    }
    if let Some(output) = &request.output {
        let is_strict = schema::is_strict(&output.schema);
        let format = json!({ "name": output.name, "schema": output.schema, "strict": is_strict });
        add("response_format", json!({ "type": "json_schema", "json_schema": format }));
    }
    if request.stream {
        add("stream", json!(true));
        // Without it OpenAI, vLLM and llama.cpp stream no counts.
        add("stream_options", json!({ "include_usage": true }));
    }
    json::merge(&mut body, &request.options);
    Ok(Value::Object(body))
}

fn tools(request: &Request) -> Value {
    let tools = request.tools.iter().map(|tool| {
        let function = json!({ "name": tool.name, "description": tool.description, "parameters": tool.parameters });
        json!({ "type": "function", "function": function })
    });
    tools.collect()
}

/// `None`: as the provider does by itself, which is `auto` everywhere. It is not written, since servers without support
/// for the choice refuse the member.
fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Tool(name) => Some(json!({ "type": "function", "function": { "name": name } })),
    }
}

/// The name of the bound on output tokens. OpenAI's reasoning models refuse `max_tokens`, and its other models take the
/// new name too, also on Azure. Other servers know the old name; many ignore the new one without a word, and the bound
/// would be lost.
fn bound_name(base: &Url) -> &'static str {
    let host = base.host_str().unwrap_or_default();
    let is_openai =
        host == "api.openai.com" || host.ends_with(".api.openai.com") || host.ends_with(".openai.azure.com");
    if is_openai { "max_completion_tokens" } else { "max_tokens" }
}
