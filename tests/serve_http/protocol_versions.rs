//! Protocol versions: sessions of 2025-11-25 and the stateless requests of 2026-07-28.

use crate::serve_http::raw_http::{read, send};
use crate::serve_http::server::{ANN, HttpServer, bearer, message, own_headers, program, project, stateless};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const TOOLS: [&str; 3] = ["search_capabilities", "describe_capabilities", "run_code"];

fn initialize(version: &str) -> Value {
    let asked =
        json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    message(1, "initialize", asked)
}

fn names(result: &Value) -> Vec<&str> {
    result["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn echo() -> Value {
    json!({ "name": "run_code", "arguments": program("export default await hostile.echo({ message: 'hello' });") })
}

#[test]
fn a_session_is_started_used_and_ended() {
    let Some(served) = HttpServer::with_callers() else { return };
    for (asked, given) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        // It has no sessions: who begins one gets the newest that has.
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ] {
        let answer = served.post(ANN, &[], &initialize(asked)).answer();
        assert_eq!(answer["result"]["protocolVersion"], given, "{answer}");
    }
    let session = served.session(ANN);
    assert_eq!(names(&session.request("tools/list", json!({}))), TOOLS);
    assert_eq!(session.request("ping", json!({})), json!({}));
    let ran = session.request("tools/call", echo());
    assert!(ran["content"][0]["text"].as_str().unwrap().contains("hello"), "{ran}");
    assert!(session.request("resources/list", json!({}))["resources"].is_array());

    let list = message(3, "tools/list", json!({}));
    assert_eq!(served.post(ANN, &[("mcp-protocol-version", "2025-11-25")], &list).status, 400, "it has no session");
    let unknown = [("mcp-session-id", "unknown"), ("mcp-protocol-version", "2025-11-25")];
    assert_eq!(served.post(ANN, &unknown, &list).status, 404);
    let strange = [("mcp-session-id", &*session.id), ("mcp-protocol-version", "1999-01-01")];
    assert_eq!(served.post(ANN, &strange, &list).status, 400);

    assert_eq!(read(session.open("DELETE", &[], "")).status, 202);
    assert_eq!(session.post(&list).status, 404, "it is over");
}

#[test]
fn stateless_requests_are_self_contained() {
    let Some(served) = HttpServer::with_callers() else { return };
    let found = served.ask(ANN, "server/discover", json!({}));
    let versions = found.answer()["result"]["supportedVersions"].clone();
    assert!(versions.as_array().unwrap().contains(&json!("2026-07-28")), "{versions}");
    assert!(versions.as_array().unwrap().contains(&json!("2025-11-25")), "{versions}");
    let listed = served.ask(ANN, "tools/list", json!({}));
    assert!(listed.header("mcp-session-id").is_none());
    assert_eq!(names(&listed.answer()["result"]), TOOLS);
    let ran = served.ask(ANN, "tools/call", echo()).answer();
    assert!(ran["result"]["content"][0]["text"].as_str().unwrap().contains("hello"), "{ran}");
    let handle = ran["result"]["structuredContent"]["runId"].clone();
    let again =
        served.ask(ANN, "tools/call", json!({ "name": "run_code", "arguments": { "resume": handle } })).answer();
    assert!(again["result"]["content"][0]["text"].as_str().unwrap().contains("hello"), "{again}");
    assert!(served.ask(ANN, "resources/list", json!({})).answer()["result"]["resources"].is_array());

    let (headers, good) = stateless("tools/list", json!({}));
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let refused = |headers: &[(&str, &str)], message: &Value| {
        let reply = served.post(ANN, headers, message);
        (reply.status, reply.answer()["error"]["code"].clone())
    };
    let bare = message(7, "tools/list", json!({}));
    assert_eq!(refused(&headers, &bare), (400, json!(-32602)), "it does not say what the client can");
    let mut other = good.clone();
    other["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2025-11-25".into();
    assert_eq!(refused(&headers, &other), (400, json!(-32020)), "head and body differ");
    let mut future = good;
    future["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    let reply = served.post(ANN, &[("mcp-protocol-version", "2099-01-01"), ("mcp-method", "tools/list")], &future);
    assert_eq!((reply.status, &reply.answer()["error"]["code"]), (400, &json!(-32022)), "{reply:?}");
    let unknown = served.ask(ANN, "no/such", json!({}));
    assert_eq!((unknown.status, &unknown.answer()["error"]["code"]), (404, &json!(-32601)));
    let authorization = bearer(ANN);
    let watching = [&own_headers(&authorization)[..], &[("mcp-protocol-version", "2026-07-28")]].concat();
    assert_eq!(send(served.port, "GET", &watching, "").status, 405);
}

/// The answers to messages over stdin and stdout, by their ids.
fn over_stdio(messages: &[Value]) -> Option<Vec<Value>> {
    let project = project()?;
    let mut command = project.command(&["mcp", "serve"]);
    command.env("TOKEN_OF_ANN", ANN);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut lines = output.lines().map_while(Result::ok).map(|line| serde_json::from_str::<Value>(&line).unwrap());
    let mut answers = Vec::new();
    for message in messages {
        writeln!(input, "{message}").unwrap();
        if let Some(id) = message.get("id") {
            answers.push(lines.find(|answer| answer["id"] == *id).unwrap_or_else(|| panic!("no answer to {message}")));
        }
    }
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    Some(answers)
}

#[test]
fn both_versions_work_over_stdio_too() {
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let session =
        [initialize("2025-11-25"), begun, message(2, "tools/list", json!({})), message(3, "tools/call", echo())];
    let Some(answers) = over_stdio(&session) else { return };
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(names(&answers[1]["result"]), TOOLS);
    assert!(answers[2]["result"]["content"][0]["text"].as_str().unwrap().contains("hello"), "{}", answers[2]);

    let asked = [("server/discover", json!({})), ("tools/list", json!({})), ("tools/call", echo())];
    let Some(answers) = over_stdio(&asked.map(|(method, params)| stateless(method, params).1)) else { return };
    assert!(answers[0]["result"]["supportedVersions"].as_array().unwrap().contains(&json!("2026-07-28")));
    assert_eq!(names(&answers[1]["result"]), TOOLS);
    assert!(answers[2]["result"]["content"][0]["text"].as_str().unwrap().contains("hello"), "{}", answers[2]);
}
