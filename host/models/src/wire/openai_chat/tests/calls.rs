use serde_json::{Value, json};

use super::{calls_in, calls_in_short, delta, finish, piece, stream};
use crate::bounds::{MAX_CALLS, MAX_ID};
use crate::{Finish, ModelErrorKind};

/// The calls of a stream of these pieces.
fn calls_of(pieces: &[Value]) -> Vec<(String, String, Value)> {
    let chunks: Vec<Value> = pieces.iter().cloned().map(piece).chain([finish("tool_calls")]).collect();
    let answer = stream(&chunks).unwrap();
    assert_eq!(answer.finish, Finish::ToolCalls);
    calls_in_short(&answer)
}

fn expected(calls: &[(&str, &str, Value)]) -> Vec<(String, String, Value)> {
    calls.iter().map(|(id, name, arguments)| ((*id).to_owned(), (*name).to_owned(), arguments.clone())).collect()
}

#[test]
fn calls_by_index() {
    let calls = calls_of(&[
        json!({"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": ""}}),
        json!({"index": 1, "id": "b", "type": "function", "function": {"name": "g", "arguments": ""}}),
        json!({"index": 1, "function": {"arguments": "{\"y\""}}),
        json!({"index": 0, "id": "", "function": {"name": null, "arguments": "{\"x\":1}"}}),
        json!({"index": 1, "id": null, "function": {"name": "", "arguments": ":2}"}}),
    ]);
    assert_eq!(calls, expected(&[("a", "f", json!({"x": 1})), ("b", "g", json!({"y": 2}))]));
}

#[test]
fn calls_without_index() {
    let calls = calls_of(&[
        json!({"id": "a", "function": {"name": "f", "arguments": "{\"x\""}}),
        json!({"function": {"arguments": ":1"}}),
        json!({"id": "a", "function": {"name": "f", "arguments": "}"}}),
        json!({"id": "b", "function": {"name": "f", "arguments": "{}"}}),
    ]);
    assert_eq!(calls, expected(&[("a", "f", json!({"x": 1})), ("b", "f", json!({}))]));
}

#[test]
fn id_and_name_that_are_repeated_with_every_piece() {
    let calls = calls_of(&[
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\""}}),
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": ":1}"}}),
    ]);
    assert_eq!(calls, expected(&[("a", "f", json!({"x": 1}))]));
}

#[test]
fn whole_calls_that_all_have_the_index_zero() {
    let calls = calls_of(&[
        json!({"index": 0, "id": "a", "function": {"name": "f", "arguments": "{\"x\":1}"}}),
        json!({"index": 0, "id": "b", "function": {"name": "f", "arguments": "{\"x\":2}"}}),
    ]);
    assert_eq!(calls, expected(&[("a", "f", json!({"x": 1})), ("b", "f", json!({"x": 2}))]));
}

#[test]
fn calls_in_one_chunk_without_ids_and_with_objects() {
    let chunk = delta(json!({"tool_calls": [
        {"function": {"name": "f", "arguments": {"x": {"y": 1}}}},
        {"function": {"name": "g", "arguments": null}},
    ]}));
    let answer = stream(&[chunk, finish("stop")]).unwrap();
    let calls = calls_in_short(&answer);
    assert_eq!((calls[0].1.as_str(), &calls[0].2), ("f", &json!({"x": {"y": 1}})));
    assert_eq!((calls[1].1.as_str(), &calls[1].2), ("g", &json!({})));
    assert!(!calls[0].0.is_empty() && calls[0].0 != calls[1].0);
    assert_eq!(answer.finish, Finish::ToolCalls);
}

#[test]
fn arguments_before_the_name() {
    let calls = calls_of(&[
        json!({"index": 3, "id": "a", "function": {"arguments": "{\"x\":"}}),
        json!({"index": 3, "function": {"name": "f", "arguments": "1}"}}),
    ]);
    assert_eq!(calls, expected(&[("a", "f", json!({"x": 1}))]));
}

#[test]
fn a_call_without_a_name_is_malformed_unless_it_was_cut_by_the_bound() {
    let nameless = piece(json!({"index": 0, "id": "a", "function": {"arguments": "{}"}}));
    let failed = stream(&[nameless.clone(), finish("tool_calls")]).unwrap_err();
    assert_eq!(failed.kind, ModelErrorKind::Malformed);
    let answer = stream(&[nameless, finish("length")]).unwrap();
    assert_eq!((answer.finish.clone(), calls_in(&answer).len()), (Finish::Length, 0));
}

#[test]
fn an_index_takes_no_memory() {
    let calls = calls_of(&[json!({"index": u64::MAX, "id": "a", "function": {"name": "f", "arguments": "{}"}})]);
    assert_eq!(calls.len(), 1);
}

#[test]
fn too_many_calls_and_too_long_ids() {
    let many = (0..=MAX_CALLS).map(|at| piece(json!({"index": at, "id": at.to_string()})));
    assert_eq!(stream(&many.collect::<Vec<_>>()).unwrap_err().kind, ModelErrorKind::TooLarge);
    let long = piece(json!({"index": 0, "id": "x".repeat(MAX_ID + 1), "function": {"name": "f"}}));
    assert_eq!(stream(&[long]).unwrap_err().kind, ModelErrorKind::TooLarge);
}

#[test]
fn the_legacy_form_of_a_call() {
    let answer = stream(&[
        delta(json!({"function_call": {"name": "f", "arguments": "{\"x\""}})),
        delta(json!({"function_call": {"arguments": ":1}"}})),
        finish("function_call"),
    ]);
    let answer = answer.unwrap();
    let calls = calls_in_short(&answer);
    assert_eq!((calls.len(), calls[0].1.as_str(), &calls[0].2), (1, "f", &json!({"x": 1})));
    assert_eq!(answer.finish, Finish::ToolCalls);
}
