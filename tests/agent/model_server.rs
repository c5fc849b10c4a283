//! A provider of models that answers with a script: chat completions over HTTP, streamed.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Scripted reply to one request.
pub(crate) enum Reply {
    /// Text in these pieces.
    Text(Vec<&'static str>),
    /// A call of a tool.
    Call(&'static str, Value),
    /// Text, and then the connection ends.
    Cut(&'static str),
    /// A refusal.
    Refusal(u16, Value),
    /// Nothing, until the client goes.
    Silence,
}

/// A request as it came.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Value,
}

#[derive(Default)]
struct Shared {
    replies: Mutex<VecDeque<Reply>>,
    requests: Mutex<Vec<Request>>,
    came: Condvar,
}

/// The server, as long as the test runs.
pub(crate) struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
}

impl ModelServer {
    pub(crate) fn new(replies: Vec<Reply>) -> ModelServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared { replies: Mutex::new(replies.into()), ..Shared::default() });
        let serving = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = serving.clone();
                std::thread::spawn(move || answer(&stream, &shared));
            }
        });
        ModelServer { port, shared }
    }

    pub(crate) fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub(crate) fn add(&self, reply: Reply) {
        self.shared.replies.lock().unwrap().push_back(reply);
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// Waits until this many requests came.
    pub(crate) fn wait_for(&self, count: usize) {
        let requests = self.shared.requests.lock().unwrap();
        let waited = self.shared.came.wait_timeout_while(requests, Duration::from_secs(60), |all| all.len() < count);
        let (requests, timeout) = waited.unwrap();
        assert!(!timeout.timed_out(), "{} of {count} requests came", requests.len());
    }
}

fn answer(mut stream: &TcpStream, shared: &Shared) {
    let Some(request) = read(stream) else { return };
    shared.requests.lock().unwrap().push(request);
    let reply = shared.replies.lock().unwrap().pop_front();
    shared.came.notify_all();
    let mut write = |text: String| drop(stream.write_all(text.as_bytes()).and_then(|()| stream.flush()));
    match reply {
        Some(Reply::Text(pieces)) => {
            write(head());
            for piece in pieces {
                write(event(&json!({ "content": piece }), None));
            }
            write(event(&json!({}), Some("stop")) + &usage() + "data: [DONE]\n\n");
        }
        Some(Reply::Call(name, arguments)) => {
            let call = json!({ "name": name, "arguments": arguments.to_string() });
            let calls = json!([{ "index": 0, "id": "call_1", "type": "function", "function": call }]);
            write(head() + &event(&json!({ "tool_calls": calls }), None));
            write(event(&json!({}), Some("tool_calls")) + &usage() + "data: [DONE]\n\n");
        }
        Some(Reply::Cut(text)) => write(head() + &event(&json!({ "content": text }), None)),
        Some(Reply::Refusal(status, body)) => {
            let body = body.to_string();
            let length = body.len();
            write(format!(
                "HTTP/1.1 {status} Refused\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            ));
        }
        Some(Reply::Silence) => drop(stream.read(&mut [0; 1])),
        None => write("HTTP/1.1 500 No script\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned()),
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let lower = head.to_ascii_lowercase();
    let length = lower.split("content-length: ").nth(1)?.lines().next()?.trim().parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { head, body: serde_json::from_slice(&body).ok()? })
}

fn head() -> String {
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_owned()
}

fn event(delta: &Value, finish: Option<&str>) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
    format!("data: {}\n\n", json!({ "id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice] }))
}

fn usage() -> String {
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 });
    let chunk = json!({ "id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [], "usage": usage });
    format!("data: {chunk}\n\n")
}
