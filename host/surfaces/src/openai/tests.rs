use super::*;
use crate::testing::{Scripted, Step, ann, approve_pay, events, held, text, value};
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn routes(scripted: &Arc<Scripted>) -> OpenaiRoutes {
    OpenaiRoutes::new(scripted.asker(), Bodies::default())
}

fn request(more: Value) -> Vec<u8> {
    let mut body = json!({ "model": "planner", "messages": [{ "role": "user", "content": "What is it?" }] });
    body.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    body.to_string().into_bytes()
}

async fn completed(routes: &OpenaiRoutes, more: Value) -> Result<HttpResponse, Failure> {
    routes.complete(&ann(), &request(more), held()).await
}

fn function(name: &str) -> Value {
    json!({ "type": "function", "function": { "name": name, "parameters": { "type": "object" } } })
}

/// The deltas of a stream, and its finish reason.
fn deltas(text: &str) -> (Vec<Value>, Option<String>) {
    let choices = events(text).into_iter().filter_map(|(_, data)| data["choices"].as_array().cloned()).flatten();
    let (mut deltas, mut finish) = (Vec::new(), None);
    for choice in choices {
        deltas.push(choice["delta"].clone());
        finish = choice["finish_reason"].as_str().map(str::to_owned).or(finish);
    }
    (deltas, finish)
}

#[tokio::test]
async fn the_agents_own_tools_are_called_and_the_answer_is_a_completion() {
    let steps = vec![Step::Calls("Let me look.", "look", json!({})), Step::Says("It is a cat.")];
    let scripted = Scripted::new(OutputFormat::Text, steps);
    let routes = routes(&scripted);
    let system = json!([{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "What is it?" }]);
    let completion = value(completed(&routes, json!({ "messages": system, "max_tokens": 9_000 })).await.unwrap()).await;
    assert_eq!((&completion["object"], &completion["model"]), (&json!("chat.completion"), &json!("planner")));
    let choice = &completion["choices"][0];
    assert_eq!((&choice["message"]["content"], &choice["finish_reason"]), (&json!("It is a cat."), &json!("stop")));
    assert_eq!(completion["usage"]["prompt_tokens"], 20);
    let first = &scripted.requests()[0];
    assert!(first.system.as_deref().is_some_and(|system| system.contains("You plan.") && system.contains("Be brief.")));
    // Within the agent's own bound.
    assert_eq!(first.max_output_tokens, Some(500));
}

