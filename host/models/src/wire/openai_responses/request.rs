//! Body of a request.

use serde_json::{Map, Value, json};

use super::input;
use crate::wire::json::merge;
use crate::{Origin, Provider, Request, ToolChoice};

/// The body of a request.
pub(super) fn body(provider: &Provider, request: &Request) -> Value {
    let origin = Origin::new(provider, &request.model);
    let stored = request.options.get("store").and_then(Value::as_bool).unwrap_or(false);
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("store".to_owned(), json!(false));
    if takes_encrypted_reasoning(&request.model) {
        body.insert("include".to_owned(), json!(["reasoning.encrypted_content"]));
    }
    if let Some(system) = &request.system {
        body.insert("instructions".to_owned(), json!(system));
    }
    body.insert("input".to_owned(), Value::Array(input::items(&origin, stored, &request.messages)));
    if !request.tools.is_empty() {
        tools(request, &mut body);
    }
    if let Some(bound) = request.max_output_tokens {
        body.insert("max_output_tokens".to_owned(), json!(bound));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    if let Some(top_p) = request.top_p {
        body.insert("top_p".to_owned(), json!(top_p));
    }
    if let Some(output) = &request.output {
        // The strict form takes only a part of JSON Schema and refuses the rest; the option `text.format.strict` asks
        // for it.
        let format = json!({ "type": "json_schema", "name": output.name, "schema": output.schema, "strict": false });
        body.insert("text".to_owned(), json!({ "format": format }));
    }
    if request.stream {
        body.insert("stream".to_owned(), json!(true));
    }
    merge(&mut body, &request.options);
    Value::Object(body)
}

fn tools(request: &Request, body: &mut Map<String, Value>) {
    let tools = request.tools.iter().map(|tool| {
        json!({
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
            // Without it the API makes every property required and refuses schemas outside of its subset.
            "strict": false,
        })
    });
    body.insert("tools".to_owned(), Value::Array(tools.collect()));
    let choice = match &request.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Tool(name) => Some(json!({ "type": "function", "name": name })),
    };
    if let Some(choice) = choice {
        body.insert("tool_choice".to_owned(), choice);
    }
    if let Some(parallel) = request.parallel_tool_calls {
        body.insert("parallel_tool_calls".to_owned(), json!(parallel));
    }
}

/// Returns true if `include` may ask for encrypted reasoning: OpenAI's models that do not reason refuse the request then. Models
/// of others ignore it.
fn takes_encrypted_reasoning(model: &str) -> bool {
    // Routers write `openai/gpt-4o`, and tuned models are `ft:gpt-4o:…`.
    let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
    let name = name.strip_prefix("ft:").unwrap_or(&name);
    !["gpt-3.5", "gpt-4", "chatgpt-", "gpt-5-chat"].iter().any(|family| name.starts_with(family))
}
