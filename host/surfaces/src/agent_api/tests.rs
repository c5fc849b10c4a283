use super::*;
use crate::testing::{Scripted, Step, ann, events, held, text, value};
use agent_spaces_agent::OutputFormat;
use agent_spaces_approvals::{Decision, WaitingCalls as _};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn routes(scripted: &Arc<Scripted>) -> AgentRoutes {
    AgentRoutes::new(scripted.asker(), Bodies::default())
}

fn head(uri: &str, accept: &str) -> Parts {
    Request::builder().uri(uri).header(ACCEPT, accept).body(()).unwrap().into_parts().0
}

async fn asked(routes: &AgentRoutes, uri: &str, accept: &str, body: Value) -> Result<HttpResponse, Failure> {
    let body = body.as_object().cloned().unwrap();
    routes.ask(&ann(), "planner", &head(uri, accept), body, held()).await
}

#[tokio::test]
async fn a_question_is_answered_with_json() {
    let scripted = Scripted::new(OutputFormat::Text, vec![Step::Says("Hello."), Step::Says(r#"{"n": 1}"#)]);
    let routes = routes(&scripted);
    let answer = value(asked(&routes, "/v1/planner?q=hi&session=none", "*/*", json!({})).await.unwrap()).await;
    assert_eq!((&answer["ok"], &answer["text"], &answer["ending"]), (&json!(true), &json!("Hello."), &json!("done")));
    assert_eq!((&answer["model"], &answer["usage"]["inputTokens"]), (&json!("local/tiny"), &json!(10)));
    let body = json!({ "question": "hi", "session": "none", "format": "json", "schema": { "type": "object" } });
    let answer = value(asked(&routes, "/v1/planner", "*/*", body).await.unwrap()).await;
    assert_eq!(answer["value"], json!({ "n": 1 }));
}

#[tokio::test]
async fn events_end_with_the_answer() {
    let steps = vec![Step::Calls("", "look", json!({ "secret": "word" })), Step::Says("It is a cat.")];
    let scripted = Scripted::new(OutputFormat::Text, steps);
    let body = json!({ "question": "hi", "session": "none" });
    let text = text(asked(&routes(&scripted), "/v1/planner", "text/event-stream", body).await.unwrap()).await;
    let events = events(&text);
    let (name, answer) = events.last().unwrap();
    assert_eq!((name.as_deref(), &answer["text"]), (Some("answer"), &json!("It is a cat.")));
    assert!(events.iter().any(|(name, data)| name.as_deref() == Some("callStarted") && data["name"] == "look"));
    assert!(!text.contains("secret"), "arguments are not shown");
}

#[tokio::test]
async fn failures_are_problem_documents() {
    let scripted = Scripted::new(OutputFormat::Text, vec![Step::Fails]);
    let routes = routes(&scripted);
    let failure = asked(&routes, "/v1/planner?q=hi&session=none", "*/*", json!({})).await.err().unwrap();
    let response = problem::response(&failure);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    assert_eq!(value(response).await["code"], "agent.model_failed");
    let refused = routes.refuse(&Refusal::Token);
    assert_eq!(value(refused).await["code"], "auth.token");
    let wrong = asked(&routes, "/v1/planner?question=hi", "*/*", json!({})).await.err().unwrap();
    assert_eq!(problem::body(&wrong)["errors"][0]["pointer"], "/question");
}

#[tokio::test]
async fn paths_without_an_agent_are_left_to_the_rest_api() {
    let routes = routes(&Scripted::new(OutputFormat::Text, Vec::new()));
    assert_eq!(routes.place("/v1/planner"), Some(Place::Agent("planner")));
    assert_eq!(routes.place("/v1/agents"), Some(Place::Agents));
    assert_eq!(routes.place("/v1/agents/planner/sessions"), Some(Place::Sessions("planner")));
    assert_eq!(routes.place("/v1/agents/planner/sessions/ses_1"), Some(Place::Session("planner", "ses_1")));
    for path in ["/v1/agents/", "/v1/agents/planner", "/v1/agents/other/sessions", "/v1/agents/planner/sessions/a/b"] {
        assert_eq!(routes.place(path), None, "{path}");
    }
    for path in ["/v1/other", "/v1/planner/x", "/v1/", "/v1", "/planner", "/v1/approvals", "/v1/approvals/apr_1"] {
        assert_eq!(routes.access(&Method::GET, path), None, "{path}");
    }
}

#[tokio::test]
async fn a_call_waits_for_a_person() {
    let steps = vec![Step::Calls("", "pay", json!({})), Step::Says("Paid.")];
    let scripted = Scripted::new(OutputFormat::Text, steps);
    let routes = Arc::new(routes(&scripted));
    let asking = tokio::spawn({
        let routes = routes.clone();
        async move { value(asked(&routes, "/v1/planner?q=hi&session=none", "*/*", json!({})).await.unwrap()).await }
    });
    let approvals = routes.asker.approvals();
    while !approvals.has("apr_pay") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(routes.place("/v1/approvals/apr_pay"), None, "the REST API decides");
    assert_eq!(approvals.calls(Some("ann"))[0].agent, "planner");
    approvals.decide("apr_pay", "ann", Decision::approve("ann")).unwrap();
    assert_eq!(asking.await.unwrap()["text"], "Paid.");
    let results = scripted.requests()[1].messages.last().unwrap().clone();
    assert!(format!("{results:?}").contains("paid, says ann"), "{results:?}");
}

#[test]
fn clients_say_that_they_want_events() {
    let wants = |accept: &str| wants_events(&head("/", accept).headers);
    assert!(wants("text/event-stream") && wants("application/json, text/event-stream;q=0.9"));
    assert!(!wants("*/*") && !wants("application/json"));
}
