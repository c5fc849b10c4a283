//! Transports: one server over stdio, streamable HTTP and the older SSE gives the same answers.

use crate::mcp::support::{Project, eventually, published};
use crate::mcp::third_party_servers::{Plan, call_all};
use serde_json::{Map, Value, json};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server of its own that ends with this.
struct Listening {
    child: Child,
    port: u16,
}

impl Listening {
    fn start(servers: &Path, transport: &str) -> Listening {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new(servers.join("node_modules/.bin/mcp-server-everything"));
        command.arg(transport).env("PORT", port.to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let listening = Listening { child, port };
        let is_up = eventually(Duration::from_secs(30), || TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(is_up, "{transport} does not listen");
        listening
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Normalizes an answer: without environment, session number, and resource timestamps.
fn comparable(call: &Value, ended: &Value) -> Value {
    match call["tool"].as_str().unwrap() {
        "get-env" => json!(ended.get("value").is_some()),
        "get-resource-reference" => {
            let mut value = ended["value"].clone();
            for block in value.as_array_mut().unwrap() {
                block["resource"]["blob"] = Value::Null;
            }
            value
        }
        "toggle-simulated-logging" | "toggle-subscriber-updates" => {
            let said = ended["value"].as_str().unwrap();
            let words = said.split(' ').map(|word| if is_session(word) { "SESSION" } else { word });
            json!(words.collect::<Vec<_>>().join(" "))
        }
        _ => ended.get("value").or(ended.get("message")).cloned().unwrap(),
    }
}

/// Session number as the server writes it; absent over stdio.
fn is_session(word: &str) -> bool {
    let word = word.trim_end_matches('.');
    word == "undefined" || (word.len() == 36 && word.matches('-').count() == 4)
}

#[test]
fn all_transports_give_the_same_answers() {
    let Some(servers) = published() else { return };
    let (http, sse) = (Listening::start(&servers, "streamableHttp"), Listening::start(&servers, "sse"));
    let bin = servers.join("node_modules/.bin/mcp-server-everything");
    let everything = [
        json!({ "command": bin, "args": ["stdio"], "timeout": "30s" }),
        json!({ "url": format!("http://127.0.0.1:{}/mcp", http.port), "timeout": "30s" }),
        json!({ "url": format!("http://127.0.0.1:{}/sse", sse.port), "type": "sse", "timeout": "30s" }),
        // The type is found out: this address takes no POST.
        json!({ "url": format!("http://127.0.0.1:{}/sse", sse.port), "timeout": "30s" }),
    ];
    let mut answers: Vec<Map<String, Value>> = Vec::new();
    for server in everything {
        let project = Project::with_servers(json!({ "everything": server }));
        let plan = Plan::of("everything", &servers, &project.path(""), None);
        let ended = call_all(&project, "everything", &plan.calls);
        let calls = plan.calls.iter().zip(&ended).enumerate();
        let named = |(index, (call, ended)): (usize, (&Value, &Value))| {
            (format!("{index} {}", call["tool"]), comparable(call, ended))
        };
        answers.push(calls.map(named).collect());
    }
    assert!(!answers[0].is_empty(), "nothing was called");
    for (index, other) in answers.iter().enumerate().skip(1) {
        assert_eq!(other.len(), answers[0].len(), "transport {index}");
        for (call, answer) in other {
            assert_eq!(answer, &answers[0][call], "transport {index}: {call}");
        }
    }
}
