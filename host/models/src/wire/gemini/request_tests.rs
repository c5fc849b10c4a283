//! Requests to Gemini.

use std::time::Duration;

use agent_spaces_secrets::Secret;
use serde_json::{Map, Value, json};

use super::Gemini;
use super::kept::Kept;
use crate::wire::{Framing, KeyHeader, Wire, WireRequest};
use crate::{
    Api, Arguments, Image, Message, ModelErrorKind, Opaque, Origin, OutputSchema, Part, Provider, Reasoning, Request,
    Role, Tool, ToolCall, ToolChoice, ToolResult,
};

const OLD: &str = "gemini-2.5-flash";
const NEW: &str = "gemini-3-pro";

fn origin(model: &str) -> Origin {
    Origin { provider: "google".to_owned(), model: model.to_owned(), api: Api::Gemini }
}

fn write(request: &Request) -> WireRequest {
    let provider = Provider {
        name: "google".to_owned(),
        api: Api::Gemini,
        base_url: url::Url::parse("https://models.example/v1beta").unwrap(),
        key: Some(Secret::new("the-key-of-google")),
        headers: Vec::new(),
        timeout: Duration::from_secs(1),
        openrouter: false,
    };
    Gemini.request(&provider, request).unwrap()
}

fn contents(model: &str, messages: Vec<Message>) -> Value {
    write(&Request { model: model.to_owned(), messages, ..Request::default() }).body["contents"].clone()
}

fn call(id: &str, opaque: Option<Opaque>) -> Part {
    let arguments = Arguments::Object(json!({"x": 1}).as_object().cloned().unwrap());
    Part::ToolCall(ToolCall { id: id.to_owned(), name: "add".to_owned(), arguments, opaque })
}

fn result(id: &str) -> ToolResult {
    let (call_id, name, text) = (id.to_owned(), "add".to_owned(), "2".to_owned());
    ToolResult { call_id, name, text, images: Vec::new(), is_error: false }
}

fn reasoning(from: Origin, text: &str, kept: Option<Kept>) -> Part {
    Part::Reasoning(Reasoning { text: text.to_owned(), from, data: kept.map(Kept::into_value) })
}

fn image() -> Image {
    Image { media_type: "image/png".to_owned(), data: "aGk=".to_owned() }
}

#[test]
fn paths_and_keys() {
    let mut request = Request { model: "models/gemini-3-pro".to_owned(), ..Request::default() };
    let written = write(&request);
    assert_eq!(written.path, ["models", "gemini-3-pro:generateContent"]);
    assert!(written.query.is_empty());
    assert_eq!(written.key, KeyHeader::Named("x-goog-api-key"));
    request.stream = true;
    let written = write(&request);
    assert_eq!(written.path, ["models", "gemini-3-pro:streamGenerateContent"]);
    assert_eq!(written.query, [("alt", "sse")]);
    assert_eq!(written.framing, Framing::Events);
    assert!(!format!("{written:?}").contains("the-key"));
}

#[test]
fn all_settings() {
    let tool = |name: &str, parameters| Tool { name: name.to_owned(), description: "d".to_owned(), parameters };
    let schema =
        json!({"type": "object", "properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "number"}}});
    let request = Request {
        model: OLD.to_owned(),
        system: Some("be brief".to_owned()),
        messages: vec![Message::user("hi")],
        tools: vec![
            tool("add", schema.clone()),
            tool("ping", json!({"type": "object", "properties": {}, "required": []})),
        ],
        tool_choice: ToolChoice::Tool("add".to_owned()),
        max_output_tokens: Some(10),
        temperature: Some(0.5),
        top_p: Some(0.9),
        stop: vec!["end".to_owned()],
        output: Some(OutputSchema { name: "o".to_owned(), schema: json!({"type": "string"}) }),
        options:
            json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}, "topP": 1}, "cachedContent": "c"})
                .as_object()
                .cloned()
                .unwrap(),
        ..Request::default()
    };
    let expected = json!({
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "tools": [{"functionDeclarations": [
            {"name": "add", "description": "d", "parametersJsonSchema": schema},
            {"name": "ping", "description": "d"},
        ]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["add"]}},
        "generationConfig": {
            "maxOutputTokens": 10, "temperature": 0.5, "topP": 1, "stopSequences": ["end"],
            "responseMimeType": "application/json", "responseJsonSchema": {"type": "string"},
            "thinkingConfig": {"includeThoughts": true},
        },
        "cachedContent": "c",
    });
    assert_eq!(write(&request).body, expected);
    let modes = [(ToolChoice::Auto, "AUTO"), (ToolChoice::None, "NONE"), (ToolChoice::Required, "ANY")];
    for (tool_choice, mode) in modes {
        let body = write(&Request { tool_choice, ..request.clone() }).body;
        assert_eq!(body["toolConfig"], json!({"functionCallingConfig": {"mode": mode}}));
    }
    let body = write(&Request { tools: Vec::new(), ..request }).body;
    assert_eq!((body.get("tools"), body.get("toolConfig")), (None, None));
}

#[test]
fn a_request_without_a_model_is_refused() {
    let provider = Provider {
        name: "google".to_owned(),
        api: Api::Gemini,
        base_url: url::Url::parse("https://models.example").unwrap(),
        key: None,
        headers: Vec::new(),
        timeout: Duration::from_secs(1),
        openrouter: false,
    };
    let error = Gemini.request(&provider, &Request::default()).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Configuration);
}

