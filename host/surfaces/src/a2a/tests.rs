//! Whole requests, with a scripted model.

use super::time;
use super::{A2aRoutes, A2aSettings, WELL_KNOWN_CARD};
use crate::testing::{Scripted, Step, ann, events, text, value};
use agent_spaces_agent::{AgentService, OutputFormat};
use agent_spaces_http_server::{Client, HttpResponse, Routes as _};
use agent_spaces_journal::{Expected, NewDocument, Settings, SqliteStore, Store as _};
use agent_spaces_models::Message;
use agent_spaces_pipeline::accounting::Accounting;
use agent_spaces_types::caller::Caller;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

struct World {
    _folder: TempDir,
    store: Arc<SqliteStore>,
    script: Arc<Scripted>,
    routes: A2aRoutes,
}

fn world(steps: Vec<Step>) -> World {
    let folder = tempfile::tempdir().unwrap();
    let store = Arc::new(SqliteStore::open(&folder.path().join("journal"), Settings::default()).unwrap());
    let script = Scripted::new(OutputFormat::Text, steps);
    let routes = routes(&script, &store);
    World { _folder: folder, store, script, routes }
}

fn routes(script: &Arc<Scripted>, store: &Arc<SqliteStore>) -> A2aRoutes {
    let service = AgentService::new(script.clone(), script.clone(), Some(store.clone()), Accounting::default(), None);
    A2aRoutes::new(&service, store.clone(), A2aSettings::default())
}

fn bob() -> Client {
    Client::named("bob", Caller::default())
}

fn request(method: &str, path: &str, body: &Value) -> Request<Full<Bytes>> {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let builder = Request::builder().method(method).uri(path).header("a2a-version", "1.0");
    builder.header("content-type", "application/json").body(Full::new(Bytes::from(body))).unwrap()
}

impl World {
    async fn rpc_response(&self, client: &Client, method: &str, params: Value) -> HttpResponse {
        let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
        self.routes.answer(request("POST", "/a2a/planner", &body), Some(client)).await
    }

    /// Calls a method. Returns its result or its error.
    async fn rpc(&self, client: &Client, method: &str, params: Value) -> Result<Value, i64> {
        let answer = value(self.rpc_response(client, method, params).await).await;
        assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)));
        match answer.get("error") {
            Some(error) => Err(error["code"].as_i64().unwrap()),
            None => Ok(answer["result"].clone()),
        }
    }

    async fn http(&self, client: &Client, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let response = self.routes.answer(request(method, &format!("/a2a/planner/{path}"), &body), Some(client)).await;
        (response.status(), value(response).await)
    }

    /// Sends a text. Returns the task.
    async fn send(&self, text: &str, more: Value) -> Result<Value, i64> {
        self.rpc(&ann(), "SendMessage", message(text, more)).await.map(|result| result["task"].clone())
    }
}

fn message(text: &str, more: Value) -> Value {
    let mut message = json!({ "messageId": "m1", "role": "ROLE_USER", "parts": [{ "text": text }] });
    for (name, value) in more.as_object().into_iter().flatten() {
        message[name] = value.clone();
    }
    json!({ "message": message })
}

