//! Local web server for tests.

use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Recorded request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// The path, with the query.
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Reply of the server.
pub(crate) enum Reply {
    /// Status, media type and body.
    Whole(u16, &'static str, Vec<u8>),
    /// A redirect with this status to this address.
    Redirect(u16, String),
    /// A body without `Content-Length`.
    Unmeasured(Vec<u8>),
    /// No response for 20 seconds.
    Silence,
}

impl Reply {
    pub(crate) fn text(text: impl Into<String>) -> Reply {
        Reply::Whole(200, "text/plain; charset=utf-8", text.into().into_bytes())
    }
}

/// A server that lives as long as the test.
pub(crate) struct Site {
    pub(crate) port: u16,
    asked: Arc<Mutex<Vec<Request>>>,
}

impl Site {
    /// Starts a server with this handler.
    pub(crate) fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Site {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (kept, answer) = (asked.clone(), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, answer) = (kept.clone(), answer.clone());
                thread::spawn(move || {
                    let Some(request) = read(&stream) else { return };
                    kept.lock().unwrap().push(request.clone());
                    write(&stream, answer(&request));
                });
            }
        });
        Site { port, asked }
    }

    /// Starts a server that returns each request as JSON.
    pub(crate) fn echo() -> Site {
        Site::start(|request| {
            let body = json!({
                "method": request.method, "path": request.path, "type": request.header("content-type"),
                "extra": request.header("x-extra"), "body": String::from_utf8_lossy(&request.body),
            });
            Reply::Whole(200, "application/json", body.to_string().into_bytes())
        })
    }

    /// URL with the host name `localhost`.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    /// Returns all requests.
    pub(crate) fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap().clone()
    }

    /// Returns the paths of all requests.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|request| request.path).collect()
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let mut words = first.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request { method, path, headers, body: Vec::new() };
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

fn write(mut stream: &TcpStream, reply: Reply) {
    let head = |status: u16, more: String| format!("HTTP/1.1 {status} Said\r\nConnection: close\r\n{more}\r\n");
    // A client may hang up early.
    let _ = match reply {
        Reply::Whole(status, kind, body) => {
            let more = format!("Content-Type: {kind}\r\nContent-Length: {}\r\nX-Seen: yes\r\n", body.len());
            stream.write_all(head(status, more).as_bytes()).and_then(|()| stream.write_all(&body))
        }
        Reply::Redirect(status, to) => {
            stream.write_all(head(status, format!("Location: {to}\r\nContent-Length: 0\r\n")).as_bytes())
        }
        Reply::Unmeasured(body) => {
            let more = "Content-Type: text/plain\r\n".to_owned();
            stream.write_all(head(200, more).as_bytes()).and_then(|()| stream.write_all(&body))
        }
        Reply::Silence => {
            thread::sleep(Duration::from_secs(20));
            Ok(())
        }
    };
    let _ = stream.shutdown(Shutdown::Both);
}
