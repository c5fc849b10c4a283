//! What is one caller's is no other's.

use crate::served::{ANN, BOB, Served, message, program};
use crate::support::{Project, hostile_logging};
use crate::wire::send;
use serde_json::json;

#[test]
fn a_session_is_its_callers_alone() {
    let Some(served) = Served::with_callers() else { return };
    let session = served.session(ANN);
    let stolen = [("mcp-session-id", &*session.id), ("mcp-protocol-version", "2025-11-25")];
    let list = message(3, "tools/list", json!({}));
    assert_eq!(served.post(BOB, &stolen, &list).status, 404);
    assert_eq!(served.post(&served.token, &stolen, &list).status, 404);
    let bob = crate::served::bearer(BOB);
    for method in ["GET", "DELETE"] {
        let headers: Vec<(&str, &str)> =
            [&[("authorization", &*bob), ("accept", "text/event-stream")][..], &stolen].concat();
        let status = send(served.port, method, &headers, "").status;
        // To end what one does not have changes nothing.
        assert!(status == 404 || (method == "DELETE" && status == 202), "{method}: {status}");
    }
    assert_eq!(
        session.request("tools/list", json!({}))["tools"][0]["name"],
        "search_capabilities",
        "it is still there"
    );
}

#[test]
fn a_run_is_its_callers_alone() {
    let Some(served) = Served::with_callers() else { return };
    let (ann, bob) = (served.session(ANN), served.session(BOB));
    let ran = ann.run(program("export default await hostile.echo({ message: 'hello' });"));
    assert_eq!(ran["status"], "done", "{ran}");
    let handle = ran["runId"].as_str().unwrap_or_else(|| panic!("{ran}"));
    let again = served.session(ANN).run(json!({ "resume": handle }));
    assert_eq!(again["status"], "done", "another session of hers: {again}");
    let stolen = bob.run(json!({ "resume": handle }));
    assert_eq!(stolen["status"], "failed", "{stolen}");
    assert!(stolen["error"]["message"].as_str().unwrap().contains("no run"), "{stolen}");
}

#[test]
fn a_session_that_nobody_uses_makes_room_for_the_next() {
    let Some(served) = Served::with_callers() else { return };
    let bobs = served.session(BOB);
    let first = served.session(ANN);
    let later: Vec<_> = (0..32).map(|_| served.session(ANN)).collect();
    let headers = [("mcp-session-id", &*first.id), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(served.post(ANN, &headers, &message(3, "ping", json!({}))).status, 404);
    later.last().unwrap().request("ping", json!({}));
    bobs.request("ping", json!({}));
}

/// Who has a token and no person could answer a form alike.
#[test]
fn a_caller_approves_only_where_the_configuration_says_so() {
    let Some(server) = hostile_logging(&[]) else { return };
    let project = Project::new(json!({
        "mcpServers": { "hostile": server },
        "capabilities": { "global": ["mcp:hostile"] },
        "policy": { "functions": { "hostile.echo": { "decision": "approve" } } },
        "serve": { "callers": {
            "ann": { "token": { "env": "TOKEN_OF_ANN" }, "mayApprove": true },
            "bob": { "token": { "env": "TOKEN_OF_BOB" } },
        } },
    }));
    let served = Served::start(project, &[]);
    let forms = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } } });
    let code = program("export default await hostile.echo({ message: 'paid' });");
    let call = json!({ "name": "run_code", "arguments": code, "_meta": forms });
    let asked = served.ask(ANN, "tools/call", call.clone()).answer();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let refused = served.ask(BOB, "tools/call", call.clone()).answer();
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    assert!(refused.to_string().contains("call.approval_denied"), "{refused}");

    // Nor does he answer for her.
    let requests = asked["result"]["inputRequests"].as_object().unwrap();
    let approval = json!({ "action": "accept", "content": { "decision": "approve" } });
    let answers: serde_json::Map<String, serde_json::Value> =
        requests.keys().map(|id| (id.clone(), approval.clone())).collect();
    let mut answered = call;
    answered["inputResponses"] = answers.into();
    answered["requestState"] = asked["result"]["requestState"].clone();
    let stolen = served.ask(BOB, "tools/call", answered.clone()).answer();
    assert_eq!(stolen["result"]["isError"], true, "{stolen}");
    let done = served.ask(ANN, "tools/call", answered).answer();
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("paid"), "{done}");
}

#[test]
fn a_caller_is_not_given_the_connection_of_another() {
    let Some(served) = Served::with_callers() else { return };
    let (ann, bob) = (served.session(ANN), served.session(BOB));
    for session in [&ann, &bob, &ann] {
        let ran = session.run(program("export default await hostile.echo({ message: 'hello' });"));
        assert_eq!(ran["status"], "done", "{ran}");
    }
    let is_server = |arguments: &str| arguments.contains("/hostile") && !arguments.contains("supervise");
    let all = served.project.processes();
    assert_eq!(all.iter().filter(|(_, arguments)| is_server(arguments)).count(), 2, "{all:?}");
}
