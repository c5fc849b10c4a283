//! Answers of Ollama that recordings do not have.

use serde_json::{Value, json};

use super::Ollama;
use crate::wire::recordings::decode;
use crate::wire::{Framing, Refusal, Wire, json};
use crate::{Answer, Api, Arguments, Finish, ModelError, ModelErrorKind, Origin, Part};

fn origin() -> Origin {
    Origin { provider: "local".to_owned(), model: "qwen3".to_owned(), api: Api::Ollama }
}

fn stream(lines: &[Value]) -> Result<Answer, ModelError> {
    let body: String = lines.iter().map(|line| format!("{line}\n")).collect();
    decode(&Ollama, &origin(), Framing::Lines, &body)
}

fn message(message: Value) -> Value {
    json!({"model": "qwen3", "message": message, "done": false})
}

fn done(reason: &str) -> Value {
    json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason})
}

#[test]
fn thinking_text_and_calls() {
    let call = |arguments: Value| json!({"function": {"name": "add", "arguments": arguments, "index": 7}});
    let lines = [
        message(json!({"thinking": "a", "content": ""})),
        message(json!({"reasoning_content": "b", "content": null})),
        message(json!({"content": "c", "tool_calls": null})),
        message(json!({"content": "", "tool_calls": [call(json!({"x": 1})), call(json!("{\"x\": 2}"))]})),
        message(json!({"tool_calls": [call(json!(null)), call(json!("{\"x"))]})),
        done("stop"),
    ];
    let answer = stream(&lines).unwrap();
    assert_eq!(answer.finish, Finish::ToolCalls);
    assert_eq!(answer.parts.len(), 6);
    assert!(
        matches!(&answer.parts[0], Part::Reasoning(reasoning) if reasoning.text == "ab" && reasoning.from == origin())
    );
    assert_eq!(answer.parts[1], Part::Text("c".to_owned()));
    let object = |value: Value| Arguments::Object(value.as_object().cloned().unwrap());
    let expected = [
        ("call_0", object(json!({"x": 1}))),
        ("call_1", object(json!({"x": 2}))),
        ("call_2", object(json!({}))),
        ("call_3", Arguments::Broken("{\"x".to_owned())),
    ];
    for (part, (id, arguments)) in answer.parts[2..].iter().zip(expected) {
        let Part::ToolCall(call) = part else { panic!("{part:?}") };
        assert_eq!((call.id.as_str(), &call.arguments), (id, &arguments));
    }
}

#[test]
fn reasons_to_finish() {
    let finish = |reason: &str| stream(&[message(json!({"content": "a"})), done(reason)]).unwrap().finish;
    assert_eq!(finish("stop"), Finish::Stop);
    assert_eq!(finish("length"), Finish::Length);
    assert_eq!(finish("load"), Finish::Other("load".to_owned()));
    assert_eq!(stream(&[json!({"done": true})]).unwrap().finish, Finish::Stop);
    // Nothing is read after the end.
    assert_eq!(stream(&[done("stop"), json!({"error": "late"})]).unwrap().finish, Finish::Stop);
}

#[test]
fn answers_without_their_end_are_cut() {
    let texts = [message(json!({"content": "a"})), json!({"done": false}), json!({"done": "true"})];
    assert_eq!(stream(&[]).unwrap_err().kind, ModelErrorKind::Cut);
    for line in texts {
        assert_eq!(stream(&[line]).unwrap_err().kind, ModelErrorKind::Cut);
    }
    let whole = br#"{"message": {"content": "a"}, "done": false}"#;
    assert_eq!(Ollama.whole(&origin(), whole).unwrap_err().kind, ModelErrorKind::Cut);
    assert_eq!(Ollama.whole(&origin(), b"{\"message\"").unwrap_err().kind, ModelErrorKind::Cut);
}

#[test]
fn errors_inside_a_stream() {
    for (error, kind) in [
        (json!("an error was encountered while running the model: unexpected EOF"), ModelErrorKind::Server),
        (json!("the input length exceeds the context length"), ModelErrorKind::ContextWindow),
        (json!("model 'x' not found"), ModelErrorKind::Invalid),
        (json!("registry.ollama.ai/library/x does not support tools"), ModelErrorKind::Invalid),
        (json!({"message": "Too Many Requests", "code": "429"}), ModelErrorKind::RateLimited),
    ] {
        let failure = stream(&[message(json!({"content": "a"})), json!({"error": error})]).unwrap_err();
        assert_eq!(failure.kind, kind, "{failure}");
        assert!(failure.message.contains(error.as_str().unwrap_or("Too Many Requests")), "{failure}");
    }
}

#[test]
fn refusals() {
    let refusal = Ollama.refusal(br#"{"error": "model 'x' not found"}"#);
    assert_eq!(refusal, Refusal { message: Some("model 'x' not found".to_owned()), code: None });
    let refusal = Ollama.refusal(br#"{"error": {"message": "no", "type": "invalid"}}"#);
    assert_eq!(refusal, Refusal { message: Some("no".to_owned()), code: Some("invalid".to_owned()) });
    assert_eq!(Ollama.refusal(b"404 page not found"), Refusal::default());
}

#[test]
fn nonsense_is_malformed() {
    let error = decode(&Ollama, &origin(), Framing::Lines, "nonsense\n").unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Malformed);
    let error = stream(&[message(json!({"tool_calls": [{"function": {}}]})), done("stop")]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Malformed);
    let odd =
        [json!(null), json!([1]), json!({"message": 1}), json!({"message": {"tool_calls": {"a": 1}, "content": 5}})];
    assert!(stream(&[&odd[..], &[done("stop")]].concat()).unwrap().parts.is_empty());
}

#[test]
fn every_member_may_be_odd() {
    let line = json!({
        "model": "m",
        "message": {
            "role": "assistant", "content": "a", "thinking": "b", "reasoning_content": "c",
            "tool_calls": [{"id": "i", "function": {"index": 0, "name": "n", "arguments": {"x": 1}}}],
        },
        "done": false, "done_reason": "stop", "prompt_eval_count": 1, "eval_count": 1,
    });
    let mutations = json::mutations(&line);
    assert!(mutations.len() > 50);
    for mutation in mutations {
        let kind = stream(&[mutation.clone(), done("stop")]).map_err(|error| error.kind);
        assert!(matches!(kind, Ok(_) | Err(ModelErrorKind::Malformed)), "{mutation}: {kind:?}");
    }
}