#[test]
fn neighbours_are_merged_and_empty_messages_left_out() {
    let written = contents(
        OLD,
        vec![
            Message { role: Role::User, parts: vec![Part::Text("see".to_owned()), Part::Image(image())] },
            Message::user("more"),
            Message::assistant(vec![Part::Text(String::new())]),
            Message::assistant(vec![call("a", None)]),
            Message::assistant(vec![call("b", None)]),
            Message::results(vec![result("a")]),
            Message::results(vec![ToolResult { is_error: true, ..result("b") }]),
            Message::user("go on"),
            Message::assistant(Vec::new()),
        ],
    );
    let call = json!({"functionCall": {"name": "add", "args": {"x": 1}}});
    let expected = json!([
        {"role": "user", "parts": [
            {"text": "see"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}, {"text": "more"},
        ]},
        {"role": "model", "parts": [call, call]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "add", "response": {"result": "2"}}},
            {"functionResponse": {"name": "add", "response": {"error": "2"}}},
        ]},
        {"role": "user", "parts": [{"text": "go on"}]},
    ]);
    assert_eq!(written, expected);
}

#[test]
fn broken_arguments_are_an_empty_object() {
    let call = ToolCall {
        id: "a".to_owned(),
        name: "add".to_owned(),
        arguments: Arguments::Broken("{\"x".to_owned()),
        opaque: None,
    };
    let written = contents(OLD, vec![Message::assistant(vec![Part::ToolCall(call)])]);
    assert_eq!(written[0]["parts"][0]["functionCall"]["args"], Value::Object(Map::new()));
}

#[test]
fn images_of_results() {
    let results = vec![ToolResult { images: vec![image()], ..result("a") }, result("b")];
    let data = json!({"inlineData": {"mimeType": "image/png", "data": "aGk="}});
    let parts = contents(NEW, vec![Message::results(results.clone())])[0]["parts"].clone();
    assert_eq!(parts[0]["functionResponse"]["parts"], json!([data]));
    assert_eq!(parts.as_array().unwrap().len(), 2);
    let parts = contents(OLD, vec![Message::results(results)])[0]["parts"].clone();
    assert!(parts[0]["functionResponse"].get("parts").is_none());
    assert!(parts[1].get("functionResponse").is_some());
    assert_eq!(parts[3], data);
}

#[test]
fn signatures_and_ids_go_back_to_their_model_alone() {
    let messages = |from: &Origin| {
        let opaque = Opaque { from: from.clone(), value: json!({"thoughtSignature": "s1", "id": "given"}) };
        vec![
            Message::assistant(vec![
                reasoning(from.clone(), "summary", None),
                reasoning(from.clone(), "deep", Some(Kept::Thought("s2".to_owned()))),
                Part::Text("one".to_owned()),
                Part::Text("two".to_owned()),
                reasoning(from.clone(), "", Some(Kept::Text("s3".to_owned()))),
                reasoning(from.clone(), "", Some(Kept::Part(json!({"executableCode": {"code": "1"}})))),
                call("ours", Some(opaque)),
            ]),
            Message::results(vec![result("ours")]),
        ]
    };
    let call = |id: bool| {
        let mut call = json!({"name": "add", "args": {"x": 1}});
        if id {
            call["id"] = json!("given");
        }
        call
    };
    let response = json!({"name": "add", "id": "given", "response": {"result": "2"}});
    let expected = json!([
        {"role": "model", "parts": [
            {"text": "deep", "thought": true, "thoughtSignature": "s2"},
            {"text": "one"},
            {"text": "two", "thoughtSignature": "s3"},
            {"executableCode": {"code": "1"}},
            {"functionCall": call(true), "thoughtSignature": "s1"},
        ]},
        {"role": "user", "parts": [{"functionResponse": response}]},
    ]);
    assert_eq!(contents(OLD, messages(&origin(OLD))), expected);
    let others = [origin(NEW), Origin { provider: "vertex".to_owned(), ..origin(OLD) }];
    for other in others {
        let expected = json!([
            {"role": "model", "parts": [{"text": "one"}, {"text": "two"}, {"functionCall": call(false)}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {"result": "2"}}}]},
        ]);
        assert_eq!(contents(OLD, messages(&other)), expected);
    }
}

#[test]
fn calls_of_other_models_are_marked_for_models_that_check_signatures() {
    let foreign = vec![Message::assistant(vec![call("a", None), call("b", None)])];
    let parts = contents(NEW, foreign.clone())[0]["parts"].clone();
    assert_eq!(parts[0]["thoughtSignature"], "skip_thought_signature_validator");
    assert!(parts[1].get("thoughtSignature").is_none());
    assert!(contents(OLD, foreign)[0]["parts"][0].get("thoughtSignature").is_none());
    let opaque = Opaque { from: origin(NEW), value: json!({"thoughtSignature": "s"}) };
    let own = vec![Message::assistant(vec![call("a", Some(opaque)), call("b", None)])];
    let parts = contents(NEW, own)[0]["parts"].clone();
    assert_eq!((&parts[0]["thoughtSignature"], parts[1].get("thoughtSignature")), (&json!("s"), None));
}
