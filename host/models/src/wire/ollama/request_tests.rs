//! Requests to Ollama.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Ollama, base_url};
use crate::wire::{Framing, KeyHeader, Wire, WireRequest};
use crate::{
    Api, Arguments, Image, Message, Origin, OutputSchema, Part, Provider, Reasoning, Request, Role, Tool, ToolCall,
    ToolChoice, ToolResult,
};

fn write(request: &Request) -> WireRequest {
    let provider = Provider {
        name: "local".to_owned(),
        api: Api::Ollama,
        base_url: base_url("http://localhost:11434").unwrap(),
        key: None,
        headers: Vec::new(),
        timeout: Duration::from_secs(1),
        openrouter: false,
    };
    Ollama.request(&provider, request).unwrap()
}

fn messages(messages: Vec<Message>) -> Value {
    write(&Request { model: "qwen3".to_owned(), messages, ..Request::default() }).body["messages"].clone()
}

fn tool(name: &str) -> Tool {
    Tool { name: name.to_owned(), description: "d".to_owned(), parameters: json!({"type": "object"}) }
}

fn image() -> Image {
    Image { media_type: "image/png".to_owned(), data: "aGk=".to_owned() }
}

#[test]
fn all_settings() {
    let request = Request {
        model: "qwen3".to_owned(),
        system: Some("be brief".to_owned()),
        messages: vec![Message::user("hi")],
        tools: vec![tool("add")],
        max_output_tokens: Some(10),
        temperature: Some(0.5),
        top_p: Some(0.9),
        stop: vec!["end".to_owned()],
        output: Some(OutputSchema { name: "o".to_owned(), schema: json!({"type": "string"}) }),
        options: json!({"think": true, "options": {"num_ctx": 8192, "top_p": 1}}).as_object().cloned().unwrap(),
        stream: true,
        ..Request::default()
    };
    let written = write(&request);
    assert_eq!(written.path, ["chat"]);
    assert_eq!((written.key, written.framing), (KeyHeader::Bearer, Framing::Lines));
    let expected = json!({
        "model": "qwen3",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}],
        "stream": true,
        "tools": [
            {"type": "function", "function": {"name": "add", "description": "d", "parameters": {"type": "object"}}},
        ],
        "format": {"type": "string"},
        "options": {"num_predict": 10, "temperature": 0.5, "top_p": 1, "stop": ["end"], "num_ctx": 8192},
        "think": true,
    });
    assert_eq!(written.body, expected);
    let body = write(&Request { model: "qwen3".to_owned(), ..Request::default() }).body;
    assert_eq!(body, json!({"model": "qwen3", "messages": [], "stream": false}));
}

#[test]
fn choices_of_tools() {
    let offered = |tool_choice| {
        let request = Request { tools: vec![tool("add"), tool("ping")], tool_choice, ..Request::default() };
        let body = write(&request).body;
        assert!(body.get("tool_choice").is_none());
        let tools = body["tools"].as_array().cloned().unwrap_or_default();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(offered(ToolChoice::Auto), ["add", "ping"]);
    assert_eq!(offered(ToolChoice::Required), ["add", "ping"]);
    assert_eq!(offered(ToolChoice::Tool("ping".to_owned())), ["ping"]);
    assert!(offered(ToolChoice::None).is_empty());
}

#[test]
fn conversation() {
    let call = |id: &str, arguments| {
        Part::ToolCall(ToolCall { id: id.to_owned(), name: "add".to_owned(), arguments, opaque: None })
    };
    let object = Arguments::Object(json!({"x": 1}).as_object().cloned().unwrap());
    let result = |id: &str, images| {
        let (call_id, name, text) = (id.to_owned(), "add".to_owned(), "2".to_owned());
        Message::results(vec![ToolResult { call_id, name, text, images, is_error: false }])
    };
    let written = messages(vec![
        Message { role: Role::User, parts: vec![Part::Text("see".to_owned()), Part::Image(image())] },
        Message::assistant(vec![Part::Text(String::new())]),
        Message::assistant(vec![call("a", object), call("b", Arguments::Broken("{".to_owned()))]),
        result("a", vec![image()]),
        result("b", Vec::new()),
        Message::user("go on"),
    ]);
    let expected = json!([
        {"role": "user", "content": "see", "images": ["aGk="]},
        {"role": "assistant", "content": "", "tool_calls": [
            {"id": "a", "function": {"name": "add", "arguments": {"x": 1}}},
            {"id": "b", "function": {"name": "add", "arguments": {}}},
        ]},
        {"role": "tool", "content": "2", "tool_name": "add", "tool_call_id": "a"},
        {"role": "tool", "content": "2", "tool_name": "add", "tool_call_id": "b"},
        {"role": "user", "content": "Images in the results:", "images": ["aGk="]},
        {"role": "user", "content": "go on"},
    ]);
    assert_eq!(written, expected);
}

#[test]
fn thinking_goes_back_to_its_model_alone() {
    let said = |provider: &str, model: &str, api: Api| {
        let from = Origin { provider: provider.to_owned(), model: model.to_owned(), api };
        let reasoning = Part::Reasoning(Reasoning { text: "hm".to_owned(), from, data: None });
        messages(vec![Message::assistant(vec![reasoning, Part::Text("yes".to_owned())])])[0].clone()
    };
    let own = json!({"role": "assistant", "content": "yes", "thinking": "hm"});
    assert_eq!(said("local", "qwen3", Api::Ollama), own);
    let other = json!({"role": "assistant", "content": "yes"});
    assert_eq!(said("cloud", "qwen3", Api::Ollama), other);
    assert_eq!(said("local", "llama3", Api::Ollama), other);
    assert_eq!(said("local", "qwen3", Api::OpenaiChat), other);
}
