//! HTTP server in a temporary project.

use crate::mcp::support::{Project, eventually, hostile_logging, signal};
use crate::serve_http::raw_http::{Reply, open, read, send};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

pub(crate) const ANN: &str = "the-token-of-ann-0001";
pub(crate) const BOB: &str = "the-token-of-bob-0002";

/// Running server, stopped on drop.
pub(crate) struct HttpServer {
    pub(crate) project: Project,
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) url: String,
    pub(crate) port: u16,
    /// Token of the operator.
    pub(crate) token: String,
    /// Folder of the program's records.
    pub(crate) state: PathBuf,
}

impl HttpServer {
    /// Starts a server with these options.
    pub(crate) fn start(project: Project, options: &[&str]) -> HttpServer {
        let mut command = project.command(&[&["mcp", "serve", "--http", "127.0.0.1:0", "--json"], options].concat());
        command.env("TOKEN_OF_ANN", ANN).env("TOKEN_OF_BOB", BOB);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut stderr = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut stderr);
            panic!("it does not start: {stderr}")
        });
        let url = said["url"].as_str().unwrap().to_owned();
        let port = url.strip_prefix("http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/mcp")).unwrap();
        let file = Path::new(said["tokenFile"].as_str().unwrap());
        let token = std::fs::read_to_string(file).unwrap().trim().to_owned();
        HttpServer {
            project,
            child,
            stdout,
            port: port.parse().unwrap(),
            url,
            token,
            state: file.parent().unwrap().into(),
        }
    }

    /// Starts a server whose backend can hang, with callers `ann` and `bob`.
    pub(crate) fn with_callers() -> Option<HttpServer> {
        Some(HttpServer::start(project()?, &[]))
    }

    /// Kills the server, as a crash would, and returns its project.
    pub(crate) fn kill(mut self) -> Project {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        std::mem::replace(&mut self.project, Project::empty())
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end within this time; returns exit status and output.
    pub(crate) fn end_within(&mut self, limit: Duration) -> (Option<i32>, String) {
        let mut status = None;
        eventually(limit, || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        let mut rest = String::new();
        if status.is_some() {
            self.stdout.read_to_string(&mut rest).unwrap();
        }
        (status.expect("it goes on").code(), rest)
    }

    /// A session of 2025-11-25.
    pub(crate) fn session(&self, token: &str) -> Session<'_> {
        let asked = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let reply = self.post(token, &[], &message(1, "initialize", asked));
        assert_eq!(reply.status, 200, "{reply:?}");
        let session =
            Session { served: self, token: token.to_owned(), id: reply.header("mcp-session-id").unwrap().to_owned() };
        let told = session.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(told.status, 202, "{told:?}");
        session
    }

    /// Posts a message and returns the response.
    pub(crate) fn post(&self, token: &str, headers: &[(&str, &str)], message: &Value) -> Reply {
        send(self.port, "POST", &[&own_headers(&bearer(token)), headers].concat(), &message.to_string())
    }

    /// Sends a request of 2026-07-28 and returns the response.
    pub(crate) fn ask(&self, token: &str, method: &str, params: Value) -> Reply {
        let (headers, message) = stateless(method, params);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.post(token, &headers, &message)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        if self.child.try_wait().unwrap().is_none() {
            signal(self.child.id(), "TERM");
            let is_over = eventually(Duration::from_secs(10), || self.child.try_wait().unwrap().is_some());
            if !is_over {
                let _ = self.child.kill();
                let _ = self.child.wait();
            }
        }
    }
}

/// A project with a server that can hang, and with callers.
pub(crate) fn project() -> Option<Project> {
    let project = Project::new(json!({
        "mcpServers": { "hostile": hostile_logging(&[])? },
        "capabilities": { "global": ["mcp:hostile"] },
        "serve": { "callers": { "ann": { "token": { "env": "TOKEN_OF_ANN" } }, "bob": { "token": { "env": "TOKEN_OF_BOB" } } } },
    }));
    // Otherwise the functions appear only some time after startup.
    let built = project.agent_spaces(&["capabilities", "build"]);
    assert_eq!(built.status, Some(0), "{built:?}");
    Some(project)
}

/// A session of 2025-11-25.
pub(crate) struct Session<'a> {
    served: &'a HttpServer,
    token: String,
    pub(crate) id: String,
}

impl Session<'_> {
    /// Headers of every request in it.
    pub(crate) fn headers(&self) -> [(&str, &str); 2] {
        [("mcp-session-id", &self.id), ("mcp-protocol-version", "2025-11-25")]
    }

    /// Sends a request that may stay unanswered, with extra headers.
    pub(crate) fn open(&self, method: &str, more: &[(&str, &str)], body: &str) -> TcpStream {
        let authorization = bearer(&self.token);
        let headers = [&own_headers(&authorization)[..], &self.headers(), more].concat();
        open(self.served.port, method, &headers, body)
    }

    pub(crate) fn post(&self, message: &Value) -> Reply {
        self.served.post(&self.token, &self.headers(), message)
    }

    /// The result of a request, which must have one.
    pub(crate) fn request(&self, method: &str, params: Value) -> Value {
        let reply = self.post(&message(2, method, params));
        let answer = reply.answer();
        assert!(answer.get("result").is_some(), "{reply:?}");
        answer["result"].clone()
    }

    /// Ends it.
    pub(crate) fn end(self) {
        assert_eq!(read(self.open("DELETE", &[], "")).status, 202);
    }

    /// The structured result of a program.
    pub(crate) fn run(&self, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": "run_code", "arguments": arguments }))["structuredContent"].clone()
    }
}

pub(crate) fn message(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// The headers and the message of a request of 2026-07-28.
pub(crate) fn stateless(method: &str, mut params: Value) -> (Vec<(&'static str, String)>, Value) {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    // Values of the test take precedence.
    for (key, value) in params["_meta"].as_object().into_iter().flatten() {
        meta[key] = value.clone();
    }
    params["_meta"] = meta;
    let mut headers = vec![("mcp-protocol-version", "2026-07-28".to_owned()), ("mcp-method", method.to_owned())];
    if let Some(name) = params["name"].as_str().or(params["uri"].as_str()) {
        headers.push(("mcp-name", name.to_owned()));
    }
    (headers, message(7, method, params))
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// Headers of every request.
pub(crate) fn own_headers(authorization: &str) -> Vec<(&str, &str)> {
    vec![
        ("authorization", authorization),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
    ]
}

/// A program that calls functions of the server that can hang.
pub(crate) fn program(body: &str) -> Value {
    json!({ "code": format!("import {{ hostile }} from '@capabilities/mcp-hostile';\n{body}") })
}
