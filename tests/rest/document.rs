//! The checked-in OpenAPI document, and MCP at the same server.

use crate::rest::server::RestServer;
use serde_json::{Value, json};

const CHECKED_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/openapi.json");

#[test]
fn the_checked_in_document_is_that_of_the_server() {
    let served = RestServer::new();
    let answer = served.with_token("none").get("/openapi.json").with_status(200);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let document = answer.json();
    assert!(document["openapi"].as_str().is_some_and(|version| version.starts_with("3.1")), "{}", document["openapi"]);
    let checked_in = std::fs::read(CHECKED_IN).unwrap();
    assert!(checked_in == answer.body, "clients/openapi.json is not what the server serves: run `just openapi`");
}

#[test]
fn every_operation_has_an_id_and_says_how_it_fails() {
    let served = RestServer::new();
    let document = served.operator().get("/openapi.json").json();
    let mut ids = std::collections::BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path}"));
            assert!(ids.insert(id.to_owned()), "{id} twice");
            let problem = &operation["responses"]["500"]["content"];
            assert!(problem.get("application/problem+json").is_some(), "{method} {path}: {operation}");
        }
    }
}

#[test]
fn mcp_is_served_with_the_same_tokens() {
    let served = RestServer::new();
    let accept = ("accept", "application/json, text/event-stream");
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } });
    for api in [served.operator(), served.caller(0)] {
        let greeted = api.send_json("POST", "/mcp", &[accept], &initialize).with_status(200);
        assert_eq!(message(&greeted.body)["result"]["protocolVersion"], "2025-11-25", "{greeted:?}");
        let session = greeted.header("mcp-session-id").unwrap();
        let headers = [accept, ("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        api.send_json("POST", "/mcp", &headers, &told).with_status(202);
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
        let listed = api.send_json("POST", "/mcp", &headers, &list).with_status(200);
        let tools = message(&listed.body)["result"]["tools"].clone();
        assert!(tools.as_array().unwrap().iter().any(|tool| tool["name"] == "run_code"), "{tools}");
        let call = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
            "name": "run_code", "arguments": { "code": "export default 6 * 7;" },
        } });
        let called = api.send_json("POST", "/mcp", &headers, &call).with_status(200);
        assert_eq!(message(&called.body)["result"]["structuredContent"]["value"], 42, "{called:?}");
    }
    assert_eq!(served.with_token("wrong").send_json("POST", "/mcp", &[accept], &initialize).status, 401);
}

/// Returns the last message of an event stream.
fn message(body: &[u8]) -> Value {
    let text = String::from_utf8_lossy(body).into_owned();
    let mut data = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| !data.is_empty());
    data.next_back().map(|data| serde_json::from_str(data).unwrap()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn health_and_readiness_are_open() {
    let served = RestServer::new();
    let anybody = served.with_token("none");
    for path in ["/health", "/ready"] {
        anybody.get(path).with_status(200);
    }
}

#[test]
fn metrics_are_for_the_operator_unless_opened() {
    let served = RestServer::new();
    served.operator().get("/metrics").with_status(200);
    assert_eq!(served.with_token("none").get("/metrics").status, 401);
    assert_eq!(served.caller(0).get("/metrics").status, 403);
    let home = served.home.clone();
    drop(served);
    let served = RestServer::start(&home, &["--metrics-open"]);
    served.with_token("none").get("/metrics").with_status(200);
}
