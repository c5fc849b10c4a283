//! A Slack of our own: its Web API over HTTP, and Socket Mode.

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Message;

/// Time after which a test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// Requests to the API: method and body.
type Calls = Arc<Mutex<Vec<(String, Value)>>>;

pub(super) struct FakeSlack {
    /// Base URL of the API.
    pub(super) base: String,
    calls: Calls,
    sockets: mpsc::UnboundedReceiver<Socket>,
}

/// Slack's end of a WebSocket.
pub(super) struct Socket(WebSocketStream<TcpStream>);

impl FakeSlack {
    pub(super) async fn start() -> FakeSlack {
        let http = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let web = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/api/", http.local_addr().unwrap());
        let link = format!("ws://{}/link?ticket=1", web.local_addr().unwrap());
        let calls = Calls::default();
        let recorded = calls.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = http.accept().await {
                tokio::spawn(answer(stream, recorded.clone(), link.clone()));
            }
        });
        let (opened, sockets) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((stream, _)) = web.accept().await {
                let mut socket = Socket(tokio_tungstenite::accept_async(stream).await.unwrap());
                socket.send(&json!({ "type": "hello" })).await;
                let _the_test_is_over = opened.send(socket);
            }
        });
        FakeSlack { base, calls, sockets }
    }

    /// Waits for the next connection.
    pub(super) async fn socket(&mut self) -> Socket {
        tokio::time::timeout(PATIENCE, self.sockets.recv()).await.expect("no connection").unwrap()
    }

    /// Waits for a request that `find` accepts.
    pub(super) async fn call(&self, method: &str, find: impl Fn(&Value) -> bool) -> Value {
        let waiting = async {
            loop {
                let found = self.calls(method).into_iter().find(|body| find(body));
                if let Some(found) = found {
                    return found;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let Ok(found) = tokio::time::timeout(PATIENCE, waiting).await else {
            panic!("no such {method}: {:?}", self.calls.lock().unwrap())
        };
        found
    }

    /// Returns the requests of a method so far.
    pub(super) fn calls(&self, method: &str) -> Vec<Value> {
        let calls = self.calls.lock().unwrap();
        calls.iter().filter(|(other, _)| other == method).map(|(_, body)| body.clone()).collect()
    }
}

impl Socket {
    pub(super) async fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).await.unwrap();
    }

    /// Sends an envelope and waits for its acknowledgement.
    pub(super) async fn deliver(&mut self, id: &str, kind: &str, payload: Value) {
        self.send(&json!({ "envelope_id": id, "type": kind, "payload": payload })).await;
        let acknowledged = async {
            while let Some(Ok(message)) = self.0.next().await {
                if let Message::Text(text) = message
                    && serde_json::from_str::<Value>(&text).unwrap() == json!({ "envelope_id": id })
                {
                    return;
                }
            }
            panic!("the connection ended");
        };
        tokio::time::timeout(PATIENCE, acknowledged).await.expect("no acknowledgement");
    }
}

/// Answers one request to the API, and records it.
async fn answer(mut stream: TcpStream, calls: Calls, link: String) {
    let mut request = Vec::new();
    let (head, length) = loop {
        let mut chunk = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut chunk).await else { return };
        request.extend_from_slice(&chunk[..count]);
        if let Some(end) = request.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let head = String::from_utf8(request[..end].to_vec()).unwrap().to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            request.drain(..end + 4);
            break (head, length);
        }
    };
    while request.len() < length {
        let mut chunk = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut chunk).await else { return };
        request.extend_from_slice(&chunk[..count]);
    }
    let path = head.split(' ').nth(1).unwrap().trim_start_matches("/api/").to_owned();
    let body: Value = serde_json::from_slice(&request).unwrap();
    // Heads are in lower case here.
    let token = if path == "apps.connections.open" { "bearer xapp-1" } else { "bearer xoxb-1" };
    let is_known = path == "respond" || head.contains(&format!("authorization: {token}"));
    let number = {
        let mut calls = calls.lock().unwrap();
        calls.push((path.clone(), body.clone()));
        calls.len()
    };
    let answer = match path.as_str() {
        _ if !is_known => json!({ "ok": false, "error": "invalid_auth" }),
        "apps.connections.open" => json!({ "ok": true, "url": link }),
        "auth.test" => json!({ "ok": true, "user_id": "UBOT" }),
        "chat.postmessage" => json!({ "ok": true, "channel": body["channel"], "ts": format!("100.{number}") }),
        _ => json!({ "ok": true }),
    };
    let answer = answer.to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        answer.len()
    );
    let _gone = stream.write_all(format!("{head}{answer}").as_bytes()).await;
}
