use super::*;
use crate::testing::{Scripted, Step, ann, approve_pay, events, held, text, value};
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

fn routes(scripted: &Arc<Scripted>) -> AnthropicRoutes {
    AnthropicRoutes::new(scripted.asker(), Bodies::default())
}

fn request(more: Value) -> Vec<u8> {
    let mut body = json!({
        "model": "planner", "max_tokens": 100, "messages": [{ "role": "user", "content": "What is it?" }],
    });
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    body.to_string().into_bytes()
}

async fn created(routes: &AnthropicRoutes, more: Value) -> Result<HttpResponse, Failure> {
    routes.create(&ann(), &request(more), held()).await
}

fn tools() -> Value {
    json!([{ "name": "ask_user", "input_schema": { "type": "object" } }])
}

#[tokio::test]
async fn the_answer_is_a_message() {
    let steps = vec![Step::Calls("", "look", json!({})), Step::Says("It is a cat.")];
    let scripted = Scripted::new(OutputFormat::Text, steps);
    let message = value(created(&routes(&scripted), json!({ "system": "Be brief." })).await.unwrap()).await;
    assert_eq!((&message["type"], &message["role"]), (&json!("message"), &json!("assistant")));
    assert_eq!(message["content"], json!([{ "type": "text", "text": "It is a cat." }]));
    assert_eq!(message["stop_reason"], "end_turn");
    // Cached tokens are counted apart.
    assert_eq!(
        (&message["usage"]["input_tokens"], &message["usage"]["cache_read_input_tokens"]),
        (&json!(12), &json!(8))
    );
    assert_eq!(scripted.requests()[0].max_output_tokens, Some(100));
}

#[tokio::test]
async fn calls_of_the_callers_tools_are_passed_through() {
    let steps = vec![Step::Calls("", "ask_user", json!({ "x": 1 }))];
    let scripted = Scripted::new(OutputFormat::Text, steps);
    let message = value(created(&routes(&scripted), json!({ "tools": tools() })).await.unwrap()).await;
    assert_eq!(message["stop_reason"], "tool_use");
    let block = &message["content"][0];
    assert_eq!(
        (&block["type"], &block["name"], &block["input"]),
        (&json!("tool_use"), &json!("ask_user"), &json!({ "x": 1 }))
    );
    // And their results are read back.
    let scripted = Scripted::new(OutputFormat::Text, vec![Step::Says("Fine.")]);
    let result = json!([{ "type": "tool_result", "tool_use_id": block["id"], "content": "yes" }]);
    let messages = json!([
        { "role": "user", "content": "What is it?" },
        { "role": "assistant", "content": message["content"] },
        { "role": "user", "content": result },
    ]);
    created(&routes(&scripted), json!({ "messages": messages, "tools": tools() })).await.unwrap();
    let sent = &scripted.requests()[0].messages;
    assert_eq!((sent.len(), sent[2].role), (3, agent_spaces_models::Role::Tool));
}

#[tokio::test]
async fn events_come_in_their_order() {
    let steps =
        vec![Step::Calls("Let me look.", "look", json!({})), Step::Calls("It is.", "ask_user", json!({ "x": 1 }))];
    let scripted = Scripted::new(OutputFormat::Text, steps);
    let streamed = created(&routes(&scripted), json!({ "stream": true, "tools": tools() })).await.unwrap();
    let text = text(streamed).await;
    let events = events(&text);
    for (name, data) in &events {
        assert_eq!(name.as_deref(), data["type"].as_str());
    }
    let names: Vec<&str> = events.iter().filter_map(|(name, _)| name.as_deref()).collect();
    let mut kinds = names.clone();
    kinds.dedup();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected: Vec<&str> = ["message_start", "ping"]
        .into_iter()
        .chain(block)
        .chain(block)
        .chain(block)
        .chain(["message_delta", "message_stop"])
        .collect();
    assert_eq!(kinds, expected);
    let indexes: Vec<&Value> = events
        .iter()
        .filter(|(_, data)| data["type"] == "content_block_start")
        .map(|(_, data)| &data["index"])
        .collect();
    assert_eq!(indexes, [&json!(0), &json!(1), &json!(2)]);
    let input: String = events.iter().filter_map(|(_, data)| data["delta"]["partial_json"].as_str()).collect();
    assert_eq!(input, r#"{"x":1}"#);
    let (_, ended) = &events[events.len() - 2];
    assert_eq!((&ended["delta"]["stop_reason"], &ended["usage"]["output_tokens"]), (&json!("tool_use"), &json!(10)));
}

#[tokio::test]
async fn failures_have_anthropics_form() {
    let scripted = Scripted::new(OutputFormat::Text, vec![Step::Calls("", "look", json!({})), Step::Fails]);
    let text = text(created(&routes(&scripted), json!({ "stream": true })).await.unwrap()).await;
    let (name, last) = events(&text).pop().unwrap();
    assert_eq!((name.as_deref(), &last["error"]["type"]), (Some("error"), &json!("api_error")));
    let scripted = Scripted::new(OutputFormat::Text, Vec::new());
    let unknown = created(&routes(&scripted), json!({ "model": "claude" })).await.err().unwrap();
    assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
    assert_eq!(error::body(&unknown)["error"]["type"], "not_found_error");
    let refused = value(routes(&scripted).refuse(&Refusal::Token)).await;
    assert_eq!((&refused["type"], &refused["error"]["type"]), (&json!("error"), &json!("authentication_error")));
}

#[tokio::test]
async fn threads_are_refused_with_the_code_that_sdks_know() {
    let scripted = Scripted::new(OutputFormat::Text, Vec::new());
    let thread = json!({ "thread": { "type": "create" } });
    let refused = created(&routes(&scripted), thread).await.err().unwrap();
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    assert_eq!(error::body(&refused)["error"]["details"]["error_code"], "thread_unsupported_request");
}

#[tokio::test]
async fn tokens_are_counted_without_asking() {
    let scripted = Scripted::new(OutputFormat::Text, Vec::new());
    let routes = routes(&scripted);
    let count = async |more: Value| {
        let counted = value(routes.count(&request(more), held()).await.unwrap()).await;
        counted["input_tokens"].as_u64().unwrap()
    };
    let (short, long) = (count(json!({})).await, count(json!({ "system": "word ".repeat(1_000) })).await);
    assert!(short > 0 && long > short + 500, "{short} {long}");
    assert!(scripted.requests().is_empty());
}

#[tokio::test]
async fn a_call_waits_for_a_person() {
    for is_streamed in [false, true] {
        let steps = vec![Step::Calls("", "pay", json!({})), Step::Says("Paid.")];
        let scripted = Scripted::new(OutputFormat::Text, steps);
        let routes = routes(&scripted);
        let answering = async { text(created(&routes, json!({ "stream": is_streamed })).await.unwrap()).await };
        let (answer, ()) = tokio::join!(answering, approve_pay(routes.asker.approvals()));
        assert!(answer.contains("Paid."), "{answer}");
        let told = format!("{:?}", scripted.requests()[1].messages.last());
        assert!(told.contains("paid, says ann"), "{told}");
    }
}
