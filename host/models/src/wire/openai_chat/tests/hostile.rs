//! Chunks and bodies in which a member is something else than the format says.

use serde_json::{Value, json};

use super::{finish, stream, whole};
use crate::ModelErrorKind;

/// A message with all that is read.
fn message() -> Value {
    json!({
        "content": [{"type": "text", "text": "a"}, {"type": "thinking", "thinking": [{"text": "b"}]}],
        "reasoning": "c",
        "reasoning_content": "c",
        "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "c", "signature": "s", "id": "d"}],
        "refusal": "e",
        "function_call": {"name": "f", "arguments": "{}"},
        "tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"g": 1}}],
    })
}

/// A chunk (with the member `delta`) or a body (with `message`).
fn body(member: &str) -> Value {
    json!({
        "model": "m",
        "error": null,
        "usage": {"prompt_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1}, "total_tokens": 2},
        "choices": [{"index": 0, member: message(), "finish_reason": "stop", "error": null, "usage": {"total_tokens": 1}}],
    })
}

/// The value with each of its nodes replaced in turn, the value itself first.
fn replaced(value: &Value, replacements: &[Value]) -> Vec<Value> {
    let mut all = replacements.to_vec();
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                for other in replaced(member, replacements) {
                    let mut copy = members.clone();
                    copy.insert(name.clone(), other);
                    all.push(Value::Object(copy));
                }
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                for other in replaced(item, replacements) {
                    let mut copy = items.clone();
                    copy[at] = other;
                    all.push(Value::Array(copy));
                }
            }
        }
        _ => {}
    }
    all
}

#[test]
fn null_counts_as_absent() {
    // The first replacement is the chunk itself.
    for chunk in replaced(&body("delta"), &[Value::Null]).into_iter().skip(1) {
        let answer = stream(&[chunk.clone(), body("delta"), finish("stop")]);
        assert!(answer.is_ok(), "{chunk}: {answer:?}");
    }
}

#[test]
fn whatever_a_member_holds_is_read_or_refused() {
    let others = [json!(-1), json!(u64::MAX), json!(1.5), json!(true), json!("x"), json!([]), json!({}), json!([[{}]])];
    let is_known = |kind: ModelErrorKind| {
        // A member `error` that holds something is a failure of the provider.
        matches!(kind, ModelErrorKind::Malformed | ModelErrorKind::Server | ModelErrorKind::Cut)
    };
    for chunk in replaced(&body("delta"), &others) {
        if let Err(error) = stream(&[chunk.clone(), body("delta"), finish("stop")]) {
            assert!(is_known(error.kind), "{chunk}: {error:?}");
        }
    }
    for answer in replaced(&body("message"), &others) {
        if let Err(error) = whole(&answer) {
            assert!(is_known(error.kind), "{answer}: {error:?}");
        }
    }
}
