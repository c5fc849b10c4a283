//! Requests.

use serde_json::{Map, Value, json};

use super::{body, input, origin, provider};
use crate::wire::openai_responses::OpenaiResponses;
use crate::wire::{Framing, KeyHeader, Wire};
use crate::{
    Arguments, Image, Message, Origin, OutputSchema, Part, Reasoning, Request, Role, Tool, ToolCall, ToolChoice,
    ToolResult,
};

fn tool() -> Tool {
    Tool { name: "add".to_owned(), description: "Adds.".to_owned(), parameters: json!({ "type": "object" }) }
}

fn call(id: &str, arguments: Arguments) -> Part {
    Part::ToolCall(ToolCall { id: id.to_owned(), name: "add".to_owned(), arguments, opaque: None })
}

fn result(id: &str, text: &str, images: Vec<Image>) -> ToolResult {
    let (call_id, name, text) = (id.to_owned(), "add".to_owned(), text.to_owned());
    ToolResult { call_id, name, text, images, is_error: false }
}

fn thought(from: Origin, data: Value) -> Part {
    Part::Reasoning(Reasoning { text: "Hm.".to_owned(), from, data: Some(data) })
}

fn image() -> Image {
    Image { media_type: "image/png".to_owned(), data: "AAAA".to_owned() }
}

fn encrypted() -> Value {
    json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "secret" })
}

fn said(text: &str) -> Value {
    json!({ "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
}

fn asked(text: &str) -> Value {
    json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] })
}

fn options(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

#[test]
fn a_request_says_everything() {
    let request = Request {
        model: "gpt-5.6".to_owned(),
        system: Some("Be brief.".to_owned()),
        messages: vec![Message::user("Hello")],
        tools: vec![tool()],
        tool_choice: ToolChoice::Tool("add".to_owned()),
        parallel_tool_calls: Some(false),
        max_output_tokens: Some(100),
        temperature: Some(0.5),
        top_p: Some(0.25),
        stop: vec!["END".to_owned()],
        output: Some(OutputSchema { name: "sum".to_owned(), schema: json!({ "type": "object" }) }),
        options: options(json!({ "reasoning": { "effort": "low" }, "text": { "verbosity": "low" } })),
        stream: true,
    };
    let request = OpenaiResponses.request(&provider(), &request).unwrap();
    assert_eq!(request.path, ["responses"]);
    assert_eq!((request.key, request.framing), (KeyHeader::Bearer, Framing::Events));
    assert!(request.query.is_empty());
    assert_eq!(
        request.body,
        json!({
            "model": "gpt-5.6",
            "store": false,
            "include": ["reasoning.encrypted_content"],
            "instructions": "Be brief.",
            "input": [asked("Hello")],
            "tools": [{
                "type": "function",
                "name": "add",
                "description": "Adds.",
                "parameters": { "type": "object" },
                "strict": false,
            }],
            "tool_choice": { "type": "function", "name": "add" },
            "parallel_tool_calls": false,
            "max_output_tokens": 100,
            "temperature": 0.5,
            "top_p": 0.25,
            "text": {
                "format": { "type": "json_schema", "name": "sum", "schema": { "type": "object" }, "strict": false },
                "verbosity": "low",
            },
            "stream": true,
            "reasoning": { "effort": "low" },
        })
    );
}

#[test]
fn what_is_not_asked_is_not_sent() {
    let request = Request {
        messages: vec![Message::user("Hello")],
        tool_choice: ToolChoice::Required,
        parallel_tool_calls: Some(true),
        ..Request::default()
    };
    let body = body(request);
    let names: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["model", "store", "include", "input"]);
}

#[test]
fn choices_of_tools_have_their_form() {
    let choice =
        |tool_choice| body(Request { tools: vec![tool()], tool_choice, ..Request::default() })["tool_choice"].take();
    assert_eq!(choice(ToolChoice::Auto), Value::Null);
    assert_eq!(choice(ToolChoice::None), "none");
    assert_eq!(choice(ToolChoice::Required), "required");
}

#[test]
fn options_win() {
    let body = body(Request { options: options(json!({ "store": true, "include": [] })), ..Request::default() });
    assert_eq!((&body["store"], &body["include"]), (&json!(true), &json!([])));
}

#[test]
fn models_that_do_not_reason_are_not_asked_for_reasoning() {
    let asked = |model: &str| {
        let request = Request { model: model.to_owned(), ..Request::default() };
        OpenaiResponses.request(&provider(), &request).unwrap().body.get("include").is_some()
    };
    for model in
        ["gpt-4o", "openai/gpt-4.1-mini", "ft:gpt-4o:team", "gpt-3.5-turbo", "chatgpt-4o-latest", "gpt-5-chat-latest"]
    {
        assert!(!asked(model), "{model}");
    }
    for model in ["o3", "gpt-5", "gpt-5.6-sol", "openai/gpt-5-mini", "gpt-oss-120b", "new"] {
        assert!(asked(model), "{model}");
    }
}

