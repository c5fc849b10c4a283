//! Answers of Gemini that recordings do not have.

use serde_json::{Value, json};

use super::Gemini;
use crate::wire::recordings::decode;
use crate::wire::{Framing, Refusal, Wire, json};
use crate::{Answer, Api, Arguments, Finish, ModelError, ModelErrorKind, Opaque, Origin, Part, Reasoning, ToolCall};

fn origin() -> Origin {
    Origin { provider: "google".to_owned(), model: "gemini-3-pro".to_owned(), api: Api::Gemini }
}

fn stream(events: &[Value]) -> Result<Answer, ModelError> {
    let body: String = events.iter().map(|event| format!("data: {event}\r\n\r\n")).collect();
    decode(&Gemini, &origin(), Framing::Events, &body)
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}}]})
}

fn end(reason: &str) -> Value {
    json!({"candidates": [{"finishReason": reason, "index": 0}]})
}

fn reasoning(text: &str, data: Option<Value>) -> Part {
    Part::Reasoning(Reasoning { text: text.to_owned(), from: origin(), data })
}

#[test]
fn signed_parts_stay_apart() {
    let events = [
        parts(json!([{"text": "a", "thought": true}, {"text": "b", "thought": true}])),
        parts(json!([{"text": "c", "thought": true, "thoughtSignature": "s1"}])),
        parts(json!([{"text": "d"}, {"text": "e"}])),
        parts(json!([{"text": "f", "thoughtSignature": "s2"}])),
        parts(json!([{"text": "g"}])),
        parts(json!([{"text": "", "thoughtSignature": "s3"}])),
        end("STOP"),
    ];
    let answer = stream(&events).unwrap();
    let expected = [
        reasoning("ab", None),
        reasoning("c", Some(json!({"thought": "s1"}))),
        Part::Text("de".to_owned()),
        Part::Text("f".to_owned()),
        reasoning("", Some(json!({"text": "s2"}))),
        Part::Text("g".to_owned()),
        reasoning("", Some(json!({"part": {"text": "", "thoughtSignature": "s3"}}))),
    ];
    assert_eq!(answer.parts, expected);
    assert_eq!(answer.finish, Finish::Stop);
}

#[test]
fn calls_keep_id_and_signature() {
    let events = [
        parts(json!([{"functionCall": {"id": "x1", "name": "add", "args": {"n": 1}}, "thoughtSignature": "s"}])),
        parts(json!([{"functionCall": {"name": "ping"}}, {"functionCall": {"name": "odd", "args": [1]}}])),
        end("FUNCTION_CALL"),
    ];
    let answer = stream(&events).unwrap();
    let opaque = Opaque { from: origin(), value: json!({"thoughtSignature": "s", "id": "x1"}) };
    let call = |id: &str, name: &str, arguments, opaque| {
        Part::ToolCall(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments, opaque })
    };
    let object = |value: Value| Arguments::Object(value.as_object().cloned().unwrap());
    assert_eq!(answer.parts[0], call("x1", "add", object(json!({"n": 1})), Some(opaque)));
    assert_eq!(answer.parts[1], call("call_1", "ping", object(json!({})), None));
    assert_eq!(answer.parts[2], call("call_2", "odd", Arguments::Broken("[1]".to_owned()), None));
    assert_eq!(answer.finish, Finish::ToolCalls);
}

#[test]
fn unknown_and_absent_things_are_tolerated() {
    let events = [
        json!({"newThing": [1], "candidates": null, "usageMetadata": null, "promptFeedback": {"safetyRatings": []}}),
        json!({"candidates": [
            {"content": {"role": "model"}, "index": 0}, {"content": {"parts": [{"text": "no"}]}, "index": 1},
        ]}),
        parts(json!([{"thought": true}, {"text": null, "functionCall": null}, {"text": "yes", "new": 1}])),
        json!({"candidates": [{"content": null, "finishReason": "FINISH_REASON_UNSPECIFIED"}]}),
    ];
    assert_eq!(stream(&events).unwrap_err().kind, ModelErrorKind::Cut);
    let answer = stream(&[&events[..], &[end("STOP"), json!({"usageMetadata": {"promptTokenCount": 7}})]].concat());
    let answer = answer.unwrap();
    assert_eq!(answer.parts, [Part::Text("yes".to_owned())]);
    assert_eq!(answer.usage.input_tokens, 7);
}

