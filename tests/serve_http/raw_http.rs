//! Raw HTTP requests.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Response.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Messages of the body or of the event stream.
    pub(crate) fn messages(&self) -> Vec<Value> {
        match self.header("content-type") {
            Some("text/event-stream") => {
                let lines = self.body.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
                lines.filter(|line| !line.is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
            }
            _ => serde_json::from_str(&self.body).into_iter().collect(),
        }
    }

    /// The answer to a request, which is the last message.
    pub(crate) fn answer(&self) -> Value {
        self.messages().pop().unwrap_or_else(|| panic!("no answer: {self:?}"))
    }
}

/// Sends a request that may stay unanswered.
pub(crate) fn open(port: u16, method: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    open_at(port, method, "/mcp", headers, body)
}

/// Sends a request to a path that may stay unanswered.
pub(crate) fn open_at(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    let has_host = headers.iter().any(|(name, _)| *name == "host");
    if !has_host {
        text.push_str(&format!("host: 127.0.0.1:{port}\r\n"));
    }
    headers.iter().for_each(|(name, value)| text.push_str(&format!("{name}: {value}\r\n")));
    if !headers.iter().any(|(name, _)| *name == "connection") {
        text.push_str("connection: close\r\n");
    }
    text.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    // A refused client may get the response before it has sent everything.
    let _ = stream.write_all(text.as_bytes());
    stream
}

/// Sends a request and reads the whole response.
pub(crate) fn send(port: u16, method: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    read(open(port, method, headers, body))
}

/// Reads the whole response.
pub(crate) fn read(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let pair = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_owned(), value.to_owned()));
    let headers: Vec<(String, String)> = lines.filter_map(pair).collect();
    let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    Reply { status, headers, body: if is_chunked { dechunked(body) } else { body.to_owned() } }
}

fn dechunked(mut text: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        let Some(chunk) = rest.get(..size).filter(|chunk| !chunk.is_empty()) else { break };
        whole.push_str(chunk);
        text = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}
