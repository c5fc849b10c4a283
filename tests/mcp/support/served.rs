//! Raw JSON-RPC client of `agent-spaces mcp serve`.

use super::Project;
use super::processes::signal;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// No answer of a test takes longer, unless it hangs.
const LONGEST: Duration = Duration::from_secs(60);

/// A served project and its one client.
pub(crate) struct Served {
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

impl Served {
    /// Serves a project with these options to a client that greets it.
    pub(crate) fn new(project: &Project, options: &[&str]) -> Served {
        Served::start(project, options, json!({}))
    }

    /// The same to a client with these capabilities.
    pub(crate) fn start(project: &Project, options: &[&str], capabilities: Value) -> Served {
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
        let mut served = Served { child, input, lines, next: 1, heard, answer, greeting: Value::Null };
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

    /// The whole answer to a request; whatever else comes meanwhile is heard.
    pub(crate) fn exchange(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.send(json!({ "id": id, "method": method, "params": params }));
        loop {
            let message = self.lines.recv_timeout(LONGEST).unwrap_or_else(|_| panic!("no answer to {method}"));
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
            self.hear(message);
        }
    }

    /// Waits until something came without being asked for.
    pub(crate) fn wait_for(&mut self, method: &str) {
        while !self.heard.iter().any(|message| message["method"] == method) {
            let message = self.lines.recv_timeout(LONGEST).unwrap_or_else(|_| panic!("no {method}"));
            self.hear(message);
        }
    }

    /// Calls a tool.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Sends it a signal, and gives how it ended.
    pub(crate) fn signal(mut self, name: &str) -> Option<i32> {
        signal(self.child.id(), name);
        self.child.wait().unwrap().code()
    }

    fn hear(&mut self, message: Value) {
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

impl Drop for Served {
    fn drop(&mut self) {
        // A client that goes away closes its end.
        self.input = None;
        let _ = self.child.wait();
    }
}
