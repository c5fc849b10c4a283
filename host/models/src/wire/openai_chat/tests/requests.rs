use serde_json::{Map, Value, json};
use url::Url;

use super::{body_of, local, origin, provider};
use crate::wire::openai_chat::OpenaiChat;
use crate::wire::{KeyHeader, Wire};
use crate::{
    Arguments, Image, Message, ModelErrorKind, Opaque, OutputSchema, Part, Reasoning, Request, Role, Tool, ToolCall,
    ToolChoice, ToolResult,
};

fn request(messages: Vec<Message>) -> Request {
    Request { model: "m".to_owned(), messages, ..Request::default() }
}

fn messages(messages: Vec<Message>) -> Value {
    body_of(&provider("local"), &request(messages))["messages"].clone()
}

fn call(id: &str, arguments: Arguments) -> Part {
    Part::ToolCall(ToolCall { id: id.to_owned(), name: "t".to_owned(), arguments, opaque: None })
}

fn result(id: &str, text: &str) -> ToolResult {
    let (call_id, name) = (id.to_owned(), "t".to_owned());
    ToolResult { call_id, name, text: text.to_owned(), images: Vec::new(), is_error: false }
}

fn png() -> Image {
    Image { media_type: "image/png".to_owned(), data: "AAAA".to_owned() }
}

fn members(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn every_member_of_a_request() {
    let request = Request {
        model: "gpt".to_owned(),
        system: Some("be short".to_owned()),
        messages: vec![Message::user("hi")],
        tools: vec![Tool { name: "t".to_owned(), description: "d".to_owned(), parameters: json!({"type": "object"}) }],
        tool_choice: ToolChoice::Tool("t".to_owned()),
        parallel_tool_calls: Some(false),
        max_output_tokens: Some(7),
        temperature: Some(0.5),
        top_p: Some(0.25),
        stop: vec!["END".to_owned()],
        output: Some(OutputSchema { name: "o".to_owned(), schema: json!({"type": "object"}) }),
        options: members(json!({"seed": 1, "stream_options": {"more": true}, "top_p": 1})),
        stream: true,
    };
    let wire = OpenaiChat.request(&provider("openai"), &request).unwrap();
    assert_eq!((wire.path.join("/").as_str(), wire.key), ("chat/completions", KeyHeader::Bearer));
    assert_eq!(
        wire.body,
        json!({
            "model": "gpt",
            "messages": [{"role": "system", "content": "be short"}, {"role": "user", "content": "hi"}],
            "tools": [{"type": "function", "function": {"name": "t", "description": "d", "parameters": {"type": "object"}}}],
            "tool_choice": {"type": "function", "function": {"name": "t"}},
            "parallel_tool_calls": false,
            "max_completion_tokens": 7,
            "temperature": 0.5,
            "top_p": 1,
            "stop": ["END"],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "o", "schema": {"type": "object"}, "strict": false},
            },
            "stream": true,
            "stream_options": {"include_usage": true, "more": true},
            "seed": 1,
        })
    );
}

#[test]
fn what_is_not_asked_is_not_written() {
    let mut request = request(vec![Message::user("hi")]);
    request.tool_choice = ToolChoice::Required;
    request.parallel_tool_calls = Some(true);
    let body = body_of(&provider("local"), &request);
    assert_eq!(body, json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}));
}

#[test]
fn choices_of_tools() {
    let written = |choice: ToolChoice| {
        let tool = Tool { name: "t".to_owned(), description: String::new(), parameters: json!({}) };
        let request = Request { tools: vec![tool], tool_choice: choice, ..request(Vec::new()) };
        body_of(&provider("local"), &request).get("tool_choice").cloned()
    };
    assert_eq!(written(ToolChoice::Auto), None);
    assert_eq!(written(ToolChoice::None), Some(json!("none")));
    assert_eq!(written(ToolChoice::Required), Some(json!("required")));
}

