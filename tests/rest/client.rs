//! Requests of a caller, with bodies of any bytes.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Time within which a response must continue.
const READ_TIMEOUT: Duration = Duration::from_secs(70);

/// A caller of a server.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Api {
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], b"")
    }

    pub(crate) fn put(&self, path: &str, bytes: &[u8]) -> Answer {
        self.send("PUT", path, &[], bytes)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.send_json("POST", path, &[], body)
    }

    /// Sends a request with a JSON body and further headers.
    pub(crate) fn send_json(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &Value) -> Answer {
        let headers = [&[("content-type", "application/json")], headers].concat();
        self.send(method, path, &headers, body.to_string().as_bytes())
    }

    /// Sends a request and reads the whole response.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut stream = self.open(method, path, headers, body);
        let mut bytes = Vec::new();
        // A refused client may be disconnected before it has sent everything.
        let _ = stream.read_to_end(&mut bytes);
        Answer::parse(&bytes).unwrap_or_else(|| panic!("{method} {path}: no answer: {:?}", Answer::text(&bytes)))
    }

    /// Sends a request that may stay unanswered.
    pub(crate) fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: close\r\n", self.port);
        if !headers.iter().any(|(name, _)| *name == "authorization") {
            head.push_str(&format!("authorization: Bearer {}\r\n", self.token));
        }
        headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
        head.push_str(&format!("content-length: {}\r\n\r\n", body.len()));
        // A refused client may get the response before it has sent everything.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        stream
    }

    /// Makes a space and returns it.
    pub(crate) fn space(&self, new: &Value) -> Value {
        self.post("/v1/spaces", new).with_status(201).json()
    }

    /// Makes a space of the caller's first configured one, and returns its id.
    pub(crate) fn new_space(&self) -> String {
        id(&self.space(&json!({ "name": "test" })))
    }

    /// Runs a source to its end and returns the run.
    pub(crate) fn run(&self, space: &str, source: &str) -> Value {
        self.post(&format!("/v1/spaces/{space}/runs?wait=30"), &json!({ "source": source })).with_status(201).json()
    }

    /// Starts a run and returns its id.
    pub(crate) fn start(&self, space: &str, source: &str) -> String {
        let run = self.post(&format!("/v1/spaces/{space}/runs"), &json!({ "source": source }));
        assert!(matches!(run.status, 201 | 202), "{run:?}");
        id(&run.json())
    }

    /// Returns a run, once it has ended or after half a minute.
    pub(crate) fn ended(&self, run: &str) -> Value {
        self.get(&format!("/v1/runs/{run}?wait=30")).with_status(200).json()
    }

    /// Returns the state of a run.
    pub(crate) fn status(&self, run: &str) -> String {
        text(&self.get(&format!("/v1/runs/{run}")).with_status(200).json()["status"])
    }
}

/// Returns the id of a resource.
pub(crate) fn id(resource: &Value) -> String {
    text(&resource["id"])
}

/// Returns a JSON text.
pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("not a text: {value}")).to_owned()
}

/// Response.
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {:?} {}", self.status, self.headers, Answer::text(&self.body))
    }
}

impl Answer {
    /// Parses a response; `None` unless its head is whole. Its body may be cut anywhere.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Answer> {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let pair = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        let headers: Vec<(String, String)> = lines.filter_map(pair).collect();
        let is_chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        let body = &bytes[end + 4..];
        Some(Answer { status, headers, body: if is_chunked { dechunked(body) } else { body.to_vec() } })
    }

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(&bytes[..bytes.len().min(2_000)]).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Returns the entity tag.
    pub(crate) fn etag(&self) -> String {
        self.header("etag").unwrap_or_else(|| panic!("no ETag: {self:?}")).to_owned()
    }

    /// Panics unless it has this status.
    #[track_caller]
    pub(crate) fn with_status(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{self:?}");
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Panics unless it is a problem document with this status and code; returns its detail.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> String {
        let problem = self.some_problem();
        assert_eq!((self.status, problem["code"].as_str()), (status, Some(code)), "{self:?}");
        text(&problem["detail"])
    }

    /// Panics unless it is a problem document that blames the client; returns it.
    #[track_caller]
    pub(crate) fn some_problem(&self) -> Value {
        assert_eq!(self.fault(), None);
        self.json()
    }

    /// Returns why it is not a problem document that blames the client.
    pub(crate) fn fault(&self) -> Option<String> {
        let problem: Value = serde_json::from_slice(&self.body).unwrap_or_default();
        let (code, status) = (problem["code"].as_str().unwrap_or_default(), self.status);
        let is_text = |member: &str| problem[member].as_str().is_some_and(|text| !text.is_empty());
        let is_problem = self.header("content-type") == Some("application/problem+json")
            && problem["type"] == format!("urn:agent-spaces:problem:{code}")
            && problem["status"] == status
            && ["code", "title", "detail"].into_iter().all(is_text);
        (!is_problem || !(400..500).contains(&status)).then(|| format!("{self:?}"))
    }
}

/// Joins the chunks of a body, which may be cut anywhere.
fn dechunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let size = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let size = usize::from_str_radix(&size, 16).unwrap_or_else(|_| panic!("not the size of a chunk: {size:?}"));
        let rest = &bytes[end + 2..];
        whole.extend_from_slice(&rest[..size.min(rest.len())]);
        bytes = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}
