//! Raw TCP server for tests, so that it can misbehave.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Scripted reply of the server.
#[derive(Clone)]
pub(super) struct Reply {
    bytes: Vec<u8>,
    then: Then,
}

#[derive(Clone)]
enum Then {
    /// Waits for the next request.
    Listen,
    Close,
    /// Stays silent and keeps the connection open.
    Hang,
    /// Sends this again and again.
    Repeat(Vec<u8>, Duration),
}

impl Reply {
    /// A whole answer. `head` is the status and any headers but the length.
    pub(super) fn whole(head: &str, body: impl AsRef<[u8]>) -> Reply {
        let body = body.as_ref();
        let mut bytes = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len()).into_bytes();
        bytes.extend_from_slice(body);
        Reply { bytes, then: Then::Listen }
    }

    pub(super) fn ok() -> Reply {
        Reply::whole("200 OK", "")
    }

    pub(super) fn redirect(status: u16, location: &str) -> Reply {
        Reply::whole(&format!("{status} Elsewhere\r\nlocation: {location}"), "")
    }

    /// These bytes, then close.
    pub(super) fn raw(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply { bytes: bytes.into(), then: Then::Close }
    }

    /// These bytes, then silence.
    pub(super) fn hanging(bytes: &str) -> Reply {
        Reply { bytes: bytes.into(), then: Then::Hang }
    }

    /// These bytes, then others without end.
    pub(super) fn endless(bytes: &str, piece: impl Into<Vec<u8>>, pause: Duration) -> Reply {
        Reply { bytes: bytes.into(), then: Then::Repeat(piece.into(), pause) }
    }
}

type Answers = Arc<dyn Fn(&str) -> Reply + Send + Sync>;

/// Local server and the requests it received.
pub(super) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers every request with the result of `answer`.
    pub(super) async fn start(answer: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind((super::LOCAL, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let answer: Answers = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&answer), Arc::clone(&seen)));
            }
        });
        Server { port, requests }
    }

    /// URL of this server, under any name.
    pub(super) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The text of each request, its header names in lower case as they are sent.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, answer: Answers, seen: Arc<Mutex<Vec<String>>>) {
    while let Some(request) = read(&mut stream).await {
        let reply = answer(&request);
        seen.lock().unwrap().push(request);
        if stream.write_all(&reply.bytes).await.is_err() {
            return;
        }
        match reply.then {
            Then::Listen => {}
            Then::Close => return,
            Then::Hang => std::future::pending().await,
            Then::Repeat(piece, pause) => {
                while stream.write_all(&piece).await.is_ok() {
                    tokio::time::sleep(pause).await;
                }
                return;
            }
        }
    }
}

/// One request: up to the empty line, and as many bytes as its length says.
async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text.into_owned());
            }
        }
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
        }
    }
}