fn state(task: &Value) -> &str {
    task["status"]["state"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_message_makes_a_task_that_is_kept() {
    let world = world(vec![Step::Says("Hello there."), Step::Says("Hello again.")]);
    let task = world.send("hi", json!({})).await.unwrap();
    assert_eq!(state(&task), "TASK_STATE_COMPLETED");
    assert_eq!(task["artifacts"][0]["parts"], json!([{ "text": "Hello there." }]));
    assert_eq!(task["history"][0]["parts"], json!([{ "text": "hi" }]));
    let id = task["id"].as_str().unwrap();
    assert_eq!(world.rpc(&ann(), "GetTask", json!({ "id": id })).await.unwrap(), task);
    // Another process reads the same.
    let other = World { routes: routes(&world.script, &world.store), ..world };
    assert_eq!(other.http(&ann(), "GET", &format!("tasks/{id}"), Value::Null).await, (StatusCode::OK, task.clone()));
    let (_, short) = other.http(&ann(), "GET", &format!("tasks/{id}?historyLength=0"), Value::Null).await;
    assert!(short.get("history").is_none());
    let (status, sent) = other.http(&ann(), "POST", "message:send", message("hi", json!({}))).await;
    assert_eq!((status, state(&sent["task"])), (StatusCode::OK, "TASK_STATE_COMPLETED"));
    assert_ne!(sent["task"]["id"], task["id"]);
}

#[tokio::test]
async fn tasks_of_others_are_as_unknown_as_those_that_never_were() {
    let world = world(vec![Step::Says("Secret.")]);
    let task = world.send("hi", json!({})).await.unwrap();
    let id = &task["id"];
    for method in ["GetTask", "CancelTask", "SubscribeToTask"] {
        assert_eq!(world.rpc(&bob(), method, json!({ "id": id })).await, Err(-32001), "{method}");
        assert_eq!(world.rpc(&ann(), method, json!({ "id": "task_none" })).await, Err(-32001), "{method}");
    }
    let follow_up = message("and?", json!({ "taskId": id }));
    assert_eq!(world.rpc(&bob(), "SendMessage", follow_up).await, Err(-32001));
    assert_eq!(world.rpc(&bob(), "ListTasks", json!({})).await.unwrap()["totalSize"], json!(0));
    let (status, body) = world.http(&bob(), "GET", "tasks/task_none", Value::Null).await;
    assert_eq!((status, &body["error"]["details"][0]["reason"]), (StatusCode::NOT_FOUND, &json!("TASK_NOT_FOUND")));
}

#[tokio::test]
async fn a_stream_has_the_task_then_its_changes() {
    let long = "One two three four five six seven eight nine ten eleven twelve thirteen.";
    let world = world(vec![Step::Calls("Let me look.", "look", json!({})), Step::Says(long)]);
    let response = world.rpc_response(&ann(), "SendStreamingMessage", message("hi", json!({}))).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let events: Vec<Value> =
        events(&text(response).await).into_iter().map(|(_, data)| data["result"].clone()).collect();
    assert_eq!(state(&events[0]["task"]), "TASK_STATE_SUBMITTED");
    assert_eq!(state(&events[1]["statusUpdate"]), "TASK_STATE_WORKING");
    assert!(events.iter().any(|event| event["statusUpdate"]["status"]["message"]["parts"][0]["text"] == "Calls look"));
    assert_eq!(state(&events.last().unwrap()["statusUpdate"]), "TASK_STATE_COMPLETED");
    let mut answer = String::new();
    let pieces: Vec<&Value> = events.iter().filter_map(|event| event.get("artifactUpdate")).collect();
    for piece in &pieces {
        if piece["append"] == json!(false) {
            answer.clear();
        }
        answer.push_str(piece["artifact"]["parts"][0]["text"].as_str().unwrap());
    }
    assert_eq!(answer, long);
    let last: Vec<bool> = pieces.iter().map(|piece| piece["lastChunk"] == json!(true)).collect();
    assert!(last.ends_with(&[true]) && last.iter().filter(|is_last| **is_last).count() == 1);
}

#[tokio::test]
async fn a_call_that_needs_a_person_makes_the_task_wait() {
    let world = world(vec![Step::Calls("", "pay", json!({})), Step::Says("Paid.")]);
    let task = world.send("pay", json!({})).await.unwrap();
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED");
    let asked = &task["status"]["message"]["parts"];
    assert!(asked[0]["text"].as_str().unwrap().starts_with("Pay?"));
    assert_eq!(asked[1]["data"]["approval"], json!("apr_pay"));
    let again = json!({ "taskId": task["id"] });
    let unclear = world.send("maybe", again.clone()).await.unwrap();
    assert_eq!(state(&unclear), "TASK_STATE_INPUT_REQUIRED");
    // The context is busy with it.
    let beside = json!({ "contextId": task["contextId"] });
    assert_eq!(world.send("something else", beside).await, Err(-32004));
    let wrong = json!({ "taskId": task["id"], "contextId": "other" });
    assert_eq!(world.send("approve", wrong).await, Err(-32602));
    let unknown = json!({ "taskId": task["id"], "parts": [{ "data": { "decision": "approve", "approval": "x" } }] });
    assert_eq!(world.send("", unknown).await, Err(-32602));
    let done = world.send("approve", again.clone()).await.unwrap();
    assert_eq!((state(&done), &done["contextId"]), ("TASK_STATE_COMPLETED", &task["contextId"]));
    let said: Vec<_> =
        done["history"].as_array().unwrap().iter().map(|said| said["parts"][0]["text"].clone()).collect();
    assert_eq!((&said[0], &said[2], &said[3]), (&json!("pay"), &json!("maybe"), &json!("approve")));
    assert_eq!(world.send("approve", again).await, Err(-32004));
    let result = world.script.requests()[1].messages.last().cloned().unwrap();
    assert!(format!("{result:?}").contains("paid, says"), "{result:?}");
}

#[tokio::test]
async fn a_caller_that_may_not_approve_is_not_asked() {
    let world = world(vec![Step::Calls("", "pay", json!({})), Step::Says("I may not.")]);
    let sent = world.rpc(&bob(), "SendMessage", message("pay", json!({}))).await.unwrap();
    assert_eq!(state(&sent["task"]), "TASK_STATE_COMPLETED");
    let result = world.script.requests()[1].messages.last().cloned().unwrap();
    assert!(format!("{result:?}").contains("denied"), "{result:?}");
}

#[tokio::test]
async fn a_task_is_cancelled_once() {
    let world = world(vec![Step::Hangs]);
    let mut params = message("hi", json!({}));
    params["configuration"] = json!({ "returnImmediately": true });
    let task = world.rpc(&ann(), "SendMessage", params).await.unwrap()["task"].clone();
    assert!(["TASK_STATE_SUBMITTED", "TASK_STATE_WORKING"].contains(&state(&task)));
    let id = json!({ "id": task["id"] });
    let stream = world.rpc_response(&ann(), "SubscribeToTask", id.clone()).await;
    let busy = world.send("more", json!({ "taskId": task["id"] })).await;
    assert_eq!(busy, Err(-32004));
    while world.script.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let cancelled = world.rpc(&ann(), "CancelTask", id.clone()).await.unwrap();
    assert_eq!(state(&cancelled), "TASK_STATE_CANCELED");
    let events = events(&text(stream).await);
    assert!(events[0].1["result"].get("task").is_some());
    assert_eq!(state(&events.last().unwrap().1["result"]["statusUpdate"]), "TASK_STATE_CANCELED");
    assert_eq!(world.rpc(&ann(), "CancelTask", id.clone()).await, Err(-32002));
    assert_eq!(world.rpc(&ann(), "SubscribeToTask", id.clone()).await, Err(-32004));
    // Nothing is left of it in memory, and it is kept as it ended.
    world.routes.drained().await;
    assert_eq!(state(&world.rpc(&ann(), "GetTask", id).await.unwrap()), "TASK_STATE_CANCELED");
    assert_eq!(world.script.dropped(), 1);
}

#[tokio::test]
async fn a_context_goes_on() {
    let world = world(vec![Step::Says("Hello Ann."), Step::Says("Ann."), Step::Says("Who?")]);
    let first = world.send("I am Ann.", json!({ "contextId": "mine" })).await.unwrap();
    assert_eq!(first["contextId"], json!("mine"));
    let second = world.send("Who am I?", json!({ "contextId": "mine" })).await.unwrap();
    assert_ne!(first["id"], second["id"]);
    let texts =
        |index: usize| -> Vec<String> { world.script.requests()[index].messages.iter().map(Message::text).collect() };
    assert_eq!(texts(1), ["I am Ann.", "Hello Ann.", "Who am I?"]);
    // The same name is another context of another caller.
    let other = message("Who am I?", json!({ "contextId": "mine" }));
    world.rpc(&bob(), "SendMessage", other).await.unwrap();
    assert_eq!(texts(2), ["Who am I?"]);
}

#[tokio::test]
async fn a_task_whose_process_is_gone_has_failed() {
    let world = world(Vec::new());
    let body = json!({ "agent": "planner", "context": "c", "changed": 1, "lease": 2,
        "status": { "state": "TASK_STATE_WORKING", "timestamp": time::format(1) } });
    let (kind, id, owner) = ("agent_task".to_owned(), "task_1".to_owned(), "ann".to_owned());
    let expires = Some(time::now_ms() + 60_000);
    let document = NewDocument { kind, id, owner, body: body.to_string(), expires };
    world.store.put_document(document, Expected::Absent).await.unwrap();
    let listed = world.rpc(&ann(), "ListTasks", json!({ "status": "TASK_STATE_FAILED" })).await.unwrap();
    assert_eq!(listed["tasks"][0]["id"], json!("task_1"));
    let task = world.rpc(&ann(), "GetTask", json!({ "id": "task_1" })).await.unwrap();
    assert_eq!(state(&task), "TASK_STATE_FAILED");
    assert!(task["status"]["message"]["parts"][0]["text"].as_str().unwrap().contains("same context"));
    assert_eq!(world.rpc(&ann(), "CancelTask", json!({ "id": "task_1" })).await, Err(-32002));
}

#[tokio::test]
async fn tasks_are_listed_in_pages() {
    let world = world(vec![Step::Says("1"), Step::Says("2"), Step::Says("3")]);
    for context in ["a", "b", "b"] {
        world.send("hi", json!({ "contextId": context })).await.unwrap();
    }
    let (status, first) = world.http(&ann(), "GET", "tasks?pageSize=2&includeArtifacts=true", Value::Null).await;
    assert_eq!((status, &first["totalSize"], &first["pageSize"]), (StatusCode::OK, &json!(3), &json!(2)));
    assert_eq!(first["tasks"].as_array().unwrap().len(), 2);
    assert!(first["tasks"][0].get("history").is_none() && first["tasks"][0]["artifacts"].is_array());
    let token = first["nextPageToken"].as_str().unwrap();
    let rest = world.rpc(&ann(), "ListTasks", json!({ "pageSize": 2, "pageToken": token })).await.unwrap();
    assert_eq!((rest["tasks"].as_array().unwrap().len(), &rest["nextPageToken"]), (1, &json!("")));
    assert!(rest["tasks"][0].get("artifacts").is_none());
    let mut ids: Vec<_> = [&first, &rest]
        .iter()
        .flat_map(|page| page["tasks"].as_array().unwrap())
        .map(|task| task["id"].to_string())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
    let of_context = world.rpc(&ann(), "ListTasks", json!({ "contextId": "b", "historyLength": 1 })).await.unwrap();
    assert_eq!(
        (&of_context["totalSize"], of_context["tasks"][0]["history"].as_array().map(Vec::len)),
        (&json!(2), Some(1))
    );
}

#[tokio::test]
async fn requests_are_refused_before_anything_happens() {
    let world = world(Vec::new());
    let binary = json!({ "parts": [{ "raw": "AA==", "mediaType": "application/x-other" }] });
    assert_eq!(world.send("", binary).await, Err(-32005));
    assert_eq!(world.rpc(&ann(), "Nothing", json!({})).await, Err(-32601));
    assert_eq!(world.rpc(&ann(), "CreateTaskPushNotificationConfig", json!({})).await, Err(-32003));
    assert_eq!(world.rpc(&ann(), "GetExtendedAgentCard", json!({})).await, Err(-32004));
    let mut old = request("GET", "/a2a/planner/tasks", &Value::Null);
    old.headers_mut().remove("a2a-version");
    let refused = world.routes.answer(old, Some(&ann())).await;
    assert_eq!(refused.status(), StatusCode::BAD_REQUEST);
    assert_eq!(value(refused).await["error"]["details"][0]["reason"], json!("VERSION_NOT_SUPPORTED"));
    let mut plain = request("POST", "/a2a/planner/message:send", &message("hi", json!({})));
    plain.headers_mut().insert("content-type", "text/plain".parse().unwrap());
    let refused = world.routes.answer(plain, Some(&ann())).await;
    assert_eq!(refused.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let nobody = world.routes.answer(request("GET", "/a2a/planner/tasks", &Value::Null), None).await;
    assert_eq!(nobody.status(), StatusCode::UNAUTHORIZED);
    let unknown = world.routes.answer(request("GET", "/a2a/other/tasks", &Value::Null), Some(&ann())).await;
    assert_eq!(unknown.status(), StatusCode::NOT_FOUND);
    let (_, body) = world.http(&ann(), "DELETE", "tasks/t", Value::Null).await;
    assert_eq!(body["error"]["code"], json!(404));
}

#[tokio::test]
async fn cards_are_public() {
    let world = world(Vec::new());
    for path in [WELL_KNOWN_CARD.to_owned(), format!("/a2a/planner{WELL_KNOWN_CARD}")] {
        let mut request = request("GET", &path, &Value::Null);
        request.headers_mut().insert("host", "agents.example:8080".parse().unwrap());
        let response = world.routes.answer(request, None).await;
        assert!(response.headers().contains_key("etag") && response.headers().contains_key("last-modified"));
        let card = value(response).await;
        assert_eq!(card["supportedInterfaces"][0]["url"], json!("http://agents.example:8080/a2a/planner"));
    }
    let other = world.routes.answer(request("GET", &format!("/a2a/other{WELL_KNOWN_CARD}"), &Value::Null), None).await;
    assert_eq!(other.status(), StatusCode::NOT_FOUND);
}
