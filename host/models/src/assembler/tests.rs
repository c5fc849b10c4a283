use serde_json::json;

use super::*;
use crate::{Api, ModelErrorKind};

fn origin() -> Origin {
    Origin { provider: "local".to_owned(), model: "m1".to_owned(), api: Api::OpenaiChat }
}

fn assembler() -> Assembler {
    Assembler::new(&origin())
}

fn quiet(_: Delta<'_>) {}

/// The answer after `Stop`.
fn stopped(mut assembler: Assembler) -> Answer {
    assembler.set_finish(Finish::Stop);
    assembler.build().unwrap()
}

fn calls(answer: &Answer) -> Vec<&ToolCall> {
    answer.parts.iter().filter_map(|part| if let Part::ToolCall(call) = part { Some(call) } else { None }).collect()
}

#[test]
fn text_and_reasoning_are_joined_until_another_part_or_a_close() {
    let mut built = assembler();
    built.reasoning("I ", &mut quiet).unwrap();
    built.text("", &mut quiet).unwrap();
    built.reasoning("think", &mut quiet).unwrap();
    built.text("a", &mut quiet).unwrap();
    built.reasoning("", &mut quiet).unwrap();
    built.text("b", &mut quiet).unwrap();
    built.close();
    built.text("c", &mut quiet).unwrap();
    built.call("0", "x", "f", &mut quiet).unwrap();
    built.text("d", &mut quiet).unwrap();
    built.arguments("0", "{}", &mut quiet).unwrap();
    built.text("e", &mut quiet).unwrap();
    let answer = stopped(built);
    let shown: Vec<String> = answer
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => format!("text {text}"),
            Part::Reasoning(reasoning) => format!("reasoning {}", reasoning.text),
            Part::ToolCall(call) => format!("call {}", call.name),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(shown, ["reasoning I think", "text ab", "text c", "call f", "text de"]);
}

#[test]
fn reasoning_keeps_its_data_and_origin() {
    let mut built = assembler();
    built.reasoning("x", &mut quiet).unwrap();
    built.reasoning_data(3, |data| *data = json!({"signature": "abc"})).unwrap();
    built.reasoning_data(3, |data| data["more"] = json!(1)).unwrap();
    built.close();
    built.reasoning_data(3, |data| *data = json!("hidden")).unwrap();
    built.close();
    built.reasoning("y", &mut quiet).unwrap();
    let from = origin();
    let part = |text: &str, data| Part::Reasoning(Reasoning { text: text.to_owned(), from: from.clone(), data });
    assert_eq!(
        stopped(built).parts,
        [part("x", Some(json!({"signature": "abc", "more": 1}))), part("", Some(json!("hidden"))), part("y", None)]
    );
}

#[test]
fn deltas_are_told_as_they_come() {
    let mut told = Vec::new();
    let mut watch = |delta: Delta<'_>| told.push(format!("{delta:?}"));
    let mut built = assembler();
    built.text("a", &mut watch).unwrap();
    built.reasoning("b", &mut watch).unwrap();
    built.call("k", "1", "f", &mut watch).unwrap();
    built.arguments("k", "", &mut watch).unwrap();
    built.arguments("k", "{", &mut watch).unwrap();
    built.set_arguments("k", "{}", &mut watch).unwrap();
    built.call("l", "2", "g", &mut watch).unwrap();
    built.set_arguments("l", "{\"a\":1}", &mut watch).unwrap();
    assert_eq!(
        told,
        [
            "Text(\"a\")",
            "Reasoning(\"b\")",
            "CallStarted { id: \"1\", name: \"f\" }",
            "CallArguments { id: \"1\", text: \"{\" }",
            "CallStarted { id: \"2\", name: \"g\" }",
            "CallArguments { id: \"2\", text: \"{\\\"a\\\":1}\" }",
        ]
    );
    let answer = stopped(built);
    let [first, second] = calls(&answer)[..] else { panic!("{answer:?}") };
    assert_eq!(first.arguments, Arguments::Object(Map::new()));
    assert_eq!(second.arguments, Arguments::Object(Map::from_iter([("a".to_owned(), json!(1))])));
}

#[test]
fn interleaved_calls_keep_their_arguments() {
    let mut built = assembler();
    built.call("0", "x", "f", &mut quiet).unwrap();
    built.call("1", "y", "g", &mut quiet).unwrap();
    for (key, text) in [("1", "{\"b\":"), ("0", "{\"a\":"), ("1", "2}"), ("0", "1}")] {
        built.arguments(key, text, &mut quiet).unwrap();
    }
    built.call_opaque("1", json!("signed")).unwrap();
    assert!(built.has_call("1") && !built.has_call("2"));
    let answer = stopped(built);
    let [first, second] = calls(&answer)[..] else { panic!("{answer:?}") };
    assert_eq!(first.arguments, Arguments::Object(Map::from_iter([("a".to_owned(), json!(1))])));
    assert_eq!(second.arguments, Arguments::Object(Map::from_iter([("b".to_owned(), json!(2))])));
    assert_eq!(first.opaque, None);
    assert_eq!(second.opaque, Some(Opaque { from: origin(), value: json!("signed") }));
}

#[test]
fn ids_are_made_and_kept_apart() {
    let mut built = assembler();
    for (key, id) in ["", "a", "a", "", "call_4", "", "a_2", "a"].into_iter().enumerate() {
        built.call(&key.to_string(), id, "f", &mut quiet).unwrap();
    }
    let answer = stopped(built);
    let ids: Vec<&str> = calls(&answer).iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_0", "a", "a_2", "call_3", "call_4", "call_5", "a_2_6", "a_7"]);
}

#[test]
fn a_made_id_does_not_meet_one_that_was_given() {
    let mut built = assembler();
    for (key, id) in ["call_1", "", ""].into_iter().enumerate() {
        built.call(&key.to_string(), id, "f", &mut quiet).unwrap();
    }
    let answer = stopped(built);
    let ids: Vec<&str> = calls(&answer).iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_1", "call_2", "call_3"]);
}

#[test]
fn a_repeated_key_names_the_new_call() {
    let mut built = assembler();
    built.call("0", "x", "f", &mut quiet).unwrap();
    built.call("0", "y", "g", &mut quiet).unwrap();
    built.arguments("0", "[", &mut quiet).unwrap();
    let answer = stopped(built);
    let [first, second] = calls(&answer)[..] else { panic!("{answer:?}") };
    assert_eq!(first.arguments, Arguments::Object(Map::new()));
    assert_eq!(second.arguments, Arguments::Broken("[".to_owned()));
}

#[test]
fn arguments_that_are_no_object_are_broken() {
    let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    for (text, is_object) in [
        ("", true),
        (" \n", true),
        ("{\"a\": 1, \"a\": 2}", true),
        ("{\"a\": 1", false),
        ("{} {}", false),
        ("null", false),
        ("[]", false),
        ("\"{}\"", false),
        (deep(100).as_str(), true),
        (deep(100_000).as_str(), false),
    ] {
        let mut built = assembler();
        built.call("0", "x", "f", &mut quiet).unwrap();
        built.arguments("0", text, &mut quiet).unwrap();
        let answer = stopped(built);
        match &calls(&answer)[0].arguments {
            Arguments::Object(_) => assert!(is_object, "{text:.40}"),
            Arguments::Broken(broken) => assert!(!is_object && broken == text, "{text:.40}"),
        }
    }
}

#[test]
fn an_answer_without_its_end_is_cut() {
    let mut built = assembler();
    built.text("a", &mut quiet).unwrap();
    assert_eq!(built.build().unwrap_err().kind, ModelErrorKind::Cut);
}

#[test]
fn a_stop_after_a_call_asks_for_calls() {
    let mut built = assembler();
    built.text("a", &mut quiet).unwrap();
    built.model("m1-2026");
    built.model("");
    built.usage().input_tokens = 7;
    let answer = stopped(built);
    assert_eq!((answer.finish, answer.usage.total()), (Finish::Stop, 7));
    assert_eq!(answer.model.as_deref(), Some("m1-2026"));
    for (finish, expected) in [(Finish::Stop, Finish::ToolCalls), (Finish::Length, Finish::Length)] {
        let mut built = assembler();
        built.call("0", "x", "f", &mut quiet).unwrap();
        built.set_finish(finish);
        assert_eq!(built.build().unwrap().finish, expected);
    }
}

#[test]
fn a_call_that_is_cut_before_its_arguments_is_broken() {
    let built = |finish: Finish, last: &str| {
        let mut built = assembler();
        built.call("0", "x", "f", &mut quiet).unwrap();
        built.call("1", "y", "f", &mut quiet).unwrap();
        built.arguments("1", last, &mut quiet).unwrap();
        built.set_finish(finish);
        let answer = built.build().unwrap();
        calls(&answer).iter().map(|call| matches!(call.arguments, Arguments::Broken(_))).collect::<Vec<_>>()
    };
    // The first one was whole when the second began.
    assert_eq!(built(Finish::Length, ""), [false, true]);
    assert_eq!(built(Finish::Length, "{}"), [false, false]);
    assert_eq!(built(Finish::Stop, ""), [false, false]);
}

#[test]
fn arguments_of_an_unknown_call_are_malformed() {
    let mut built = assembler();
    for result in [
        built.arguments("0", "{}", &mut quiet),
        built.set_arguments("0", "{}", &mut quiet),
        built.call_opaque("0", json!(1)),
    ] {
        assert_eq!(result.unwrap_err().kind, ModelErrorKind::Malformed);
    }
}

/// Number of times that the step succeeds before it fails with `TooLarge`.
fn steps(mut step: impl FnMut(&mut Assembler, usize) -> Result<(), ModelError>) -> usize {
    let mut built = assembler();
    built.call("key", "id", "name", &mut quiet).unwrap();
    (0..1_000_000)
        .find(|number| match step(&mut built, *number) {
            Ok(()) => false,
            Err(error) => {
                assert_eq!(error.kind, ModelErrorKind::TooLarge);
                true
            }
        })
        .unwrap()
}

#[test]
fn everything_is_bounded() {
    let piece = "x".repeat(1 << 20);
    let most = MAX_ANSWER >> 20;
    // The call takes a few bytes itself.
    assert_eq!(steps(|built, _| built.text(&piece, &mut quiet)), most - 1);
    assert_eq!(steps(|built, _| built.reasoning(&piece, &mut quiet)), most - 1);
    assert_eq!(steps(|built, _| built.arguments("key", &piece, &mut quiet)), most - 1);
    assert_eq!(steps(|built, _| built.reasoning_data(1 << 20, |_| {})), most - 1);
    assert!(steps(|built, number| built.call_opaque("key", json!(piece.repeat(number)))) <= most);
    assert_eq!(steps(|built, number| built.call(&number.to_string(), "", "f", &mut quiet)), MAX_CALLS - 1);
    let parts = steps(|built, _| {
        built.close();
        built.text("a", &mut quiet)
    });
    assert_eq!(parts, MAX_PARTS - 1);
    let long = "x".repeat(MAX_ID + 1);
    for (key, id, name) in [(long.as_str(), "", ""), ("", long.as_str(), ""), ("", "", long.as_str())] {
        assert_eq!(steps(|built, _| built.call(key, id, name, &mut quiet)), 0);
    }
}

#[test]
fn replaced_arguments_and_opaque_data_do_not_add_up() {
    let mut built = assembler();
    built.call("key", "id", "name", &mut quiet).unwrap();
    let text = format!("\"{}\"", "x".repeat(MAX_ANSWER / 2));
    for _ in 0..5 {
        built.set_arguments("key", &text, &mut quiet).unwrap();
        built.call_opaque("key", json!("x".repeat(MAX_ANSWER / 4))).unwrap();
    }
    assert_eq!(calls(&stopped(built))[0].arguments, Arguments::Broken(text));
}

#[test]
fn arguments_with_too_many_values_are_too_large() {
    let mut built = assembler();
    built.call("0", "x", "f", &mut quiet).unwrap();
    built.arguments("0", &format!("{{\"a\":[{}0]}}", "0,".repeat(2 << 20)), &mut quiet).unwrap();
    built.set_finish(Finish::Stop);
    assert_eq!(built.build().unwrap_err().kind, ModelErrorKind::TooLarge);
}
