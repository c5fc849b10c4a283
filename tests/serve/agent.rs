//! JSON-RPC client of the server.

use crate::mcp::support::Project;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Timeout of an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Protocol versions: with sessions, and stateless.
pub(crate) const SESSIONS: &str = "2025-11-25";
pub(crate) const STATELESS: &str = "2026-07-28";

/// A connected client.
pub(crate) struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    received: Receiver<Value>,
    next: u64,
    answers: HashMap<u64, Value>,
    /// Extra members of every request.
    meta: Option<Value>,
    /// Result of `initialize`.
    pub(crate) greeting: Value,
    /// Duration of `initialize`.
    pub(crate) greeted_in: Duration,
    /// Received notifications, in order.
    pub(crate) notifications: Vec<Value>,
    /// Answer to forms; without it the client does not support elicitation.
    person: Option<fn(&Value) -> Value>,
    /// Received elicitation forms.
    pub(crate) forms: Vec<Value>,
}

impl Agent {
    /// Starts the server in a project and initializes the connection.
    pub(crate) fn of(project: &Project, arguments: &[&str]) -> Agent {
        Agent::with(project, arguments, SESSIONS, None)
    }

    /// The same with a protocol version, and with answers to forms.
    pub(crate) fn with(
        project: &Project,
        arguments: &[&str],
        version: &str,
        person: Option<fn(&Value) -> Value>,
    ) -> Agent {
        Agent::start(project.command(&[&["mcp", "serve"], arguments].concat()), version, person)
    }

    /// Starts the server by this command, with its stderr captured.
    pub(crate) fn start_logging(command: Command) -> Agent {
        Agent::begin_with(command, SESSIONS, None)
    }

    /// Starts the server by this command.
    pub(crate) fn start(mut command: Command, version: &str, person: Option<fn(&Value) -> Value>) -> Agent {
        command.stderr(Stdio::null());
        Agent::begin_with(command, version, person)
    }

    fn begin_with(mut command: Command, version: &str, person: Option<fn(&Value) -> Value>) -> Agent {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, received) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let input = child.stdin.take();
        let mut agent = Agent {
            child,
            input,
            received,
            next: 1,
            answers: HashMap::new(),
            meta: None,
            greeting: Value::Null,
            greeted_in: Duration::ZERO,
            notifications: Vec::new(),
            person,
            forms: Vec::new(),
        };
        let begun = Instant::now();
        let capabilities = if person.is_some() { json!({ "elicitation": { "form": {} } }) } else { json!({}) };
        let client = json!({ "name": "a test", "version": "1" });
        if version == STATELESS {
            agent.meta = Some(json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS,
                "io.modelcontextprotocol/clientInfo": client,
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            }));
            agent.greeting = agent.ask("server/discover", json!({}))["result"].take();
        } else {
            let greeting = json!({ "protocolVersion": version, "capabilities": capabilities, "clientInfo": client });
            agent.greeting = agent.ask("initialize", greeting)["result"].take();
            agent.notify("notifications/initialized", json!({}));
        }
        agent.greeted_in = begun.elapsed();
        agent
    }

    /// Sends a request and waits for its answer, with `result` or `error`.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.answer(id)
    }

    /// Sends a request.
    pub(crate) fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        if let Some(meta) = &self.meta {
            for (key, value) in meta.as_object().unwrap() {
                params["_meta"][key] = value.clone();
            }
        }
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        id
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    /// Waits for the answer to a request, and answers forms meanwhile.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        let end = Instant::now() + TIMEOUT;
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let left = end.saturating_duration_since(Instant::now());
            let message = self.received.recv_timeout(left).unwrap_or_else(|error| panic!("no answer: {error}"));
            self.receive(message);
        }
    }

    fn receive(&mut self, message: Value) {
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some("elicitation/create"), Some(id)) => {
                let answer = self.person.map(|person| person(&message["params"])).expect("a form for nobody");
                self.forms.push(message["params"].clone());
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": answer }));
            }
            (Some(_), None) => self.notifications.push(message),
            (None, Some(id)) => {
                self.answers.insert(id.as_u64().unwrap(), message);
            }
            _ => panic!("not expected: {message}"),
        }
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].take()
    }

    /// Runs a program and returns the result.
    pub(crate) fn run(&mut self, code: &str) -> Value {
        self.call("run_code", json!({ "code": code }))
    }

    /// Returns the text of a search.
    pub(crate) fn search(&mut self, query: &str) -> String {
        text(&self.call("search_capabilities", json!({ "query": query }))).to_owned()
    }

    /// PID of the server.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Kills the server, as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.input = None;
    }

    /// Closes stdin of the server; returns its exit status.
    pub(crate) fn disconnect(&mut self) -> Option<i32> {
        drop(self.input.take());
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < end, "the server stays though its client is gone");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        } else if self.input.is_some() {
            assert_eq!(self.disconnect(), Some(0));
        }
    }
}

/// The first text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}