#[test]
fn the_bound_on_tokens_has_the_name_that_the_host_knows() {
    let name = |base: &str| {
        let mut provider = provider("local");
        provider.base_url = Url::parse(base).unwrap();
        let body = body_of(&provider, &Request { max_output_tokens: Some(7), ..request(Vec::new()) });
        let names = ["max_tokens", "max_completion_tokens"];
        names.into_iter().filter(|name| body.get(name) == Some(&json!(7))).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(name("https://api.openai.com/v1"), "max_completion_tokens");
    assert_eq!(name("https://eu.api.openai.com/v1"), "max_completion_tokens");
    assert_eq!(name("https://x.openai.azure.com/openai/v1"), "max_completion_tokens");
    assert_eq!(name("https://openrouter.ai/api/v1"), "max_tokens");
    assert_eq!(name("https://notapi.openai.com.example.org/v1"), "max_tokens");
}

#[test]
fn a_schema_is_strict_if_the_provider_takes_it_so() {
    let is_strict = |schema: Value| {
        let output = Some(OutputSchema { name: "o".to_owned(), schema });
        let body = body_of(&provider("openai"), &Request { output, ..request(Vec::new()) });
        body["response_format"]["json_schema"]["strict"].as_bool().unwrap()
    };
    let closed = |inner: Value| json!({"type": "object", "properties": {"a": inner}, "required": ["a"], "additionalProperties": false});
    assert!(is_strict(closed(json!({"type": "string"}))));
    assert!(is_strict(closed(json!({"type": "array", "items": closed(json!({"type": ["string", "null"]}))}))));
    assert!(!is_strict(closed(json!({"type": "array", "items": {"type": "object"}}))));
    assert!(!is_strict(closed(json!({"oneOf": [{"type": "string"}]}))));
    assert!(!is_strict(
        json!({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": false})
    ));
    assert!(!is_strict(json!({"type": "string"})));
    let deep = (0..100).fold(json!({"type": "string"}), |inner, _| closed(inner));
    assert!(!is_strict(deep));
}

#[test]
fn calls_results_and_failures() {
    let arguments = Arguments::Object(members(json!({"a": 1})));
    let said = Message::assistant(vec![
        Part::Text("let me".to_owned()),
        call("c1", arguments),
        call("c2", Arguments::Broken("{".to_owned())),
    ]);
    let failed = ToolResult { is_error: true, ..result("c2", "no such file") };
    let silent = ToolResult { is_error: true, ..result("c3", "") };
    let written = messages(vec![said, Message::results(vec![result("c1", "fine"), failed, silent])]);
    assert_eq!(
        written,
        json!([
            {"role": "assistant", "content": "let me", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "t", "arguments": "{\"a\":1}"}},
                {"id": "c2", "type": "function", "function": {"name": "t", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "fine"},
            {"role": "tool", "tool_call_id": "c2", "content": "Error: no such file"},
            {"role": "tool", "tool_call_id": "c3", "content": "Error: the call failed and gave no reason"},
        ])
    );
}

#[test]
fn images_of_results_follow_after_all_results_of_the_turn() {
    let with_image = ToolResult { images: vec![png()], ..result("c1", "") };
    let written = messages(vec![
        Message::results(vec![with_image]),
        Message::results(vec![result("c2", "text")]),
        Message { role: Role::User, parts: vec![Part::Text("and?".to_owned()), Part::Image(png())] },
    ]);
    let roles: Vec<&str> =
        written.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["tool", "tool", "user"]);
    assert!(!written[0]["content"].as_str().unwrap().is_empty());
    let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}});
    let content = written[2]["content"].as_array().unwrap();
    assert_eq!(content.len(), 4);
    assert!(content[0]["text"].as_str().unwrap().contains("c1"));
    assert_eq!((&content[1], &content[3]), (&image, &image));
    assert_eq!(content[2], json!({"type": "text", "text": "and?"}));
}

#[test]
fn neighbouring_user_messages_are_one_and_empty_messages_are_none() {
    let hidden = Reasoning { text: "hm".to_owned(), from: local(), data: None };
    let written = messages(vec![
        Message::user("a"),
        Message::assistant(vec![Part::Reasoning(hidden)]),
        Message::assistant(vec![Part::Text(String::new())]),
        Message::user("b"),
    ]);
    assert_eq!(written, json!([{"role": "user", "content": "a\n\nb"}]));
}

