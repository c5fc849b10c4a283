use serde_json::{Value, json};

use super::{body_of, delta, finish, local, piece, provider, stream, text, thoughts, whole};
use crate::bounds::MAX_ERROR_BODY;
use crate::frames::Frame;
use crate::wire::openai_chat::OpenaiChat;
use crate::wire::{Framing, Refusal, Wire, recordings};
use crate::{Delta, Finish, Message, ModelErrorKind, Request, Usage};

#[test]
fn reasons_to_end() {
    let reason = |reason: &str| stream(&[delta(json!({"content": "a"})), finish(reason)]).map(|answer| answer.finish);
    assert_eq!(reason("stop"), Ok(Finish::Stop));
    assert_eq!(reason("length"), Ok(Finish::Length));
    assert!(matches!(reason("content_filter"), Ok(Finish::Refused(why)) if !why.is_empty()));
    assert_eq!(reason("pause"), Ok(Finish::Other("pause".to_owned())));
    // It asks for calls and names none.
    assert_eq!(reason("tool_calls"), Ok(Finish::Other("tool_calls".to_owned())));
    assert_eq!(reason("error").unwrap_err().kind, ModelErrorKind::Server);
    // An empty reason is none.
    assert_eq!(reason("").unwrap_err().kind, ModelErrorKind::Cut);
}

#[test]
fn a_refusal_says_why() {
    let chunks = [delta(json!({"content": "", "refusal": "I'm"})), delta(json!({"refusal": " sorry"})), finish("stop")];
    let answer = stream(&chunks).unwrap();
    assert_eq!((answer.finish.clone(), answer.parts.len()), (Finish::Refused("I'm sorry".to_owned()), 0));
}

#[test]
fn the_end_of_a_stream() {
    let body = |tail: &str| format!("data: {}\n\n{tail}", delta(json!({"content": "a"})));
    let read = |tail: &str| {
        let answer = recordings::decode(&OpenaiChat, &local(), Framing::Events, &body(tail));
        answer.map(|answer| text(&answer)).map_err(|error| error.kind)
    };
    let end = format!("data: {}\n\n", finish("stop"));
    assert_eq!(read(&format!("{end}data: [DONE]\n\n")), Ok("a".to_owned()));
    assert_eq!(read(&end), Ok("a".to_owned()));
    assert_eq!(read(&format!("{end}data: [DO")), Ok("a".to_owned()));
    // What follows is not read.
    assert_eq!(read(&format!("{end}data: [DONE]\n\ndata: nonsense\n\n")), Ok("a".to_owned()));
    assert_eq!(read(""), Err(ModelErrorKind::Cut));
    assert_eq!(read("data: [DONE]\n\n"), Err(ModelErrorKind::Cut));
    assert_eq!(read(&end[..end.len() / 2]), Err(ModelErrorKind::Cut));
    assert_eq!(read("data: nonsense\n\n"), Err(ModelErrorKind::Malformed));
    assert_eq!(read("data: 1\n\n"), Err(ModelErrorKind::Malformed));
}

#[test]
fn reasoning_content_and_what_is_given_back() {
    let given_back = |message: Value| {
        let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
        let said = Message::assistant(whole(&body).unwrap().parts);
        let request = Request { model: "m".to_owned(), messages: vec![said], ..Request::default() };
        body_of(&provider("local"), &request)["messages"][0].get("reasoning_content").cloned()
    };
    let call = json!([{"id": "a", "function": {"name": "f", "arguments": "{}"}}]);
    assert_eq!(given_back(json!({"content": "a", "reasoning_content": "hm"})), Some(json!("hm")));
    // An empty one belongs to a turn with calls, and to no other.
    assert_eq!(given_back(json!({"reasoning_content": "", "tool_calls": call})), Some(json!("")));
    assert_eq!(given_back(json!({"reasoning_content": "", "content": "a"})), None);
    assert_eq!(given_back(json!({"reasoning_content": null, "tool_calls": call})), None);
    assert_eq!(given_back(json!({"reasoning": "hm", "tool_calls": call})), None);
}