#[tokio::test]
async fn calls_of_the_callers_tools_are_passed_through() {
    let steps = || vec![Step::Calls("Let me ask.", "ask_user", json!({ "x": 1 }))];
    let tools = json!({ "tools": [function("ask_user")] });
    let scripted = Scripted::new(OutputFormat::Text, steps());
    let completion = value(completed(&routes(&scripted), tools.clone()).await.unwrap()).await;
    let choice = &completion["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    let call = &choice["message"]["tool_calls"][0];
    assert_eq!((&call["function"]["name"], &call["function"]["arguments"]), (&json!("ask_user"), &json!(r#"{"x":1}"#)));

    let scripted = Scripted::new(OutputFormat::Text, steps());
    let mut streamed = tools;
    streamed["stream"] = true.into();
    let (deltas, finish) = deltas(&text(completed(&routes(&scripted), streamed).await.unwrap()).await);
    assert_eq!(finish.as_deref(), Some("tool_calls"));
    let calls: Vec<&Value> = deltas.iter().filter(|delta| delta["tool_calls"].is_array()).collect();
    assert_eq!((calls.len(), &calls[0]["tool_calls"][0]["index"]), (1, &json!(0)));
}

#[tokio::test]
async fn a_stream_has_role_text_finish_usage_and_end() {
    let steps = vec![Step::Calls("Let me look.", "look", json!({})), Step::Says("It is a cat.")];
    let scripted = Scripted::new(OutputFormat::Text, steps);
    let wanted = json!({ "stream": true, "stream_options": { "include_usage": true } });
    let response = completed(&routes(&scripted), wanted).await.unwrap();
    assert!(response.headers()["content-type"].to_str().unwrap().starts_with("text/event-stream"));
    let text = text(response).await;
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    let (deltas, finish) = deltas(&text);
    assert_eq!((&deltas[0]["role"], finish.as_deref()), (&json!("assistant"), Some("stop")));
    let said: String = deltas.iter().filter_map(|delta| delta["content"].as_str()).collect();
    assert_eq!(said, "Let me look.\n\nIt is a cat.");
    assert!(!text.contains("a cat\"") && !text.contains("tool_calls"), "results and own calls are not shown");
    let events = events(&text);
    let usage = &events[events.len() - 2].1;
    assert_eq!((&usage["choices"], &usage["usage"]["total_tokens"]), (&json!([]), &json!(30)));
    assert!(events[0].1["usage"].is_null());
}

#[tokio::test]
async fn text_with_a_schema_is_streamed_when_it_is_checked() {
    let steps = vec![Step::Says("It is one."), Step::Says(r#"{"n": 1}"#)];
    let scripted = Scripted::new(OutputFormat::Text, steps);
    let schema = json!({ "type": "object", "required": ["n"] });
    let format = json!({ "type": "json_schema", "json_schema": { "name": "n", "schema": schema } });
    let response = completed(&routes(&scripted), json!({ "stream": true, "response_format": format })).await.unwrap();
    let (deltas, _) = deltas(&text(response).await);
    let said: String = deltas.iter().filter_map(|delta| delta["content"].as_str()).collect();
    assert_eq!(said, r#"{"n": 1}"#);
}

#[tokio::test]
async fn failures_have_a_status_and_openais_form() {
    for is_streamed in [false, true] {
        let scripted = Scripted::new(OutputFormat::Text, vec![Step::Fails]);
        let failure = completed(&routes(&scripted), json!({ "stream": is_streamed })).await.err().unwrap();
        assert_eq!((failure.kind, failure.status()), (FailureKind::Model, StatusCode::BAD_GATEWAY));
        let body = value(error::response(&failure)).await;
        assert_eq!(body["error"]["type"], "server_error");
        assert!(body["error"]["message"].as_str().unwrap().contains("no such model"));
    }
    let scripted = Scripted::new(OutputFormat::Text, Vec::new());
    let unknown = completed(&routes(&scripted), json!({ "model": "gpt-5" })).await.err().unwrap();
    assert_eq!(
        (unknown.status(), error::body(&unknown)["error"]["code"].clone()),
        (StatusCode::NOT_FOUND, json!("model_not_found"))
    );
    let refused = value(routes(&scripted).refuse(&Refusal::Token)).await;
    assert_eq!(refused["error"]["code"], "invalid_api_key");
}

#[tokio::test]
async fn a_failure_after_calls_is_not_retried_by_clients() {
    let steps = || vec![Step::Calls("", "look", json!({})), Step::Fails];
    let scripted = Scripted::new(OutputFormat::Text, steps());
    let failure = completed(&routes(&scripted), json!({})).await.err().unwrap();
    assert_eq!(failure.status(), StatusCode::FAILED_DEPENDENCY);
    // A stream that has begun ends with the error.
    let scripted = Scripted::new(OutputFormat::Text, steps());
    let text = text(completed(&routes(&scripted), json!({ "stream": true })).await.unwrap()).await;
    let last = events(&text).pop().unwrap().1;
    assert!(last["error"]["message"].is_string() && !text.contains("[DONE]"), "{text}");
}

#[tokio::test]
async fn a_client_that_is_gone_cancels_its_question_and_leaves_the_queue() {
    let scripted = Scripted::new(OutputFormat::Text, vec![Step::Hangs, Step::Says("Hello.")]);
    let routes = Arc::new(routes(&scripted));
    let asking = |routes: Arc<OpenaiRoutes>| tokio::spawn(async move { completed(&routes, json!({})).await.is_ok() });
    let first = asking(routes.clone());
    while scripted.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // It waits for the first, and is gone before.
    let second = asking(routes.clone());
    tokio::time::sleep(Duration::from_millis(20)).await;
    second.abort();
    let _ = second.await;
    first.abort();
    let _ = first.await;
    while scripted.dropped() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(asking(routes).await.unwrap());
    assert_eq!(scripted.requests().len(), 2, "the one that left the queue was never asked");
}

#[tokio::test]
async fn models_are_listed_in_the_form_of_whoever_asks() {
    let routes = routes(&Scripted::new(OutputFormat::Text, Vec::new()));
    let mut headers = HeaderMap::new();
    let listed = value(routes.models(&ann(), &Method::GET, MODELS, &headers)).await;
    assert_eq!((&listed["object"], &listed["data"][0]["id"]), (&json!("list"), &json!("planner")));
    let one = value(routes.models(&ann(), &Method::GET, "/v1/models/planner", &headers)).await;
    assert_eq!(one["object"], "model");
    let unknown = routes.models(&ann(), &Method::GET, "/v1/models/other", &headers);
    assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
    assert_eq!(routes.models(&ann(), &Method::POST, MODELS, &headers).status(), StatusCode::METHOD_NOT_ALLOWED);
    headers.insert("anthropic-version", "2023-06-01".parse().unwrap());
    let listed = value(routes.models(&ann(), &Method::GET, MODELS, &headers)).await;
    assert_eq!((&listed["has_more"], &listed["data"][0]["type"]), (&json!(false), &json!("model")));
    assert_eq!(value(routes.models(&ann(), &Method::GET, "/v1/models/other", &headers)).await["type"], "error");
}

#[tokio::test]
async fn a_call_waits_for_a_person() {
    for is_streamed in [false, true] {
        let steps = vec![Step::Calls("", "pay", json!({})), Step::Says("Paid.")];
        let scripted = Scripted::new(OutputFormat::Text, steps);
        let routes = routes(&scripted);
        let answering = async { text(completed(&routes, json!({ "stream": is_streamed })).await.unwrap()).await };
        let (answer, ()) = tokio::join!(answering, approve_pay(routes.asker.approvals()));
        assert!(answer.contains("Paid."), "{answer}");
        let told = format!("{:?}", scripted.requests()[1].messages.last());
        assert!(told.contains("paid, says ann"), "{told}");
    }
}
