//! Test server: one request per connection, recorded.

use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Recorded request.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) method: String,
    /// The path with the query, as it was sent.
    pub(super) target: String,
    /// Names in lower case.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: String,
}

impl Seen {
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Reply of the server.
pub(super) struct Reply(Vec<u8>);

impl Reply {
    /// `head` is the status and any headers but the length.
    pub(super) fn new(head: &str, body: impl AsRef<[u8]>) -> Reply {
        let body = body.as_ref();
        let length = body.len();
        let mut bytes =
            format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n").into_bytes();
        bytes.extend_from_slice(body);
        Reply(bytes)
    }

    pub(super) fn json(value: Value) -> Reply {
        Reply::new("200 OK\r\ncontent-type: application/json", value.to_string())
    }
}

type Answers = Arc<dyn Fn(&Seen) -> Reply + Send + Sync>;

pub(super) struct Server {
    port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(super) async fn start(answer: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer): (_, Answers) = (seen.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, answer.clone(), kept.clone()));
            }
        });
        Server { port, seen }
    }

    pub(super) fn origin(&self) -> String {
        format!("http://localhost:{}", self.port)
    }

    pub(super) fn url(&self, path: &str) -> String {
        self.origin() + path
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, answer: Answers, seen: Arc<Mutex<Vec<Seen>>>) {
    let Some(request) = read(&mut stream).await else { return };
    let Reply(bytes) = answer(&request);
    seen.lock().unwrap().push(request);
    // A client may hang up early.
    let _ = stream.write_all(&bytes).await;
}

async fn read(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let mut words = lines.next()?.split(' ');
            let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
            let headers = lines.filter_map(|line| line.split_once(':'));
            let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
            let seen = Seen { method, target, headers, body: body.to_owned() };
            let length = seen.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return Some(seen);
            }
        }
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}
