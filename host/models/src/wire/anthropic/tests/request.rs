//! Requests as they are written.

use serde_json::{Value, json};

use super::{body, call, object, origin, provider, thought};
use crate::wire::anthropic::Anthropic;
use crate::wire::{Framing, KeyHeader, Wire};
use crate::{
    Arguments, Image, Message, ModelErrorKind, Origin, OutputSchema, Part, Request, Role, Tool, ToolCall, ToolChoice,
    ToolResult,
};

/// A request that leaves caching to the caller, so that bodies are short.
fn request(messages: Vec<Message>) -> Request {
    Request { model: "m".to_owned(), messages, options: object(json!({"cache_control": null})), ..Request::default() }
}

fn tool(name: &str) -> Tool {
    Tool { name: name.to_owned(), description: "Does it".to_owned(), parameters: json!({"type": "object"}) }
}

fn result(id: &str, text: &str) -> ToolResult {
    ToolResult {
        call_id: id.to_owned(),
        name: "f".to_owned(),
        text: text.to_owned(),
        images: Vec::new(),
        is_error: false,
    }
}

fn png() -> Image {
    Image { media_type: "image/png".to_owned(), data: "iVBO".to_owned() }
}

fn png_block() -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}})
}

#[test]
fn a_small_request() {
    let request = request(vec![Message::user("Hi")]);
    let written = Anthropic.request(&provider(), &request).unwrap();
    assert_eq!(written.path, ["messages"]);
    assert_eq!(written.headers, [("anthropic-version", "2023-06-01".to_owned())]);
    assert_eq!(written.key, KeyHeader::Named("x-api-key"));
    assert_eq!(written.framing, Framing::Events);
    assert_eq!(
        written.body,
        json!({
            "model": "m",
            "max_tokens": 16_384,
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        })
    );
}

#[test]
fn every_setting_has_its_member() {
    let request = Request {
        system: Some("Be brief".to_owned()),
        tools: vec![tool("f")],
        max_output_tokens: Some(7),
        temperature: Some(0.5),
        top_p: Some(0.25),
        stop: vec!["END".to_owned()],
        output: Some(OutputSchema { name: "o".to_owned(), schema: json!({"type": "string"}) }),
        stream: true,
        options: object(json!({
            "cache_control": null,
            "output_config": {"effort": "low"},
            "thinking": {"type": "adaptive"},
            "top_p": 0.75,
        })),
        ..request(vec![Message::user("Hi")])
    };
    assert_eq!(
        body(&request),
        json!({
            "model": "m",
            "max_tokens": 7,
            "system": [{"type": "text", "text": "Be brief"}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
            "tools": [{"name": "f", "description": "Does it", "input_schema": {"type": "object"}}],
            "temperature": 0.5,
            "top_p": 0.75,
            "stop_sequences": ["END"],
            "output_config": {"format": {"type": "json_schema", "schema": {"type": "string"}}, "effort": "low"},
            "thinking": {"type": "adaptive"},
            "stream": true,
        })
    );
}

#[test]
fn the_default_bound_has_room_for_a_thinking_budget() {
    let mut request = request(vec![Message::user("Hi")]);
    request.options.insert("thinking".to_owned(), json!({"type": "enabled", "budget_tokens": 20_000}));
    assert_eq!(body(&request)["max_tokens"], 36_384);
    request.max_output_tokens = Some(30_000);
    assert_eq!(body(&request)["max_tokens"], 30_000);
}

#[test]
fn results_follow_their_calls_in_one_user_message_before_its_text() {
    let messages = vec![
        Message::user("Go"),
        Message::assistant(vec![
            Part::Text("Two".to_owned()),
            call("a", "f", json!({"x": 1})),
            call("b.c", "g h", json!({})),
        ]),
        Message::user("Hurry"),
        Message::results(vec![result("a", "one")]),
        Message::results(vec![ToolResult { images: vec![png()], ..result("b.c", "two") }]),
        Message { role: Role::User, parts: vec![Part::Text("And".to_owned()), Part::Image(png())] },
    ];
    assert_eq!(
        body(&request(messages))["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Go"}]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Two"},
                {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
                {"type": "tool_use", "id": "b_c_1", "name": "g_h", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "one"}]},
                {"type": "tool_result", "tool_use_id": "b_c_1", "content": [{"type": "text", "text": "two"}, png_block()]},
                {"type": "text", "text": "Hurry"},
                {"type": "text", "text": "And"},
                png_block(),
            ]},
        ])
    );
}

#[test]
fn a_failed_call_has_text_alone_in_its_result() {
    let failed = ToolResult { images: vec![png()], is_error: true, ..result("a", "") };
    let messages = vec![
        Message::assistant(vec![call("a", "f", json!({})), call("b", "f", json!({}))]),
        Message::results(vec![failed, result("b", "")]),
    ];
    let body = body(&request(messages));
    let content = &body["messages"][1]["content"];
    assert_eq!(content[0]["is_error"], true);
    assert_eq!(content[0]["content"].as_array().unwrap().len(), 1);
    assert!(!content[0]["content"][0]["text"].as_str().unwrap().is_empty());
    assert_eq!(content[1], json!({"type": "tool_result", "tool_use_id": "b"}));
    assert_eq!(content[2], png_block());
}

