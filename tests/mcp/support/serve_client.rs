//! Raw JSON-RPC client of `agent-spaces mcp serve`.

use super::Project;
use super::processes::signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Timeout of an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Server of a project, and its only client.
pub(crate) struct ServeClient {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    next: u64,
    /// Received notifications.
    pub(crate) heard: Vec<Value>,
    /// Answer to every form.
    pub(crate) answer: Option<Value>,
    /// Result of `initialize`.
    pub(crate) greeting: Value,
}

impl ServeClient {
    /// Starts the server with these options and initializes the connection.
    pub(crate) fn new(project: &Project, options: &[&str]) -> ServeClient {
        ServeClient::start(project, options, json!({}))
    }

    /// The same with client capabilities.
    pub(crate) fn start(project: &Project, options: &[&str], capabilities: Value) -> ServeClient {
        let mut command = project.command(&[&["mcp", "serve"], options].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        let (heard, answer) = (Vec::new(), None);
        let mut served = ServeClient { child, input, lines, next: 1, heard, answer, greeting: Value::Null };
        let client = json!({ "name": "test", "version": "1" });
        let greeting = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
        served.greeting = served.ask("initialize", greeting);
        served.send(json!({ "method": "notifications/initialized" }));
        served
    }

    /// The result of a request.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let answer = self.exchange(method, params);
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Returns the whole answer to a request; collects other messages meanwhile.
    pub(crate) fn exchange(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(json!({ "id": id, "method": method, "params": params }));
        loop {
            let message = self.lines.recv_timeout(TIMEOUT).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.receive(message);
        }
    }

    /// Waits for a notification or request of the server.
    pub(crate) fn wait_for(&mut self, method: &str) {
        while !self.heard.iter().any(|message| message["method"] == method) {
            let message = self.lines.recv_timeout(TIMEOUT).unwrap_or_else(|_| panic!("no {method}"));
            self.receive(message);
        }
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Sends the server a signal and returns its exit status.
    pub(crate) fn signal(mut self, name: &str) -> Option<i32> {
        signal(self.child.id(), name);
        self.child.wait().unwrap().code()
    }

    fn receive(&mut self, message: Value) {
        if let (Some(answer), Some(id)) = (self.answer.clone(), message.get("id")) {
            self.send(json!({ "id": id, "result": answer }));
        }
        self.heard.push(message);
    }

    fn send(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }
}

impl Drop for ServeClient {
    fn drop(&mut self) {
        // Closing stdin ends the server.
        self.input = None;
        let _ = self.child.wait();
    }
}