#[test]
fn reasoning_in_either_member_is_read_once() {
    let answer = stream(&[
        delta(json!({"reasoning": "a", "reasoning_content": "a"})),
        delta(json!({"reasoning": "b"})),
        delta(json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "c"}]}]})),
        delta(json!({"content": [{"type": "text", "text": "d"}]})),
        finish("stop"),
    ]);
    let answer = answer.unwrap();
    assert_eq!(thoughts(&answer).iter().map(|thought| thought.text.as_str()).collect::<Vec<_>>(), ["abc"]);
    assert_eq!(text(&answer), "d");
}

#[test]
fn details_of_reasoning_are_put_together() {
    let details = |details: Value| delta(json!({ "reasoning_details": details }));
    let answer = stream(&[
        details(json!([{"type": "reasoning.text", "index": 0, "format": "f", "text": "a"}])),
        details(json!([{"type": "reasoning.text", "index": 0, "format": "f", "text": "b", "id": null}])),
        details(json!([{"type": "reasoning.text", "index": 0, "format": "f", "signature": "s"}])),
        // The text was signed, so this is another one.
        details(json!([{"type": "reasoning.text", "index": 0, "format": "f", "text": "c"}])),
        details(json!([{"type": "reasoning.encrypted", "index": 1, "data": "x", "id": "r1"}])),
        details(json!([{"type": "reasoning.encrypted", "index": 1, "data": "y", "id": "r2"}])),
        details(json!([null, {}, 7])),
        delta(json!({"content": "d"})),
        finish("stop"),
    ]);
    let answer = answer.unwrap();
    let thoughts = thoughts(&answer);
    assert_eq!((thoughts.len(), thoughts[0].text.as_str()), (1, "abc"));
    assert_eq!(
        thoughts[0].data.as_ref().unwrap()["details"],
        json!([
            {"type": "reasoning.text", "index": 0, "format": "f", "text": "ab", "signature": "s"},
            {"type": "reasoning.text", "index": 0, "format": "f", "text": "c"},
            {"type": "reasoning.encrypted", "index": 1, "data": "x", "id": "r1"},
            {"type": "reasoning.encrypted", "index": 1, "data": "y", "id": "r2"},
        ])
    );
}

#[test]
fn errors_within_an_answer() {
    use ModelErrorKind::{ContextWindow, Invalid, Quota, RateLimited, Server, Timeout, Unauthorized};
    let cases = [
        (json!({"code": 502, "message": "Provider disconnected"}), Server),
        (json!({"code": 429, "message": "slow down"}), RateLimited),
        (json!({"code": 402, "message": "no credits"}), Quota),
        (json!({"code": 401, "message": "no"}), Unauthorized),
        (json!({"code": 408, "message": "late"}), Timeout),
        (json!({"code": 400, "message": "bad"}), Invalid),
        (json!({"code": "400", "message": "This model's maximum context length is 10 tokens"}), ContextWindow),
        (json!({"type": "exceed_context_size_error", "code": 400, "message": "too long"}), ContextWindow),
        (json!({"type": "insufficient_quota", "code": 429, "message": "pay"}), Quota),
        (json!({"type": "rate_limit_exceeded", "message": "slow down"}), RateLimited),
        (json!({"type": "overloaded_error", "message": "busy"}), Server),
        (json!({"type": "invalid_request_error", "message": "bad"}), Invalid),
        (json!("something"), Server),
    ];
    for (error, kind) in cases {
        let in_stream = stream(&[delta(json!({"content": "a"})), json!({"error": error, "choices": []})]).unwrap_err();
        assert_eq!(in_stream.kind, kind, "{error}");
        let in_choice = json!({"choices": [{"error": error, "delta": {}, "finish_reason": "error"}]});
        assert_eq!(stream(&[in_choice]).unwrap_err(), in_stream);
        assert_eq!(whole(&json!({ "error": error })).unwrap_err(), in_stream);
    }
    // No error at all.
    assert!(stream(&[json!({"error": null, "choices": []}), finish("stop")]).is_ok());
}