#[test]
fn calls_and_results_are_items() {
    let arguments = json!({ "x": 1, "y": [2] }).as_object().cloned().unwrap();
    let messages = vec![
        Message::user("Add"),
        Message::assistant(vec![
            Part::Text("I add.".to_owned()),
            call("call_1", Arguments::Object(arguments)),
            call("call_2", Arguments::Broken("{\"x\":".to_owned())),
        ]),
        Message::results(vec![result("call_1", "3", Vec::new()), result("call_2", "Broken.", vec![image()])]),
    ];
    let picture = json!({ "type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAAA" });
    assert_eq!(
        input(messages),
        json!([
            asked("Add"),
            said("I add."),
            { "type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{\"x\":1,\"y\":[2]}" },
            { "type": "function_call", "call_id": "call_2", "name": "add", "arguments": "{\"x\":" },
            { "type": "function_call_output", "call_id": "call_1", "output": "3" },
            {
                "type": "function_call_output",
                "call_id": "call_2",
                "output": [{ "type": "input_text", "text": "Broken." }, picture],
            },
        ])
    );
}

#[test]
fn a_user_gives_text_and_images_in_one_message() {
    let parts = vec![Part::Text("Look".to_owned()), Part::Image(image())];
    let picture = json!({ "type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,AAAA" });
    assert_eq!(
        input(vec![Message { role: Role::User, parts }]),
        json!([{ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "Look" }, picture] }])
    );
}

#[test]
fn reasoning_goes_back_to_its_model_alone() {
    let answer = |from| Message::assistant(vec![thought(from, encrypted()), Part::Text("Yes".to_owned())]);
    assert_eq!(input(vec![answer(origin("gpt-5.6"))]), json!([encrypted(), said("Yes")]));
    assert_eq!(input(vec![answer(origin("gpt-5.2"))]), json!([said("Yes")]));
    let elsewhere = Origin { provider: "azure".to_owned(), ..origin("gpt-5.6") };
    assert_eq!(input(vec![answer(elsewhere)]), json!([said("Yes")]));
}

#[test]
fn reasoning_that_nothing_follows_is_left_out() {
    let alone = Message::assistant(vec![thought(origin("gpt-5.6"), encrypted())]);
    assert_eq!(input(vec![alone, Message::user("Go on")]), json!([asked("Go on")]));
}

#[test]
fn reasoning_without_content_goes_back_only_where_answers_are_stored() {
    let data = json!({ "type": "reasoning", "id": "rs_1", "summary": [] });
    let messages =
        vec![Message::assistant(vec![thought(origin("gpt-5.6"), data.clone()), Part::Text("Yes".to_owned())])];
    assert_eq!(input(messages.clone()), json!([said("Yes")]));
    let stored = body(Request { messages, options: options(json!({ "store": true })), ..Request::default() });
    assert_eq!(stored["input"], json!([data, said("Yes")]));
}

#[test]
fn a_phase_goes_back_with_its_text() {
    let marker = |phase: &str| json!({ "type": "message", "id": format!("msg_{phase}"), "phase": phase });
    let messages = vec![Message::assistant(vec![
        thought(origin("gpt-5.6"), marker("commentary")),
        Part::Text("I look.".to_owned()),
        thought(origin("gpt-5.6"), encrypted()),
        thought(origin("gpt-5.6"), marker("final_answer")),
        Part::Text("Done.".to_owned()),
        Part::Text("Really.".to_owned()),
    ])];
    let phased = |text: &str, phase: &str| {
        let mut item = said(text);
        item["id"] = json!(format!("msg_{phase}"));
        item["phase"] = json!(phase);
        item["status"] = json!("completed");
        item
    };
    let expected =
        json!([phased("I look.", "commentary"), encrypted(), phased("Done.", "final_answer"), said("Really.")]);
    assert_eq!(input(messages), expected);
}

#[test]
fn empty_answers_are_left_out() {
    let messages = vec![Message::assistant(Vec::new()), Message::assistant(vec![Part::Text(String::new())])];
    assert_eq!(input(messages), json!([]));
}

#[test]
fn long_ids_of_other_providers_become_short_ones() {
    let (one, two, short) = ("a".repeat(65), "b".repeat(3000), "c".repeat(64));
    let ids = [&two, &one, &short];
    let calls = ids.iter().map(|id| call(id, Arguments::Object(Map::new()))).collect();
    let results = ids.iter().rev().map(|id| result(id, "", Vec::new())).collect();
    let items = input(vec![Message::assistant(calls), Message::results(results)]);
    let sent: Vec<&str> = items.as_array().unwrap().iter().map(|item| item["call_id"].as_str().unwrap()).collect();
    assert!(sent.iter().all(|id| id.len() <= 64));
    assert_eq!(sent[2], short);
    assert_ne!(sent[0], sent[1]);
    assert_eq!([sent[5], sent[4], sent[3]], sent[..3]);
}
