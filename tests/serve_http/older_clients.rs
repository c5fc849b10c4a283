//! Clients of the older transports, over raw sockets.

use crate::serve_http::raw_http::{Reply, open_at, read};
use crate::serve_http::server::{HttpServer, bearer, message, own_headers};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// A client with a session.
pub(crate) trait OlderClient {
    fn send(&mut self, message: &Value);

    /// The next message; `None` after the end of the connection.
    fn receive(&mut self) -> Option<Value>;

    /// The answer to a request.
    fn answer(&mut self, id: u32) -> Value {
        loop {
            let message = self.receive().unwrap_or_else(|| panic!("no answer to {id}"));
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// The result of a request, which must have one.
    fn request(&mut self, id: u32, method: &str, params: Value) -> Value {
        self.send(&message(id, method, params));
        let answer = self.answer(id);
        assert!(answer.get("result").is_some(), "{answer}");
        answer["result"].clone()
    }

    fn initialize(&mut self) -> Value {
        let asked = json!({ "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let result = self.request(1, "initialize", asked);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        result
    }

    /// Starts a program, as request 9.
    fn begin(&mut self, arguments: Value) {
        self.send(&message(9, "tools/call", json!({ "name": "run_code", "arguments": arguments })));
    }

    /// The structured result of a program.
    fn run(&mut self, arguments: Value) -> Value {
        self.begin(arguments);
        self.answer(9)["result"]["structuredContent"].clone()
    }
}

/// Client of HTTP+SSE.
pub(crate) struct SseClient {
    port: u16,
    token: String,
    stream: BufReader<TcpStream>,
    /// Where messages are posted.
    pub(crate) endpoint: String,
}

impl SseClient {
    pub(crate) fn open(served: &HttpServer, token: &str) -> SseClient {
        let authorization = bearer(token);
        let headers = [("authorization", &*authorization), ("accept", "text/event-stream")];
        let stream = BufReader::new(open_at(served.port, "GET", "/mcp/sse", &headers, ""));
        let mut client = SseClient { port: served.port, token: token.to_owned(), stream, endpoint: String::new() };
        let (name, endpoint) = client.event().unwrap();
        assert_eq!(name, "endpoint");
        client.endpoint = endpoint;
        client
    }

    /// Name and data of the next event. A chunk is a whole event, so that lines with sizes of chunks stand alone.
    fn event(&mut self) -> Option<(String, String)> {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            if self.stream.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            if let Some(given) = line.strip_prefix("event: ") {
                name = given.trim().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, data.trim().to_owned()));
            }
        }
    }

    /// Posts a text to the session with a token.
    pub(crate) fn post(&self, token: &str, text: &str) -> Reply {
        post_to(self.port, &self.endpoint, token, text)
    }
}

/// Posts a text to a path.
pub(crate) fn post_to(port: u16, path: &str, token: &str, text: &str) -> Reply {
    read(open_at(port, "POST", path, &own_headers(&bearer(token)), text))
}

impl OlderClient for SseClient {
    fn send(&mut self, message: &Value) {
        let reply = self.post(&self.token, &message.to_string());
        assert_eq!(reply.status, 202, "{reply:?}");
    }

    fn receive(&mut self) -> Option<Value> {
        let (name, data) = self.event()?;
        assert_eq!(name, "message");
        Some(serde_json::from_str(&data).unwrap())
    }
}

pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;

/// Client of the WebSocket transport.
pub(crate) struct WebSocketClient {
    stream: BufReader<TcpStream>,
    /// Head of the response to the handshake.
    pub(crate) head: String,
}

/// Headers of a handshake, besides the token; those of RFC 6455, section 1.3.
pub(crate) const HANDSHAKE: [(&str, &str); 5] = [
    ("connection", "Upgrade"),
    ("upgrade", "websocket"),
    ("sec-websocket-version", "13"),
    ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ("sec-websocket-protocol", "other, mcp"),
];

impl WebSocketClient {
    pub(crate) fn open(served: &HttpServer, token: &str) -> WebSocketClient {
        let authorization = bearer(token);
        let headers = [&[("authorization", &*authorization)][..], &HANDSHAKE].concat();
        let mut stream = BufReader::new(open_at(served.port, "GET", "/mcp/ws", &headers, ""));
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).unwrap(), 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 101"), "{head}");
        WebSocketClient { stream, head }
    }

    /// Sends the header of a final frame, with a mask of zeros, so that its payload is sent as it is.
    pub(crate) fn send_header(&mut self, opcode: u8, length: usize) {
        let mut header = vec![0x80 | opcode];
        match length {
            0..126 => header.push(0x80 | length as u8),
            126..65536 => {
                header.push(0x80 | 126);
                header.extend((length as u16).to_be_bytes());
            }
            _ => {
                header.push(0x80 | 127);
                header.extend((length as u64).to_be_bytes());
            }
        }
        header.extend([0; 4]);
        self.stream.get_mut().write_all(&header).unwrap();
    }

    pub(crate) fn send_frame(&mut self, opcode: u8, payload: &[u8]) {
        self.send_header(opcode, payload.len());
        self.stream.get_mut().write_all(payload).unwrap();
    }

    /// Opcode and payload of the next frame.
    pub(crate) fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head).ok()?;
        assert_eq!((head[0] & 0xf0, head[1] & 0x80), (0x80, 0), "whole, and without a mask");
        let length: usize = match head[1] {
            126 => {
                let mut length = [0; 2];
                self.stream.read_exact(&mut length).ok()?;
                u16::from_be_bytes(length).into()
            }
            127 => {
                let mut length = [0; 8];
                self.stream.read_exact(&mut length).ok()?;
                u64::from_be_bytes(length) as usize
            }
            short => short.into(),
        };
        let mut payload = vec![0; length];
        self.stream.read_exact(&mut payload).ok()?;
        Some((head[0] & 0x0f, payload))
    }

    /// The code with which the server closes the connection.
    pub(crate) fn close_code(&mut self) -> Option<u16> {
        loop {
            let (opcode, payload) = self.frame()?;
            if opcode == CLOSE {
                return Some(u16::from_be_bytes([*payload.first()?, *payload.get(1)?]));
            }
        }
    }
}

impl OlderClient for WebSocketClient {
    fn send(&mut self, message: &Value) {
        self.send_frame(TEXT, message.to_string().as_bytes());
    }

    fn receive(&mut self) -> Option<Value> {
        loop {
            match self.frame()? {
                (TEXT, text) => return Some(serde_json::from_slice(&text).unwrap()),
                (CLOSE, _) => return None,
                _ => {}
            }
        }
    }
}
