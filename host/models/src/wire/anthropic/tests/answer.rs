//! Answers, whole and streamed.

use serde_json::{Value, json};

use super::{body, call, origin, thought};
use crate::bounds::MAX_ANSWER;
use crate::frames::Frame;
use crate::wire::anthropic::Anthropic;
use crate::wire::recordings::{decode, decode_cut_everywhere};
use crate::wire::{Framing, Refusal, Wire};
use crate::{Answer, Finish, Message, ModelError, ModelErrorKind, Part, Request, Usage};

fn stream(events: &[Value]) -> String {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or("x"));
    events.iter().map(event).collect()
}

fn read(events: &[Value]) -> Result<Answer, ModelError> {
    decode(&Anthropic, &origin(), Framing::Events, &stream(events))
}

fn whole(message: &Value) -> Result<Answer, ModelError> {
    Anthropic.whole(&origin(), message.to_string().as_bytes())
}

fn message_start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "model": "m-1", "usage": {"input_tokens": 5, "output_tokens": 1}}})
}

fn start(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ]
}

/// An answer with one of everything.
fn rich() -> Vec<Value> {
    let mut events = vec![
        message_start(),
        json!({"type": "ping"}),
        start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Let "})),
        delta(0, json!({"type": "thinking_delta", "thinking": "me"})),
        delta(0, json!({"type": "signature_delta", "signature": "si"})),
        delta(0, json!({"type": "signature_delta", "signature": "gn"})),
        stop(0),
        start(1, json!({"type": "redacted_thinking", "data": "hid"})),
        stop(1),
        start(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "Grüß "})),
        delta(2, json!({"type": "citations_delta", "citation": {"cited_text": "x"}})),
        delta(2, json!({"type": "text_delta", "text": "dich"})),
        stop(2),
        start(3, json!({"type": "future", "text": "no"})),
        delta(3, json!({"type": "text_delta", "text": "no"})),
        stop(3),
        json!({"type": "future_event", "index": 3}),
        start(4, json!({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}})),
        delta(4, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(4, json!({"type": "input_json_delta", "partial_json": "{\"a\": [1,"})),
        delta(4, json!({"type": "input_json_delta", "partial_json": " 2]}"})),
        stop(4),
        start(5, json!({"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}})),
        stop(5),
        start(6, json!({"type": "tool_use", "id": "toolu_3", "name": "h", "input": {"at": "once"}})),
        stop(6),
    ];
    events.extend(end("tool_use"));
    events
}

fn rich_parts() -> Vec<Part> {
    vec![
        thought(&origin(), "Let me", json!({"type": "thinking", "signature": "sign"})),
        thought(&origin(), "", json!({"type": "redacted_thinking", "data": "hid"})),
        Part::Text("Grüß dich".to_owned()),
        call("toolu_1", "f", json!({"a": [1, 2]})),
        call("toolu_2", "g", json!({})),
        call("toolu_3", "h", json!({"at": "once"})),
    ]
}

#[test]
fn a_stream_with_one_of_everything() {
    let answer = read(&rich()).unwrap();
    assert_eq!(answer.parts, rich_parts());
    assert_eq!(answer.finish, Finish::ToolCalls);
    assert_eq!(answer.model.as_deref(), Some("m-1"));
    assert_eq!(answer.usage, Usage { input_tokens: 5, output_tokens: 9, ..Usage::default() });
    decode_cut_everywhere(&Anthropic, &origin(), Framing::Events, &stream(&rich()));
}

#[test]
fn a_whole_answer_gives_the_same() {
    let answer = whole(&json!({
        "type": "message", "model": "m-1", "stop_reason": "tool_use", "stop_details": null,
        "content": [
            {"type": "thinking", "thinking": "Let me", "signature": "sign"},
            {"type": "redacted_thinking", "data": "hid"},
            {"type": "text", "text": "Grüß dich", "citations": [{"cited_text": "x"}]},
            {"type": "future", "text": "no"},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": [1, 2]}},
            {"type": "tool_use", "id": "toolu_2", "name": "g", "input": null},
            {"type": "tool_use", "id": "toolu_3", "name": "h", "input": {"at": "once"}},
        ],
        "usage": {"input_tokens": 5, "output_tokens": 9, "cache_read_input_tokens": null},
    }));
    assert_eq!(answer, read(&rich()));
}

#[test]
fn deltas_are_told_as_they_come() {
    let mut told = Vec::new();
    let mut decoder = Anthropic.decoder(&origin());
    for event in rich() {
        let data = event.to_string();
        decoder.event(Frame { name: "", data: &data }, &mut |delta| told.push(format!("{delta:?}"))).unwrap();
    }
    assert_eq!(
        told,
        [
            r#"Reasoning("Let ")"#,
            r#"Reasoning("me")"#,
            r#"Text("Grüß ")"#,
            r#"Text("dich")"#,
            r#"CallStarted { id: "toolu_1", name: "f" }"#,
            r#"CallArguments { id: "toolu_1", text: "{\"a\": [1," }"#,
            r#"CallArguments { id: "toolu_1", text: " 2]}" }"#,
            r#"CallStarted { id: "toolu_2", name: "g" }"#,
            r#"CallStarted { id: "toolu_3", name: "h" }"#,
            r#"CallArguments { id: "toolu_3", text: "{\"at\":\"once\"}" }"#,
        ]
    );
}

#[test]
fn a_stream_without_its_end_is_cut() {
    let body = stream(&rich());
    let last = body.rfind('}').unwrap();
    for length in (0..=last).filter(|length| body.is_char_boundary(*length)) {
        let error = decode(&Anthropic, &origin(), Framing::Events, &body[..length]).unwrap_err();
        assert_eq!(error.kind, ModelErrorKind::Cut, "after {length} bytes: {error}");
    }
    let text = json!({"type": "message", "content": [], "stop_reason": "end_turn"}).to_string();
    let error = Anthropic.whole(&origin(), &text.as_bytes()[..text.len() - 1]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Cut);
}

#[test]
fn tools_that_the_provider_runs_go_back_to_it() {
    let used = json!({"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {"query": "sky"}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "srv", "content": [{"url": "u"}]});
    let mut events = vec![
        message_start(),
        start(0, json!({"type": "server_tool_use", "id": "srv", "name": "web_search", "input": {}})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{\"query\":"})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "\"sky\"}"})),
        stop(0),
        start(1, found.clone()),
        stop(1),
        start(2, json!({"type": "text", "text": "Blue"})),
        stop(2),
    ];
    events.extend(end("pause_turn"));
    let answer = read(&events).unwrap();
    assert_eq!(answer.finish, Finish::Pause);
    assert_eq!(answer.parts.last(), Some(&Part::Text("Blue".to_owned())));
    assert!(!answer.parts.iter().any(|part| matches!(part, Part::ToolCall(_))));

    let messages = vec![Message::user("Why?"), Message::assistant(answer.parts)];
    let request = Request { model: origin().model, messages, ..Request::default() };
    let content = &body(&request)["messages"][1]["content"];
    assert_eq!(*content, json!([used, found, {"type": "text", "text": "Blue"}]));
}

#[test]
fn blocks_of_server_tools_are_bounded_by_their_memory() {
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "srv", "content": vec![0; 300_000]});
    assert!(result.to_string().len() < MAX_ANSWER / 8);
    let mut events = vec![message_start(), start(0, result), stop(0)];
    events.extend(end("pause_turn"));
    assert_eq!(read(&events).unwrap_err().kind, ModelErrorKind::TooLarge);
}

