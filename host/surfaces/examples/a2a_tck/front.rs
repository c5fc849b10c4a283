//! Routes in front of the agent: they show the model the ids of messages.

use agent_spaces_http_server::body::collect;
use agent_spaces_http_server::{Access, Authenticated, Client, Handling, Refusal, Routes};
use agent_spaces_surfaces::A2aRoutes;
use agent_spaces_types::caller::Caller;
use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use hyper::body::Incoming;
use serde_json::{Value, json};
use std::time::Duration;

/// Largest body, and its timeout.
const MAX_BODY: usize = 1 << 20;
const TIMEOUT: Duration = Duration::from_secs(10);

/// Passes requests to the agent.
pub(crate) struct Front {
    routes: A2aRoutes,
    client: Client,
}

impl Front {
    pub(crate) fn new(routes: A2aRoutes) -> Front {
        Front { routes, client: Client::named("tck", Caller::default()).approving() }
    }
}

impl Routes for Front {
    fn access(&self, method: &Method, path: &str) -> Option<Access> {
        self.routes.access(method, path).map(|_| Access::Open)
    }

    fn handle<'a>(&'a self, request: Request<Incoming>, _caller: Option<Authenticated<'a>>) -> Handling<'a> {
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = match collect(body, MAX_BODY, TIMEOUT).await {
                Ok(body) => with_scenario(body),
                Err(fault) => return self.routes.refuse(&Refusal::Body(fault)),
            };
            self.routes.answer(Request::from_parts(parts, Full::new(body)), Some(&self.client)).await
        })
    }
}

/// Adds the id of a message to its parts. What is no message stays as it is.
fn with_scenario(body: Bytes) -> Bytes {
    let Ok(mut value) = serde_json::from_slice::<Value>(&body) else { return body };
    let has_params = value.get("params").is_some();
    let params = if has_params { &mut value["params"] } else { &mut value };
    let Some(id) = params.pointer("/message/messageId").and_then(Value::as_str).map(str::to_owned) else { return body };
    let is_follow_up = params.pointer("/message/taskId").is_some();
    let Some(parts) = params.pointer_mut("/message/parts").and_then(Value::as_array_mut) else { return body };
    if parts.is_empty() {
        return body;
    }
    parts.push(json!({ "data": { "scenario": id } }));
    // In the kit, any message of this scenario completes a task that needs input. Here a decision does.
    if is_follow_up && id.starts_with("tck-complete-task") {
        parts.push(json!({ "data": { "decision": "approve" } }));
    }
    if id.starts_with("tck-artifact-data") {
        params["configuration"]["acceptedOutputModes"] = json!(["application/json"]);
    }
    value.to_string().into()
}