#[test]
fn long_ids_of_other_providers_are_replaced_in_calls_and_results() {
    let (first, second) = ("x".repeat(41), "y".repeat(4000));
    let none = || Arguments::Object(Map::new());
    let written = messages(vec![
        Message::assistant(vec![call(&first, none()), call(&second, none()), call("short", none())]),
        Message::results(vec![result(&second, ""), result(&first, ""), result("short", "")]),
    ]);
    let id = |at: usize| written[0]["tool_calls"][at]["id"].clone();
    assert_eq!(written[1]["tool_call_id"], id(1));
    assert_eq!(written[2]["tool_call_id"], id(0));
    assert_eq!((written[3]["tool_call_id"].clone(), id(2)), (json!("short"), json!("short")));
    assert!(id(0) != id(1) && id(1).as_str().unwrap().len() <= 40);
}

#[test]
fn reasoning_returns_to_its_model_alone() {
    let details = json!([{"type": "reasoning.text", "index": 0, "text": "a", "signature": "s"}]);
    let written = |name: &str, from: &str, data: Value| {
        let reasoning = Reasoning { text: "a".to_owned(), from: origin(name, from), data: Some(data) };
        let said = Message::assistant(vec![Part::Reasoning(reasoning), Part::Text("b".to_owned())]);
        body_of(&provider(name), &request(vec![said]))["messages"][0].clone()
    };
    let plain = json!({"role": "assistant", "content": "b"});
    let with_details = json!({"role": "assistant", "content": "b", "reasoning_details": details});
    let with_content = json!({"role": "assistant", "content": "b", "reasoning_content": "a"});
    assert_eq!(written("openrouter", "m", json!({"details": details})), with_details);
    assert_eq!(written("openrouter", "other", json!({"details": details})), plain);
    assert_eq!(written("local", "m", json!({"details": details})), plain);
    assert_eq!(written("local", "m", json!({"field": "reasoning_content"})), with_content);
    assert_eq!(written("local", "other", json!({"field": "reasoning_content"})), plain);
    // Data of any other shape harms nothing.
    assert_eq!(written("openrouter", "m", json!({"details": [1, {}], "field": 1}))["content"], "b");
}

#[test]
fn a_signature_that_came_late_returns_to_its_text() {
    let part = |text: &str, details: Value| {
        let data = Some(json!({ "details": details }));
        Part::Reasoning(Reasoning { text: text.to_owned(), from: origin("openrouter", "m"), data })
    };
    let said = Message::assistant(vec![
        part("a", json!([{"type": "reasoning.text", "index": 0, "text": "a"}])),
        Part::Text("b".to_owned()),
        part("", json!([{"type": "reasoning.text", "index": 0, "signature": "s"}])),
    ]);
    let body = body_of(&provider("openrouter"), &request(vec![said]));
    let expected = json!([{"type": "reasoning.text", "index": 0, "text": "a", "signature": "s"}]);
    assert_eq!(body["messages"][0]["reasoning_details"], expected);
}

#[test]
fn what_came_with_a_call_returns_to_its_model_alone() {
    let written = |from: &str| {
        let opaque = Some(Opaque { from: origin("local", from), value: json!({"google": 1}) });
        let arguments = Arguments::Object(Map::new());
        let call = Part::ToolCall(ToolCall { id: "c".to_owned(), name: "t".to_owned(), arguments, opaque });
        messages(vec![Message::assistant(vec![call])])[0]["tool_calls"][0].get("extra_content").cloned()
    };
    assert_eq!(written("m"), Some(json!({"google": 1})));
    assert_eq!(written("other"), None);
}

#[test]
fn parts_that_a_role_cannot_have_are_refused() {
    let refused = |role: Role, part: Part| {
        let request = request(vec![Message { role, parts: vec![part] }]);
        OpenaiChat.request(&provider("local"), &request).unwrap_err().kind
    };
    let cases = [
        (Role::User, call("c", Arguments::Object(Map::new()))),
        (Role::Assistant, Part::Image(png())),
        (Role::Tool, Part::Text("a".to_owned())),
    ];
    for (role, part) in cases {
        assert_eq!(refused(role, part), ModelErrorKind::Configuration);
    }
}
