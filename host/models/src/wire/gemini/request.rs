//! Body of a request to Gemini.

use serde_json::{Map, Value, json};

use super::contents;
use crate::wire::json::merge;
use crate::{Origin, Request, Tool, ToolChoice};

/// Writes the body.
pub(super) fn body(origin: &Origin, request: &Request) -> Value {
    let mut body = Map::new();
    body.insert("contents".to_owned(), contents::write(origin, &request.messages));
    if let Some(system) = request.system.as_deref().filter(|system| !system.is_empty()) {
        body.insert("systemInstruction".to_owned(), json!({"parts": [{"text": system}]}));
    }
    if !request.tools.is_empty() {
        let declarations: Vec<Value> = request.tools.iter().map(declaration).collect();
        body.insert("tools".to_owned(), json!([{"functionDeclarations": declarations}]));
        body.insert("toolConfig".to_owned(), json!({"functionCallingConfig": calling(&request.tool_choice)}));
    }
    let config = generation_config(request);
    if !config.is_empty() {
        body.insert("generationConfig".to_owned(), Value::Object(config));
    }
    merge(&mut body, &request.options);
    Value::Object(body)
}

/// A tool. `parameters` is a dialect of OpenAPI that refuses much of JSON Schema; `parametersJsonSchema` takes it whole.
fn declaration(tool: &Tool) -> Value {
    let mut declaration = json!({"name": tool.name, "description": tool.description});
    // A schema without members is refused.
    if let Some(members) = tool.parameters.as_object()
        && !members.is_empty()
    {
        declaration["parametersJsonSchema"] = tool.parameters.clone();
    }
    declaration
}

fn calling(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({"mode": "AUTO"}),
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Required => json!({"mode": "ANY"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    }
}

fn generation_config(request: &Request) -> Map<String, Value> {
    let mut config = Map::new();
    if let Some(tokens) = request.max_output_tokens {
        config.insert("maxOutputTokens".to_owned(), Value::from(tokens));
    }
    if let Some(temperature) = request.temperature {
        config.insert("temperature".to_owned(), Value::from(temperature));
    }
    if let Some(top_p) = request.top_p {
        config.insert("topP".to_owned(), Value::from(top_p));
    }
    if !request.stop.is_empty() {
        config.insert("stopSequences".to_owned(), json!(request.stop));
    }
    if let Some(output) = &request.output {
        config.insert("responseMimeType".to_owned(), Value::from("application/json"));
        config.insert("responseJsonSchema".to_owned(), output.schema.clone());
    }
    config
}
