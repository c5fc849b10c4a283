//! Isolation between callers.

use crate::mcp::support::{Project, eventually, hostile_logging};
use crate::serve_http::raw_http::send;
use crate::serve_http::server::{ANN, BOB, HttpServer, message, program};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

#[test]
fn a_session_belongs_to_its_caller() {
    let Some(served) = HttpServer::with_callers() else { return };
    let session = served.session(ANN);
    let stolen = session.headers();
    let list = message(3, "tools/list", json!({}));
    assert_eq!(served.post(BOB, &stolen, &list).status, 404);
    assert_eq!(served.post(&served.token, &stolen, &list).status, 404);
    let bob = crate::serve_http::server::bearer(BOB);
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
fn a_run_belongs_to_its_caller() {
    let Some(served) = HttpServer::with_callers() else { return };
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
fn a_durable_run_belongs_to_its_caller_after_a_crash() {
    let Some(server) = hostile_logging(&[]) else { return };
    let project = Project::new(json!({
        "mcpServers": { "hostile": server },
        "capabilities": { "global": ["mcp:hostile"] },
        "durable": true,
        "serve": { "callers": { "ann": { "token": { "env": "TOKEN_OF_ANN" } }, "bob": { "token": { "env": "TOKEN_OF_BOB" } } } },
    }));
    let built = project.agent_spaces(&["capabilities", "build"]);
    assert_eq!(built.status, Some(0), "{built:?}");
    let served = HttpServer::start(project, &[]);
    let ran = served.session(ANN).run(program("export default await hostile.echo({ message: 'hello' });"));
    assert_eq!(ran["status"], "done", "{ran}");
    let handle = ran["runId"].as_str().unwrap_or_else(|| panic!("{ran}")).to_owned();
    let served = HttpServer::start(served.kill(), &[]);
    let again = served.session(ANN).run(json!({ "resume": handle }));
    assert_eq!((&again["status"], &again["value"]), (&ran["status"], &ran["value"]), "{again}");
    for token in [BOB, &served.token] {
        let stolen = served.session(token).run(json!({ "resume": handle }));
        assert!(stolen["error"]["message"].as_str().unwrap().contains("no run"), "{stolen}");
    }
}

#[test]
fn an_idle_session_makes_room_for_the_next() {
    let Some(served) = HttpServer::with_callers() else { return };
    let bobs = served.session(BOB);
    let first = served.session(ANN);
    let later: Vec<_> = (0..32).map(|_| served.session(ANN)).collect();
    assert_eq!(first.post(&message(3, "ping", json!({}))).status, 404);
    later.last().unwrap().request("ping", json!({}));
    bobs.request("ping", json!({}));
}

/// A caller with a token, and no person, could answer a form alike.
#[test]
fn a_caller_approves_only_if_configured() {
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
    let served = HttpServer::start(project, &[]);
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
fn a_caller_does_not_share_anothers_connection() {
    let Some(served) = HttpServer::with_callers() else { return };
    let (ann, bob) = (served.session(ANN), served.session(BOB));
    for session in [&ann, &bob, &ann] {
        let ran = session.run(program("export default await hostile.echo({ message: 'hello' });"));
        assert_eq!(ran["status"], "done", "{ran}");
    }
    let is_server = |arguments: &str| arguments.contains("/hostile") && !arguments.contains("supervise");
    let all = served.project.processes();
    assert_eq!(all.iter().filter(|(_, arguments)| is_server(arguments)).count(), 2, "{all:?}");
}

#[test]
fn a_caller_cannot_exhaust_anothers_connections() {
    let Some(served) = HttpServer::with_callers() else { return };
    // A request whose body does not come.
    let hold = || {
        let mut stream = TcpStream::connect(("127.0.0.1", served.port)).unwrap();
        let head = format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {ANN}\r\n");
        stream
            .write_all(format!("{head}content-type: application/json\r\ncontent-length: 9\r\n\r\n").as_bytes())
            .unwrap();
        stream
    };
    let mut held: Vec<TcpStream> = (0..64).map(|_| hold()).collect();
    let status = |token: &str| served.ask(token, "tools/list", json!({})).status;
    // The question itself may have taken the last place for a moment.
    let mut is_full = || {
        held.push(hold());
        status(ANN) == 429
    };
    assert!(eventually(Duration::from_secs(5), &mut is_full));
    assert_eq!((status(BOB), status(&served.token)), (200, 200));
    drop(held);
    assert!(eventually(Duration::from_secs(5), || status(ANN) == 200), "they are free again");
}

#[test]
fn calls_are_recorded_under_the_callers_name() {
    let Some(server) = hostile_logging(&[]) else { return };
    let served = HttpServer::start(
        Project::new(json!({
            "mcpServers": { "hostile": server },
            "capabilities": { "global": ["mcp:hostile"] },
            "accounting": { "file": "accounting.jsonl" },
            "serve": { "callers": { "ann": { "token": { "env": "TOKEN_OF_ANN" } } } },
        })),
        &[],
    );
    let code = program("export default await hostile.echo({ message: 'hello' });");
    let mut runs = Vec::new();
    for token in [ANN, &served.token] {
        let ran = served.session(token).run(code.clone());
        runs.push(ran["runId"].as_str().unwrap_or_else(|| panic!("{ran}")).to_owned());
    }
    let accounts: Vec<Value> =
        served.project.lines("accounting.jsonl").iter().map(|line| line["caller"].clone()).collect();
    assert_eq!(accounts, [json!("ann"), Value::Null]);
    let log = || -> Vec<Value> {
        let text = std::fs::read_to_string(served.state.join("audit/log.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    let of = |line: &Value, run: &str| line.to_string().contains(run);
    let is_over = |line: &Value, run: &str| of(line, run) && line.to_string().contains("runFinished");
    assert!(eventually(Duration::from_secs(5), || runs.iter().all(|run| log().iter().any(|line| is_over(line, run)))));
    for line in log() {
        let has_name = line.to_string().contains("\"caller\":\"ann\"");
        assert!(!of(&line, &runs[0]) || has_name, "{line}");
        assert!(!of(&line, &runs[1]) || !has_name, "{line}");
    }
}
