//! Tests of the guard as the loop uses it.

use super::*;
use crate::model::Window;
use agent_spaces_models::{
    Api, Arguments, Image, Message, ModelErrorKind, Origin, OutputSchema, Part, Provider, Reasoning, Tool, ToolCall,
    ToolResult,
};
use agent_spaces_telemetry::metrics::{Metrics, Readings};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// A target of the provider `p`.
pub(super) fn target(api: Api, model: &str) -> ModelTarget {
    ModelTarget {
        provider: Provider {
            name: "p".into(),
            api,
            base_url: "http://localhost/v1".parse().unwrap(),
            key: None,
            headers: Vec::new(),
            timeout: Duration::from_secs(1),
            openrouter: false,
        },
        model: model.into(),
        window: Window::default(),
        max_output_tokens: None,
        temperature: None,
        top_p: None,
        tool_choice: None,
        options: Map::new(),
        stream: false,
        price: None,
    }
}

fn gpt() -> ModelTarget {
    target(Api::OpenaiResponses, "gpt-5")
}

fn of(parts: Vec<Part>) -> Request {
    Request { messages: vec![Message::assistant(parts)], ..Request::default() }
}

fn whole() -> Request {
    let tool = Tool {
        name: "look".into(),
        description: "Looks at things. ".repeat(50),
        parameters: json!({ "type": "object", "properties": { "at": { "type": "string" } } }),
    };
    Request {
        system: Some("You help people. ".repeat(100)),
        messages: vec![Message::user("What is the time?")],
        tools: vec![tool],
        ..Request::default()
    }
}

fn usage(input_tokens: u64) -> Usage {
    Usage { input_tokens, ..Usage::default() }
}

#[test]
fn everything_in_a_request_counts() {
    let (guard, target) = (Guard::new(None), gpt());
    let image = || Image { media_type: "image/png".into(), data: "A".repeat(100_000) };
    let call = ToolCall {
        id: "1".into(),
        name: "look".into(),
        arguments: Arguments::Object(Map::from_iter([("at".to_owned(), Value::from("stars ".repeat(100)))])),
        opaque: None,
    };
    let result = ToolResult {
        call_id: "1".into(),
        name: "look".into(),
        text: "planet ".repeat(100),
        images: vec![image()],
        is_error: false,
    };
    let empty = guard.request(&target, &of(Vec::new()));
    for (part, least, most) in [
        (Part::Text("word ".repeat(100)), 100, 110),
        (Part::Image(image()), 1_600, 1_600),
        (Part::ToolCall(call), 100, 150),
        (Part::ToolResult(result), 1_700, 1_750),
    ] {
        let tokens = guard.request(&target, &of(vec![part.clone()])) - empty;
        assert!((least..=most).contains(&tokens), "{tokens}: {part:?}");
    }
    let request = whole();
    let all = guard.request(&target, &request);
    let without = |change: fn(&mut Request)| {
        let mut request = request.clone();
        change(&mut request);
        guard.request(&target, &request)
    };
    assert!(all > without(|request| request.system = None) + 300);
    assert!(all > without(|request| request.tools.clear()) + 150);
    let schema = OutputSchema { name: "answer".into(), schema: json!({ "enum": ["stars ".repeat(100)] }) };
    assert!(guard.request(&target, &Request { output: Some(schema), ..request.clone() }) > all + 100);
}

#[test]
fn reasoning_counts_for_its_own_model_alone() {
    let guard = Guard::new(None);
    let from = Origin { provider: "p".into(), model: "gpt-5".into(), api: Api::OpenaiResponses };
    let seen = Reasoning { text: "hmm ".repeat(100), from: from.clone(), data: None };
    let hidden = Reasoning { text: String::new(), from, data: Some(json!({ "encrypted": "A".repeat(1_000) })) };
    let [nothing, seen, hidden] = [Vec::new(), vec![Part::Reasoning(seen)], vec![Part::Reasoning(hidden)]].map(of);
    let own = gpt();
    assert!(guard.request(&own, &seen) >= guard.request(&own, &nothing) + 100);
    assert!(guard.request(&own, &hidden) >= guard.request(&own, &nothing) + 200);
    let other = target(Api::OpenaiResponses, "gpt-6");
    assert_eq!(guard.request(&other, &seen), guard.request(&other, &nothing));
    assert_eq!(guard.request(&other, &hidden), guard.request(&other, &nothing));
}

