//! Streams that no recording has.

use serde_json::{Value, json};

use super::{origin, read, read_and_tell, whole};
use crate::answer::Delta;
use crate::bounds::MAX_PARTS;
use crate::frames::Frame;
use crate::wire::Wire;
use crate::wire::openai_responses::OpenaiResponses;
use crate::{Arguments, Finish, ModelErrorKind, Part};

fn added(index: usize, item: Value) -> Value {
    json!({ "type": "response.output_item.added", "output_index": index, "item": item })
}

fn done(index: usize, item: Value) -> Value {
    json!({ "type": "response.output_item.done", "output_index": index, "item": item })
}

fn delta(kind: &str, index: usize, delta: &str) -> Value {
    json!({ "type": format!("response.{kind}.delta"), "output_index": index, "delta": delta })
}

fn completed(output: Value) -> Value {
    json!({ "type": "response.completed", "response": { "status": "completed", "output": output } })
}

fn message(text: &str) -> Value {
    json!({ "type": "message", "id": "msg_1", "content": [{ "type": "output_text", "text": text }] })
}

fn call(id: &str, arguments: &str) -> Value {
    json!({ "type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "add", "arguments": arguments })
}

fn calls(parts: &[Part]) -> Vec<(&str, String)> {
    let calls = parts.iter().filter_map(|part| if let Part::ToolCall(call) = part { Some(call) } else { None });
    calls
        .map(|call| match &call.arguments {
            Arguments::Object(object) => (call.id.as_str(), Value::Object(object.clone()).to_string()),
            Arguments::Broken(text) => (call.id.as_str(), format!("broken: {text}")),
        })
        .collect()
}

#[test]
fn calls_may_come_interleaved() {
    let arguments = "function_call_arguments";
    let mut told = Vec::new();
    let events = [
        added(0, call("a", "")),
        added(1, call("b", "")),
        delta(arguments, 1, "{\"y\":"),
        delta(arguments, 0, "{\"x\":1}"),
        delta(arguments, 1, "2}"),
        done(1, call("b", "{\"y\":2}")),
        done(0, call("a", "{\"x\":1}")),
        completed(json!([call("a", "{\"x\":1}"), call("b", "{\"y\":2}")])),
    ];
    let answer = read_and_tell(&events, &mut told).unwrap();
    assert_eq!(calls(&answer.parts), [("a", "{\"x\":1}".to_owned()), ("b", "{\"y\":2}".to_owned())]);
    assert_eq!(answer.finish, Finish::ToolCalls);
    let told: Vec<_> = told.iter().map(|(kind, id, text)| (*kind, id.as_str(), text.as_str())).collect();
    assert_eq!(
        told,
        [
            ("call", "a", "add"),
            ("call", "b", "add"),
            ("arguments", "b", "{\"y\":"),
            ("arguments", "a", "{\"x\":1}"),
            ("arguments", "b", "2}"),
        ]
    );
}

#[test]
fn servers_may_leave_out_deltas_or_items() {
    let thought = json!({ "type": "reasoning", "id": "rs_1", "summary": [{ "type": "summary_text", "text": "Hm" }] });
    let output = json!([thought, message("Hi"), call("a", "{\"x\":1}")]);
    let expected = whole(&json!({ "status": "completed", "output": output })).unwrap();
    assert_eq!(expected.parts.len(), 3);
    let everything = [
        added(0, json!({ "type": "reasoning", "id": "rs_1", "summary": [] })),
        delta("reasoning_summary_text", 0, "H"),
        delta("reasoning_summary_text", 0, "m"),
        done(0, thought.clone()),
        added(1, json!({ "type": "message", "id": "msg_1", "content": [] })),
        delta("output_text", 1, "H"),
        delta("output_text", 1, "i"),
        done(1, message("Hi")),
        added(2, call("a", "")),
        delta("function_call_arguments", 2, "{\"x\":"),
        delta("function_call_arguments", 2, "1}"),
        json!({ "type": "response.function_call_arguments.done", "output_index": 2, "arguments": "{\"x\":1}" }),
        done(2, call("a", "{\"x\":1}")),
        completed(output.clone()),
    ];
    let without = |left_out: &[&str]| {
        let kept = everything
            .iter()
            .filter(|event| !left_out.iter().any(|kind| event["type"].as_str().unwrap().ends_with(*kind)));
        read(&kept.cloned().collect::<Vec<_>>()).unwrap()
    };
    assert_eq!(without(&[]), expected);
    assert_eq!(without(&[".delta"]), expected);
    assert_eq!(without(&[".added", ".delta", "arguments.done"]), expected);
    // Without ends of items only the reasoning's data is lost.
    let mut known = expected.clone();
    if let Some(Part::Reasoning(reasoning)) = known.parts.first_mut() {
        reasoning.data = None;
    }
    assert_eq!(without(&["item.done"]), known);
    assert_eq!(without(&[".added", ".delta", ".done"]), expected);
    // And the output of the end may be empty.
    let mut events = everything.to_vec();
    events.pop();
    events.push(completed(json!([])));
    assert_eq!(read(&events).unwrap(), expected);
    // Without indices the ids count.
    let mut unnumbered = everything.to_vec();
    for (event, id) in unnumbered.iter_mut().zip(["rs_1"; 4].iter().chain(&["msg_1"; 4]).chain(&["fc_a"; 5])) {
        event.as_object_mut().unwrap().remove("output_index");
        event["item_id"] = json!(id);
    }
    assert_eq!(read(&unnumbered).unwrap(), expected);
}

#[test]
fn ids_may_change_and_indices_may_repeat() {
    let mut other = message("Hi");
    other["id"] = json!("msg_other");
    let events =
        [added(0, message("")), delta("output_text", 0, "Hi"), done(0, other), completed(json!([message("Hi")]))];
    assert_eq!(read(&events).unwrap().parts, [Part::Text("Hi".to_owned())]);
    let (first, second) = (call("a", "{\"x\":1}"), call("b", "{\"x\":2}"));
    let events = [
        added(0, call("a", "")),
        done(0, first.clone()),
        added(0, call("b", "")),
        done(0, second.clone()),
        completed(json!([first, second])),
    ];
    let answer = read(&events).unwrap();
    assert_eq!(calls(&answer.parts), [("a", "{\"x\":1}".to_owned()), ("b", "{\"x\":2}".to_owned())]);
}

#[test]
fn pieces_of_reasoning_are_paragraphs() {
    let piece = |kind: &str, name: &str, index: u64, text: &str| {
        let mut event = delta(kind, 0, text);
        event[name] = json!(index);
        event
    };
    let item = json!({
        "type": "reasoning",
        "id": "rs_1",
        "encrypted_content": "secret",
        "summary": [{ "type": "summary_text", "text": "One, two" }, { "type": "summary_text", "text": "Three" }],
        "content": [{ "type": "reasoning_text", "text": "Four" }],
    });
    let events = [
        added(0, json!({ "type": "reasoning", "id": "rs_1", "summary": [] })),
        piece("reasoning_summary_text", "summary_index", 0, "One, "),
        piece("reasoning_summary_text", "summary_index", 0, "two"),
        piece("reasoning_summary_text", "summary_index", 1, "Three"),
        piece("reasoning_text", "content_index", 0, "Four"),
        done(0, item.clone()),
        completed(json!([item])),
    ];
    let answer = read(&events).unwrap();
    let [Part::Reasoning(reasoning)] = answer.parts.as_slice() else { panic!("{answer:?}") };
    assert_eq!(reasoning.text, "One, two\n\nThree\n\nFour");
    assert_eq!(reasoning.data.as_ref(), Some(&item));
    assert_eq!(whole(&json!({ "status": "completed", "output": [item] })).unwrap(), answer);
}

#[test]
fn a_refusal_is_text_and_the_reason_of_the_end() {
    let item = json!({ "type": "message", "id": "msg_1", "content": [{ "type": "refusal", "refusal": "I cannot." }] });
    let events = [
        added(0, json!({ "type": "message", "id": "msg_1", "content": [] })),
        delta("refusal", 0, "I "),
        delta("refusal", 0, "cannot."),
        done(0, item.clone()),
        completed(json!([item])),
    ];
    let answer = read(&events).unwrap();
    assert_eq!(answer.parts, [Part::Text("I cannot.".to_owned())]);
    assert_eq!(answer.finish, Finish::Refused("I cannot.".to_owned()));
    assert_eq!(whole(&json!({ "status": "completed", "output": [item] })).unwrap(), answer);
}

#[test]
fn incomplete_answers_say_why() {
    let finish = |details: Value| {
        let response = json!({ "status": "incomplete", "incomplete_details": details, "output": [message("Hi")] });
        let streamed = read(&[json!({ "type": "response.incomplete", "response": response })]).unwrap();
        assert_eq!(whole(&response).unwrap(), streamed);
        streamed.finish
    };
    assert_eq!(finish(json!({ "reason": "max_output_tokens" })), Finish::Length);
    assert_eq!(finish(json!({ "reason": "content_filter" })), Finish::Refused("content_filter".to_owned()));
    assert_eq!(finish(json!({ "reason": "new" })), Finish::Other("new".to_owned()));
    assert_eq!(finish(Value::Null), Finish::Other("incomplete".to_owned()));
}

#[test]
fn failures_have_their_kind() {
    for (code, kind) in [
        ("server_error", ModelErrorKind::Server),
        ("server_is_overloaded", ModelErrorKind::Server),
        ("something_new", ModelErrorKind::Server),
        ("rate_limit_exceeded", ModelErrorKind::RateLimited),
        ("insufficient_quota", ModelErrorKind::Quota),
        ("context_length_exceeded", ModelErrorKind::ContextWindow),
        ("invalid_prompt", ModelErrorKind::Invalid),
        ("model_not_found", ModelErrorKind::Invalid),
        ("invalid_api_key", ModelErrorKind::Unauthorized),
    ] {
        let error = json!({ "code": code, "message": "It failed." });
        let failed = json!({ "status": "failed", "error": error, "output": [] });
        for event in [
            json!({ "type": "response.failed", "response": failed }),
            json!({ "type": "error", "code": code, "message": "It failed.", "param": null }),
            json!({ "type": "error", "error": error }),
            json!({ "error": error }),
        ] {
            let error = read(&[delta("output_text", 0, "Hi"), event.clone()]).unwrap_err();
            assert_eq!((error.kind, error.code.as_deref()), (kind, Some(code)), "{event}");
            assert_eq!(error.message, "openai, model gpt-5.6: the provider reports an error: It failed.");
        }
        assert_eq!(whole(&failed).unwrap_err().kind, kind);
    }
    let error = read(&[json!({ "type": "response.failed", "response": { "error": null } })]).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Server);
}

#[test]
fn a_stream_without_its_end_is_cut() {
    assert_eq!(read(&[]).unwrap_err().kind, ModelErrorKind::Cut);
    let events = [added(0, message("")), delta("output_text", 0, "Hi"), done(0, message("Hi"))];
    assert_eq!(read(&events).unwrap_err().kind, ModelErrorKind::Cut);
}

#[test]
fn an_event_that_is_not_json_is_malformed() {
    let read = |data: &str| {
        let mut decoder = OpenaiResponses.decoder(&origin("gpt-5.6"));
        decoder.event(Frame { name: "", data }, &mut |_: Delta<'_>| {}).map_err(|error| error.kind)
    };
    assert_eq!(read("{\"type\": oh}"), Err(ModelErrorKind::Malformed));
    assert_eq!(read("{\"type\": \"resp"), Err(ModelErrorKind::Cut));
    assert_eq!(read("[DONE]"), Ok(false));
    assert_eq!(read(""), Ok(false));
    assert_eq!(read("[1]"), Ok(false));
}

#[test]
fn items_are_bounded() {
    let events: Vec<Value> = (0..=MAX_PARTS).map(|index| added(index, json!({ "type": "new" }))).collect();
    assert_eq!(read(&events).unwrap_err().kind, ModelErrorKind::TooLarge);
    let same: Vec<Value> = (0..=MAX_PARTS).flat_map(|_| [added(0, json!({})), done(0, json!({}))]).collect();
    assert_eq!(read(&same).unwrap_err().kind, ModelErrorKind::TooLarge);
}

/// Every member of every event may be of any type.
#[test]
fn strange_events_do_no_harm() {
    const KINDS: &str = "output_item.added output_text.delta refusal.delta reasoning_summary_text.delta \
        reasoning_text.delta function_call_arguments.delta function_call_arguments.done output_item.done completed \
        incomplete new";
    const PATHS: &str = "/output_index /item_id /delta /arguments /summary_index /item /item/id /item/type \
        /item/call_id /item/name /item/arguments /item/phase /item/summary /item/content /item/content/0 \
        /item/content/0/text /item/encrypted_content /response /response/output /response/output/0 \
        /response/output/0/content /response/usage /response/usage/input_tokens /response/model";
    let strange = json!([null, -1, 1.5, u64::MAX, [null, 1, {}], { "type": 1 }, "x"]);
    for (kind, of) in
        KINDS.split_whitespace().flat_map(|kind| ["message", "reasoning", "function_call", "new"].map(|of| (kind, of)))
    {
        let item = json!({
            "type": of, "id": "a", "call_id": "a", "name": "add", "arguments": "{}", "phase": "x",
            "summary": [{ "text": "a" }], "content": [{ "type": "output_text", "text": "a" }], "encrypted_content": "a",
        });
        let event = json!({
            "type": format!("response.{kind}"), "output_index": 0, "item_id": "a", "delta": "a", "arguments": "{}",
            "summary_index": 0, "content_index": 0, "item": item,
            "response": { "status": "completed", "model": "m", "output": [item], "usage": { "input_tokens": 1 } },
        });
        for (path, value) in
            PATHS.split_whitespace().flat_map(|path| strange.as_array().unwrap().iter().map(move |value| (path, value)))
        {
            let mut event = event.clone();
            *event.pointer_mut(path).unwrap() = value.clone();
            // Whatever it says, the end is read.
            let answer = read(&[added(0, message("")), event.clone(), completed(json!([]))]);
            assert!(answer.is_ok(), "{event}: {answer:?}");
        }
    }
}
