//! Approvals in toolbox mode: forms of the client, and a client without a session.

use crate::mcp::support::ServeClient;
use crate::mcp::toolbox::{open, project, serve, use_tool};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[test]
fn approval_is_requested_through_the_client() {
    let policy = json!({ "policy": { "functions": { "memory.storeValue": "approve" } } });
    let Some(project) = project(policy) else { return };
    let mut served = ServeClient::start(&project, &["--mode", "toolbox"], json!({ "elicitation": {} }));
    open(&mut served, "development");
    let store = |served: &mut ServeClient, key: &str| {
        use_tool(served, "memory", "store_value", json!({ "key": key, "value": "b" }))["content"][0]["text"].clone()
    };
    served.answer = Some(json!({ "action": "accept", "content": { "decision": "approve" } }));
    assert_eq!(store(&mut served, "first"), "stored first");
    served.answer = Some(json!({ "action": "decline" }));
    let denied = store(&mut served, "second");
    assert!(denied.as_str().unwrap().ends_with("[call.approval_denied]"), "{denied}");
    let asked: Vec<&Value> = served.heard.iter().map(|message| &message["method"]).collect();
    assert_eq!(asked, ["elicitation/create", "elicitation/create"]);
}

#[test]
fn a_dismissed_form_is_shown_again_on_the_next_call() {
    let policy = json!({ "policy": { "functions": { "memory.storeValue": "approve" } } });
    let Some(project) = project(policy) else { return };
    let mut served = ServeClient::start(&project, &["--mode", "toolbox"], json!({ "elicitation": {} }));
    open(&mut served, "development");
    let store = |served: &mut ServeClient| {
        let stored = use_tool(served, "memory", "store_value", json!({ "key": "a", "value": "b" }));
        stored["content"][0]["text"].as_str().unwrap().to_owned()
    };
    served.answer = Some(json!({ "action": "cancel" }));
    let begun = Instant::now();
    let pending = store(&mut served);
    assert!(pending.contains("[call.approval_pending]") && pending.contains("keep asking"), "{pending}");
    assert!(!pending.contains("agent-spaces approvals"), "nobody has the token that this would need: {pending}");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    served.answer = Some(json!({ "action": "accept", "content": { "decision": "approve" } }));
    assert_eq!(store(&mut served), "stored a");
}

#[test]
fn without_an_approver_a_call_is_refused_at_once() {
    let policy = json!({ "policy": { "functions": { "memory.storeValue": "approve" } } });
    let Some(project) = project(policy) else { return };
    let mut served = serve(&project);
    open(&mut served, "development");
    let refused = use_tool(&mut served, "memory", "store_value", json!({ "key": "a", "value": "b" }));
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("approver token") && text.ends_with("[call.approval_denied]"), "{text}");
}

#[test]
fn a_stateless_client_asks_for_approval_and_retries() {
    let policy = json!({ "policy": { "functions": { "memory.storeValue": "approve" } } });
    let Some(project) = project(policy) else { return };
    let mut served = ServeClient::new(&project, &["--mode", "toolbox"]);
    let mut ask = |name: &str, arguments: Value, more: Value| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        let mut params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        served.ask("tools/call", params)
    };
    ask("open_toolbox", json!({ "toolbox": "development" }), json!({}));
    let store = |key: &str| {
        let tool = json!({ "toolbox": "development", "server": "memory", "tool": "store_value" });
        json!({ "tool": tool, "arguments": { "key": key, "value": "b" } })
    };
    let asked = ask("use_tool", store("a"), json!({}));
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let id = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let yes = json!({ "action": "accept", "content": { "decision": "approve" } });
    let answered = json!({ "requestState": asked["requestState"], "inputResponses": { id: yes } });
    // The approval covers only these arguments.
    let other = ask("use_tool", store("other"), answered.clone());
    assert_eq!(other["resultType"], "input_required", "{other}");
    let stored = ask("use_tool", store("a"), answered);
    assert_eq!(stored["content"][0]["text"], "stored a", "{stored}");
}