#[test]
fn reasons_why_an_answer_ends() {
    for (reason, details, finish) in [
        ("end_turn", Value::Null, Finish::Stop),
        ("stop_sequence", Value::Null, Finish::Stop),
        ("max_tokens", Value::Null, Finish::Length),
        ("model_context_window_exceeded", Value::Null, Finish::Length),
        ("pause_turn", Value::Null, Finish::Pause),
        ("refusal", Value::Null, Finish::Refused(String::new())),
        ("refusal", json!({"category": "cyber", "explanation": null}), Finish::Refused("cyber".to_owned())),
        ("refusal", json!({"category": "cyber", "explanation": "No."}), Finish::Refused("No.".to_owned())),
        ("new", Value::Null, Finish::Other("new".to_owned())),
    ] {
        let message = json!({"content": [], "stop_reason": reason, "stop_details": details});
        assert_eq!(whole(&message).unwrap().finish, finish);
        let ended = json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_details": details}});
        let answer = read(&[message_start(), ended, json!({"type": "message_stop"})]).unwrap();
        assert_eq!(answer.finish, finish);
    }
}

#[test]
fn usage_counts_cached_tokens_and_does_not_fall() {
    let events = [
        json!({"type": "message_start", "message": {"usage": {
            "input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 2}}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {
            "input_tokens": 0, "cache_read_input_tokens": null, "output_tokens": 40,
            "output_tokens_details": {"thinking_tokens": 30}}}),
        json!({"type": "message_stop"}),
    ];
    let usage = Usage {
        input_tokens: 123,
        output_tokens: 40,
        cached_tokens: 100,
        cache_write_tokens: 20,
        reasoning_tokens: 30,
    };
    assert_eq!(read(&events).unwrap().usage, usage);
}

#[test]
fn errors_that_the_provider_reports() {
    use ModelErrorKind::{ContextWindow, Invalid, Quota, RateLimited, Server, Unauthorized};
    for (code, message, kind) in [
        ("overloaded_error", "Overloaded", Server),
        ("api_error", "Internal server error", Server),
        ("new_error", "?", Server),
        ("rate_limit_error", "Slow down", RateLimited),
        ("invalid_request_error", "temperature: range: 0..1", Invalid),
        ("invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum", ContextWindow),
        ("invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2", ContextWindow),
        ("invalid_request_error", "Your credit balance is too low", Quota),
        ("request_too_large", "Too large", ContextWindow),
        ("not_found_error", "model: x", Invalid),
        ("authentication_error", "invalid x-api-key", Unauthorized),
        ("permission_error", "No", Unauthorized),
        ("billing_error", "Pay", Quota),
    ] {
        let event = json!({"type": "error", "error": {"type": code, "message": message}});
        let mut events = rich();
        events.insert(6, event.clone());
        for error in [read(&events).unwrap_err(), whole(&event).unwrap_err()] {
            assert_eq!((error.kind, error.code.as_deref()), (kind, Some(code)));
            assert!(error.message.contains(message) && error.message.starts_with("claude, model m: "), "{error}");
        }
        let refusal = Refusal { message: Some(message.to_owned()), code: Some(code.to_owned()) };
        assert_eq!(Anthropic.refusal(event.to_string().as_bytes()), refusal);
    }
    for other in ["", "<html>", "[]", r#"{"error": "text"}"#, r#"{"error": {"type": 1}}"#] {
        assert_eq!(Anthropic.refusal(other.as_bytes()), Refusal::default());
    }
}

#[test]
fn a_second_answer_in_the_stream_is_not_mixed_into_the_first() {
    let second = json!({"type": "message_start", "message": {"id": "msg_2"}});
    let mut events = rich();
    events.insert(8, second.clone());
    assert_eq!(read(&events).unwrap_err().kind, ModelErrorKind::Cut);

    let mut events = rich();
    events.insert(8, message_start());
    events.insert(0, second);
    assert_eq!(read(&events).unwrap().parts, rich_parts(), "one that is repeated, or that began with nothing");
}

#[test]
fn odd_answers_fail_without_a_panic() {
    for message in [json!(null), json!([]), json!({}), json!({"content": "text"}), json!({"content": {"0": 1}})] {
        assert_eq!(whole(&message).unwrap_err().kind, ModelErrorKind::Malformed, "{message}");
    }
    let odd = json!({"content": [null, 1, "x", [], {}, {"type": 1}, {"type": "text"}], "stop_reason": "end_turn"});
    assert!(whole(&odd).unwrap().parts.is_empty());
    let input =
        json!({"content": [{"type": "tool_use", "id": "a", "name": "f", "input": "x"}], "stop_reason": "end_turn"});
    let answer = whole(&input).unwrap();
    assert!(
        matches!(&answer.parts[..], [Part::ToolCall(call)] if matches!(call.arguments, crate::Arguments::Broken(_)))
    );

    let mut events = vec![
        json!([]),
        json!(null),
        json!({"type": "content_block_delta"}),
        json!({"type": "content_block_delta", "index": -1, "delta": {"type": "input_json_delta", "partial_json": "{"}}),
        json!({"type": "content_block_start", "index": u64::MAX, "content_block": {"type": "text", "text": "ok"}}),
        json!({"type": "content_block_stop", "index": "x"}),
        json!({"type": "message_delta", "delta": {"stop_reason": 1}, "usage": []}),
    ];
    events.extend(end("end_turn"));
    assert_eq!(read(&events).unwrap().parts, [Part::Text("ok".to_owned())]);

    let twice = start(0, json!({"type": "tool_use", "id": "a", "name": "f"}));
    assert_eq!(read(&[twice.clone(), stop(0), twice]).unwrap_err().kind, ModelErrorKind::Malformed);
    let body = "event: message_start\ndata: {]\n\n";
    let error = decode(&Anthropic, &origin(), Framing::Events, body).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Malformed);
}