#[test]
fn an_error_has_code_and_bounded_words() {
    let error = json!({"code": 502, "message": "é".repeat(50_000), "metadata": {"error_type": "provider_unavailable"}});
    let error = stream(&[json!({ "error": error })]).unwrap_err();
    assert_eq!(error.code.as_deref(), Some("provider_unavailable"));
    assert!(error.message.len() < MAX_ERROR_BODY + 200, "{}", error.message.len());
    let raw = json!({"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": "why"}}});
    assert!(stream(&[raw]).unwrap_err().message.contains("why"));
    let bare = json!({"object": "error", "message": "bare", "type": "BadRequestError", "code": 400});
    assert_eq!(stream(&[bare]).unwrap_err().kind, ModelErrorKind::Invalid);
}

#[test]
fn an_event_with_the_name_error_is_one() {
    let mut decoder = OpenaiChat.decoder(&local());
    let frame = Frame { name: "error", data: "{\"message\": \"gone\", \"code\": 503}" };
    let error = decoder.event(frame, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Server);
    assert!(error.message.contains("gone"));
}

#[test]
fn bodies_of_refusals() {
    let read = |body: Value| OpenaiChat.refusal(body.to_string().as_bytes());
    let refusal =
        |message: &str, code: &str| Refusal { message: Some(message.to_owned()), code: Some(code.to_owned()) };
    let openai = json!({"error": {"message": "m", "type": "invalid_request_error", "code": "model_not_found"}});
    assert_eq!(read(openai), refusal("m", "model_not_found"));
    assert_eq!(read(json!({"error": {"message": "m", "type": "t", "code": null}})), refusal("m", "t"));
    assert_eq!(read(json!([{"error": {"message": "m", "code": 404}}])), refusal("m", "404"));
    assert_eq!(read(json!({"hello": 1})), Refusal::default());
    assert_eq!(OpenaiChat.refusal(b"<html>"), Refusal::default());
}

#[test]
fn token_counts() {
    let usage = |counts: Value| stream(&[finish("stop"), json!({"choices": [], "usage": counts})]).unwrap().usage;
    let counts = json!({
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 15,
        "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
        "completion_tokens_details": {"reasoning_tokens": 3},
    });
    let expected =
        Usage { input_tokens: 10, output_tokens: 5, cached_tokens: 4, cache_write_tokens: 2, reasoning_tokens: 3 };
    assert_eq!(usage(counts), expected);
    // Reasoning that only the total counts.
    let apart = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 18});
    assert_eq!(usage(apart).output_tokens, 8);
    assert_eq!(usage(json!({"prompt_tokens": null, "completion_tokens": -1, "total_tokens": 9})), Usage::default());
    assert_eq!(usage(json!({"prompt_tokens": 3, "prompt_cache_hit_tokens": 2})).cached_tokens, 2);
    assert_eq!(usage(Value::Null), Usage::default());
}

#[test]
fn the_first_choice_is_the_answer() {
    let two = json!({"choices": [
        {"index": 1, "delta": {"content": "b"}, "finish_reason": "length"},
        {"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"},
    ]});
    let answer = stream(&[two]).unwrap();
    assert_eq!((text(&answer).as_str(), answer.finish), ("a", Finish::Stop));
}

#[test]
fn deltas_are_told_as_they_arrive() {
    let chunks = [
        delta(json!({"reasoning": "r"})),
        delta(json!({"content": "t"})),
        piece(json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}})),
    ];
    let mut told = Vec::new();
    let mut decoder = OpenaiChat.decoder(&local());
    for chunk in &chunks {
        let data = chunk.to_string();
        let mut watch = |delta: Delta<'_>| told.push(format!("{delta:?}"));
        assert!(!decoder.event(Frame { name: "", data: &data }, &mut watch).unwrap());
    }
    let expected = [
        format!("{:?}", Delta::Reasoning("r")),
        format!("{:?}", Delta::Text("t")),
        format!("{:?}", Delta::CallStarted { id: "a", name: "f" }),
        format!("{:?}", Delta::CallArguments { id: "a", text: "{" }),
    ];
    assert_eq!(told, expected);
}
