//! Agents as tools of `agent-spaces mcp serve`.

use super::model_server::{ModelServer, Reply};
use super::project::Project;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout};

/// A client of the server over stdio.
struct Client {
    child: Child,
    stdout: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(project: &Project) -> Client {
        let mut child = project.spawn(&["mcp", "serve"]);
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut client = Client { child, stdout, id: 0 };
        let info = json!({ "name": "test", "version": "1" });
        client
            .request("initialize", &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info }));
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        let stdin = self.child.stdin.as_mut().unwrap();
        writeln!(stdin, "{message}").unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request and returns its result.
    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        loop {
            let mut line = String::new();
            assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server ended");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"] == id {
                assert!(message.get("error").is_none(), "{message}");
                return message["result"].clone();
            }
        }
    }

    fn ask(&mut self, arguments: &Value) -> Value {
        self.request("tools/call", &json!({ "name": "helper", "arguments": arguments }))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Ends when its input does.
        drop(self.child.stdin.take());
        let _ended = self.child.wait();
    }
}

#[test]
fn an_agent_is_a_tool_beside_those_of_code_mode() {
    let server = ModelServer::new(vec![Reply::Text(vec!["At seven."]), Reply::Text(vec!["{\"time\": \"07:00\"}"])]);
    let project = Project::with(&server, json!({ "tools": "off", "description": "Helps" }));
    let mut client = Client::start(&project);
    let tools = client.request("tools/list", &json!({}));
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"helper") && names.contains(&"run_code"), "{names:?}");
    let answer = client.ask(&json!({ "question": "When?" }));
    assert_eq!(
        (&answer["content"][0]["text"], answer["isError"].as_bool()),
        (&json!("At seven."), Some(false)),
        "{answer}"
    );
    let schema = json!({ "type": "object", "properties": { "time": { "type": "string" } }, "required": ["time"] });
    let answer = client.ask(&json!({ "question": "When?", "format": "json", "schema": schema }));
    assert_eq!(answer["structuredContent"], json!({ "time": "07:00" }), "{answer}");
}

#[test]
fn wrong_arguments_and_failures_are_results() {
    let server = ModelServer::new(vec![Reply::Refusal(400, json!({ "error": { "message": "no such model" } }))]);
    let project = Project::with(&server, json!({ "tools": "off" }));
    let mut client = Client::start(&project);
    let answer = client.ask(&json!({ "question": "When?", "format": "json" }));
    assert_eq!(answer["isError"], true, "{answer}");
    assert!(answer["content"][0]["text"].as_str().unwrap().contains("`schema` is missing"), "{answer}");
    assert!(server.requests().is_empty());
    let answer = client.ask(&json!({ "question": "When?" }));
    assert_eq!(answer["isError"], true, "{answer}");
}
