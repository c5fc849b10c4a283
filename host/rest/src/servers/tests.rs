//! Tests of what callers see of servers, and of acceptance.

use crate::api;
use crate::server_source::{AcceptError, Accepting, ServerFault, ServerSource, ServerState, ServerStatus};
use crate::service::{Service, test_service};
use crate::who::Who;
use agent_spaces_http_server::Client;
use agent_spaces_project::mcp::{ChangeKind, ReviewedChange};
use agent_spaces_types::caller::Caller;
use axum::body::{Body, to_bytes};
use http::{Request, StatusCode};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};
use tower::ServiceExt;

/// Two servers, of which one changed.
#[derive(Default)]
struct Servers {
    accepted: Mutex<Vec<String>>,
}

impl ServerSource for Servers {
    fn servers(&self) -> Vec<ServerState> {
        let is_accepted = !self.accepted.lock().unwrap().is_empty();
        let idle = ServerState {
            name: "calendar".to_owned(),
            spaces: vec![None],
            transport: "stdio",
            status: ServerStatus::Idle,
            error: None,
            tools: Some(2),
            checked_at: None,
            offer: None,
            changes: Vec::new(),
        };
        let change = ReviewedChange {
            kind: ChangeKind::Added,
            name: "pay".to_owned(),
            text: "the tool `pay` is new".to_owned(),
            is_breaking: true,
            before: None,
            after: Some("{}".to_owned()),
        };
        let fault = ServerFault { detail: "/home/ann/bin/slack exited".to_owned(), brief: "it changed".to_owned() };
        let changed = ServerState {
            name: "slack".to_owned(),
            status: if is_accepted { ServerStatus::Idle } else { ServerStatus::Changed },
            error: (!is_accepted).then_some(fault),
            checked_at: Some(UNIX_EPOCH + Duration::from_millis(1)),
            offer: (!is_accepted).then(|| "abc".to_owned()),
            changes: if is_accepted { Vec::new() } else { vec![change] },
            ..idle.clone()
        };
        vec![idle, changed]
    }

    fn accept<'a>(&'a self, name: &'a str, offer: Option<&'a str>) -> Accepting<'a> {
        Box::pin(async move {
            if offer.is_some_and(|offer| offer != "abc") {
                return Err(AcceptError::Changed);
            }
            if name == "calendar" {
                return Err(AcceptError::Failed("it does not answer".to_owned()));
            }
            self.accepted.lock().unwrap().push(name.to_owned());
            Ok(())
        })
    }
}

fn operator() -> Who {
    Who(Client::of_process(Caller::default()))
}

async fn send(service: &Service, who: Who, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
    let request = Request::builder().method(method).uri(path);
    let request = match body {
        Value::Null => request.body(Body::empty()),
        body => request.header("content-type", "application/json").body(Body::from(body.to_string())),
    };
    let mut request = request.unwrap();
    request.extensions_mut().insert(who);
    let response = api::router().with_state(service.clone()).oneshot(request).await.unwrap();
    let status = response.status();
    let bytes = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

#[tokio::test]
async fn the_operator_sees_changes_and_accepts_them() {
    let folder = tempfile::tempdir().unwrap();
    let service = test_service(folder.path());
    let (status, none) = send(&service, operator(), "GET", "/v1/servers", Value::Null).await;
    assert_eq!((status, none), (StatusCode::OK, json!({ "items": [] })));
    let servers = Arc::new(Servers::default());
    service.show_servers(servers.clone());
    let (_, page) = send(&service, operator(), "GET", "/v1/servers?limit=1", Value::Null).await;
    assert_eq!(
        page["items"],
        json!([{ "name": "calendar", "spaces": [], "transport": "stdio", "status": "idle", "tools": 2 }])
    );
    let next = format!("/v1/servers?cursor={}", page["next"].as_str().unwrap());
    let (_, page) = send(&service, operator(), "GET", &next, Value::Null).await;
    let slack = &page["items"][0];
    assert_eq!((&slack["status"], &slack["error"]), (&json!("changed"), &json!("/home/ann/bin/slack exited")));
    assert_eq!((&slack["checkedAt"], &slack["offer"]), (&json!("1970-01-01T00:00:00.001Z"), &json!("abc")));
    let change = json!({
        "kind": "added", "name": "pay", "text": "the tool `pay` is new", "breaking": true, "after": "{}",
    });
    assert_eq!((&slack["changes"], page.get("next")), (&json!([change]), None));

    let accept = async |name: &str, body: Value| {
        send(&service, operator(), "POST", &format!("/v1/servers/{name}/accept"), body).await
    };
    let (status, problem) = accept("slack", json!({ "offer": "other" })).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("server.changed")));
    let (status, problem) = accept("calendar", json!({})).await;
    assert_eq!((status, &problem["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("server.failed")));
    assert_eq!(accept("nobody", json!({})).await.0, StatusCode::NOT_FOUND);
    assert!(servers.accepted.lock().unwrap().is_empty());
    assert_eq!(accept("slack", json!({ "tools": 1 })).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(accept("calendar", Value::Null).await.0, StatusCode::SERVICE_UNAVAILABLE, "no body is needed");
    let (status, accepted) = accept("slack", json!({ "offer": "abc" })).await;
    assert_eq!((status, &accepted["status"], accepted.get("changes")), (StatusCode::OK, &json!("idle"), None));
}

#[tokio::test]
async fn a_caller_neither_accepts_nor_sees_servers_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let service = test_service(folder.path());
    let servers = Arc::new(Servers::default());
    service.show_servers(servers.clone());
    let ann = || Who(Client::named("ann", Caller { name: Some("ann".to_owned()), ..Caller::default() }));
    // The source of these tests gives no caller a space.
    let (status, page) = send(&service, ann(), "GET", "/v1/servers", Value::Null).await;
    assert_eq!((status, page), (StatusCode::OK, json!({ "items": [] })));
    let (status, problem) = send(&service, ann(), "POST", "/v1/servers/slack/accept", json!({})).await;
    assert_eq!((status, &problem["code"]), (StatusCode::FORBIDDEN, &json!("auth.denied")));
    assert!(servers.accepted.lock().unwrap().is_empty());
}

#[test]
fn a_caller_gets_no_text_that_nobody_accepted() {
    let state = Servers::default().servers().remove(1);
    let space = crate::spaces::SpaceRecord { id: "spc_1".to_owned(), made: None, base: None };
    let shown = serde_json::to_value(super::view(state, &[space], false)).unwrap();
    assert_eq!((&shown["spaces"], &shown["error"]), (&json!(["spc_1"]), &json!("it changed")));
    assert!(shown.get("changes").is_none() && shown.get("offer").is_none(), "{shown}");
}