#[test]
fn empty_text_and_messages_are_left_out() {
    let broken = ToolCall {
        id: "a".to_owned(),
        name: String::new(),
        arguments: Arguments::Broken("{".to_owned()),
        opaque: None,
    };
    let messages = vec![
        Message::user("One"),
        Message::assistant(vec![Part::Text(" \n".to_owned())]),
        Message::user(""),
        Message::user("Two"),
        Message::assistant(vec![Part::Text(String::new()), Part::ToolCall(broken)]),
    ];
    let request = Request { system: Some(" ".to_owned()), ..request(messages) };
    let body = body(&request);
    assert!(body.get("system").is_none());
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "_", "input": {}}]},
        ])
    );
}

#[test]
fn a_conversation_without_content_is_refused_here() {
    let error = Anthropic.request(&provider(), &request(vec![Message::user(" ")])).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Configuration);
}

#[test]
fn thoughts_go_back_to_the_model_that_had_them() {
    let other = Origin { model: "n".to_owned(), ..origin() };
    let signed = json!({"type": "thinking", "signature": "s"});
    let hidden = json!({"type": "redacted_thinking", "data": "d"});
    let unsigned = Part::Reasoning(crate::Reasoning { text: "c".to_owned(), from: origin(), data: None });
    let parts = vec![
        thought(&origin(), "a", signed.clone()),
        thought(&other, "b", signed),
        unsigned,
        thought(&origin(), "", hidden.clone()),
        thought(&other, "", hidden.clone()),
    ];
    assert_eq!(
        body(&request(vec![Message::assistant(parts)]))["messages"][0]["content"],
        json!([{"type": "thinking", "thinking": "a", "signature": "s"}, hidden])
    );
}

#[test]
fn calls_without_tools_have_a_tool_that_cannot_be_called() {
    let messages = vec![
        Message::user("q"),
        Message::assistant(vec![call("a", "f", json!({}))]),
        Message::results(vec![result("a", "done")]),
    ];
    let written = body(&request(messages.clone()));
    assert_eq!(written["tools"], json!([{"name": "no_tool", "input_schema": {"type": "object"}}]));
    assert_eq!(written["tool_choice"], json!({"type": "none"}));
    let with_tools = body(&Request { tools: vec![tool("f")], ..request(messages) });
    assert_eq!(with_tools["tools"][0]["name"], "f");
    assert!(with_tools.get("tool_choice").is_none());
    assert!(body(&request(vec![Message::user("q")])).get("tools").is_none());
}

#[test]
fn choices_of_tools() {
    let named = || ToolChoice::Tool("f".to_owned());
    for (choice, parallel, written) in [
        (ToolChoice::Auto, None, Value::Null),
        (ToolChoice::Auto, Some(false), json!({"type": "auto", "disable_parallel_tool_use": true})),
        (ToolChoice::Required, None, json!({"type": "any"})),
        (ToolChoice::Required, Some(true), json!({"type": "any", "disable_parallel_tool_use": false})),
        (named(), Some(false), json!({"type": "tool", "name": "f", "disable_parallel_tool_use": true})),
        (ToolChoice::None, Some(false), json!({"type": "none"})),
    ] {
        let asked = Request {
            tools: vec![tool("f")],
            tool_choice: choice,
            parallel_tool_calls: parallel,
            ..request(vec![Message::user("Hi")])
        };
        assert_eq!(body(&asked)["tool_choice"], written);
        let without_tools = Request { tools: Vec::new(), ..asked };
        assert!(body(&without_tools).get("tool_choice").is_none());
    }
}

/// Paths of all blocks that are marked.
fn marks(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if name == "cache_control" {
                    assert_eq!(*value, json!({"type": "ephemeral"}));
                    found.push(path.to_owned());
                }
                marks(value, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                marks(item, &format!("{path}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn what_a_turn_repeats_is_cached() {
    let messages = vec![
        Message::user("Go"),
        Message::assistant(vec![call("a", "f", json!({}))]),
        Message::results(vec![result("a", "one")]),
        Message::assistant(vec![call("b", "f", json!({})), call("c", "f", json!({}))]),
        Message::results(vec![result("b", "two"), result("c", "three")]),
    ];
    let mut asked = Request {
        system: Some("Be brief".to_owned()),
        tools: vec![tool("f"), tool("g")],
        options: serde_json::Map::new(),
        ..request(messages)
    };
    let marked = |request: &Request| {
        let mut found = Vec::new();
        marks(&body(request), "", &mut found);
        found.sort();
        found
    };
    assert_eq!(marked(&asked), ["/messages/2/content/0", "/messages/4/content/1", "/system/0", "/tools/1"]);

    asked.options = object(json!({"cache_control": {"type": "ephemeral"}}));
    assert_eq!(marked(&asked), [""], "the provider places them");
    asked.options = object(json!({"cache_control": null}));
    assert!(marked(&asked).is_empty());
    assert!(body(&asked).get("cache_control").is_none());
}