#[test]
fn a_conversation_alone_gets_the_overhead_of_the_last_request() {
    let (guard, target) = (Guard::new(None), gpt());
    let request = whole();
    let messages = Request { messages: request.messages.clone(), ..Request::default() };
    let bare = guard.conversation(&target, &messages);
    let all = guard.request(&target, &request);
    assert!(all > bare + 500);
    assert_eq!(guard.conversation(&target, &messages), all);
    assert_eq!(guard.conversation(&target, &request), all);
    // Another question has another prompt.
    assert_eq!(guard.for_question().conversation(&target, &messages), bare);
    assert_eq!(guard.clone().conversation(&target, &messages), all);
}

#[test]
fn what_is_reported_corrects_every_estimate_of_the_target() {
    let (guard, target) = (Guard::new(None), gpt());
    let request = Request { messages: vec![Message::user("word ".repeat(20_000))], ..Request::default() };
    let output = ToolOutput { text: "word ".repeat(1_000), ..ToolOutput::default() };
    let (before, result) = (guard.request(&target, &request), guard.result(&target, &output));
    for _ in 0..20 {
        guard.for_question().learn(&target, guard.request(&target, &request), &usage(before * 2));
    }
    let after = guard.request(&target, &request);
    assert!(after > before * 19 / 10 && after < before * 21 / 10, "{before} became {after}");
    assert!(guard.result(&target, &output) > result * 19 / 10);
    assert!(guard.conversation(&target, &request) > before * 19 / 10);
    guard.learn(&target, after, &usage(0));
    assert_eq!(guard.request(&target, &request), after);
}

#[test]
fn room_is_the_window_less_answer_and_buffer() {
    let (guard, mut target) = (Guard::new(None), gpt());
    assert_eq!(guard.room(&target, None), 131_072 - 4_096 - 256);
    assert_eq!(guard.room(&target, Some(1_000)), 131_072 - 1_000 - 256);
    target.window.tokens = 8_000;
    assert_eq!((guard.output_tokens(&target, None), guard.room(&target, None)), (2_000, 5_744));
    assert_eq!(guard.room(&target, Some(u32::MAX)), 0);
    // Its format demands a bound, and the one that is sent counts.
    assert_eq!(guard.room(&super::tests::target(Api::Anthropic, "claude"), None), 131_072 - 16_384 - 256);
}

#[test]
fn a_huge_result_is_estimated() {
    let output = ToolOutput { text: "{\"a\":1}\n".repeat(1 << 20), ..ToolOutput::default() };
    let tokens = Guard::new(None).result(&gpt(), &output);
    assert!(tokens > 131_072, "{tokens}");
}

#[test]
fn activations_and_requests_are_counted() {
    let metrics = Metrics::new(Readings::default);
    let (guard, target) = (Guard::new(Some(metrics.agents())), gpt());
    guard.activated(&target, "tool", "failed", 17);
    guard.asked(&target, Ok((&usage(100), Some(0.5))));
    guard.asked(&target, Err(ModelErrorKind::RateLimited));
    guard.ended("helper", "done");
    let text = metrics.encode();
    for line in [
        "ai_agent_context_guard_events_total{provider=\"p\",model=\"gpt-5\",trigger=\"tool\",outcome=\"failed\"} 1",
        "ai_agent_context_guard_remaining_tokens{provider=\"p\",model=\"gpt-5\",trigger=\"tool\",outcome=\"failed\"} 17",
        "agent_spaces_model_requests_total{provider=\"p\",model=\"gpt-5\",outcome=\"ok\"} 1",
        "agent_spaces_model_requests_total{provider=\"p\",model=\"gpt-5\",outcome=\"rate_limited\"} 1",
        "agent_spaces_model_tokens_total{provider=\"p\",model=\"gpt-5\",kind=\"input\"} 100",
        "agent_spaces_model_cost_total{provider=\"p\",model=\"gpt-5\"} 0.5",
        "agent_spaces_agent_questions_total{agent=\"helper\",ending=\"done\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
}
