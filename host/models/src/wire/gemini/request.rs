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

/// A tool. `parameters` is a dialect of OpenAPI that lacks much of JSON Schema; `parametersJsonSchema` takes it whole.
fn declaration(tool: &Tool) -> Value {
    let mut declaration = json!({"name": tool.name, "description": tool.description});
    // Gemini refuses an object without properties; a function without parameters has none.
    if !takes_nothing(&tool.parameters) {
        declaration["parametersJsonSchema"] = tool.parameters.clone();
    }
    declaration
}

/// Returns true if a schema allows no arguments, or says nothing about them.
fn takes_nothing(schema: &Value) -> bool {
    let Some(members) = schema.as_object() else { return true };
    members.iter().all(|(name, value)| match name.as_str() {
        "type" | "$schema" | "title" | "description" => true,
        "properties" => value.as_object().is_some_and(Map::is_empty),
        "required" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => *value == Value::Bool(false),
        _ => false,
    })
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