#[test]
fn reasons_to_finish() {
    let finish = |reason: &str| stream(&[parts(json!([{"text": "a"}])), end(reason)]).unwrap().finish;
    assert_eq!(finish("STOP"), Finish::Stop);
    assert_eq!(finish("FUNCTION_CALL"), Finish::Stop);
    assert_eq!(finish("MAX_TOKENS"), Finish::Length);
    assert_eq!(finish("SAFETY"), Finish::Refused("SAFETY".to_owned()));
    assert_eq!(finish("RECITATION"), Finish::Refused("RECITATION".to_owned()));
    assert_eq!(finish("MALFORMED_FUNCTION_CALL"), Finish::Other("MALFORMED_FUNCTION_CALL".to_owned()));
    let blocked = json!({"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "no"}});
    assert_eq!(stream(std::slice::from_ref(&blocked)).unwrap().finish, Finish::Refused("OTHER: no".to_owned()));
    let whole = Gemini.whole(&origin(), blocked.to_string().as_bytes()).unwrap();
    assert_eq!(whole.finish, Finish::Refused("OTHER: no".to_owned()));
}

#[test]
fn errors_inside_a_stream() {
    let long = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).";
    for (code, status, message, kind) in [
        (503, "UNAVAILABLE", "The model is overloaded.", ModelErrorKind::Server),
        (500, "INTERNAL", "Internal error.", ModelErrorKind::Server),
        (429, "RESOURCE_EXHAUSTED", "Too many requests.", ModelErrorKind::RateLimited),
        (400, "INVALID_ARGUMENT", "Bad schema.", ModelErrorKind::Invalid),
        (400, "INVALID_ARGUMENT", long, ModelErrorKind::ContextWindow),
        (403, "PERMISSION_DENIED", "No.", ModelErrorKind::Unauthorized),
    ] {
        let error = json!({"error": {"code": code, "status": status, "message": message}});
        let failure = stream(&[parts(json!([{"text": "a"}])), error]).unwrap_err();
        assert_eq!((failure.kind, failure.status), (kind, Some(code)), "{status}");
        assert_eq!(failure.code.as_deref(), Some(status));
        assert!(failure.message.contains(message) && failure.message.contains("gemini-3-pro"), "{failure}");
    }
}

#[test]
fn refusals() {
    let body = br#"[{"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT"}}]"#;
    let code = Some("INVALID_ARGUMENT".to_owned());
    assert_eq!(Gemini.refusal(body), Refusal { message: Some("API key not valid.".to_owned()), code });
    assert_eq!(Gemini.refusal(b"<html>"), Refusal::default());
    assert_eq!(Gemini.refusal(b"{}"), Refusal::default());
}

#[test]
fn nonsense_is_malformed() {
    let error = decode(&Gemini, &origin(), Framing::Events, "data: nonsense\n\n").unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Malformed);
    let error = stream(&[parts(json!([{"functionCall": {"args": {}}}])), end("STOP")]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Malformed);
    for event in [json!(null), json!([]), json!("a"), json!({"candidates": {"a": 1}}), json!({"candidates": [1]})] {
        assert_eq!(stream(&[event]).unwrap_err().kind, ModelErrorKind::Cut);
    }
}

#[test]
fn every_member_may_be_odd() {
    let event = json!({
        "candidates": [{
            "content": {"role": "model", "parts": [
                {"text": "a", "thought": true, "thoughtSignature": "s"},
                {"text": "b", "thoughtSignature": "s"},
                {"functionCall": {"id": "i", "name": "n", "args": {"x": 1}}, "thoughtSignature": "s"},
                {"executableCode": {"code": "1"}},
            ]},
            "finishReason": "STOP", "finishMessage": "m", "index": 0,
        }],
        "promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "m"},
        "usageMetadata": {
            "promptTokenCount": 1, "toolUsePromptTokenCount": 1, "candidatesTokenCount": 1,
            "thoughtsTokenCount": 1, "cachedContentTokenCount": 1,
        },
        "modelVersion": "v",
    });
    let mutations = json::mutations(&event);
    assert!(mutations.len() > 100);
    for mutation in mutations {
        let kind = stream(&[mutation.clone(), end("STOP")]).map_err(|error| error.kind);
        assert!(matches!(kind, Ok(_) | Err(ModelErrorKind::Malformed)), "{mutation}: {kind:?}");
    }
}
