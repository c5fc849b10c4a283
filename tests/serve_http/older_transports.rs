//! HTTP+SSE and WebSocket: whole sessions, isolation, limits, disconnects and shutdown.

use crate::mcp::support::{Project, eventually, signal};
use crate::serve_http::disconnects_and_shutdown::hangs;
use crate::serve_http::older_clients::{
    BINARY, HANDSHAKE, OlderClient, PING, PONG, SseClient, TEXT, WebSocketClient, post_to,
};
use crate::serve_http::raw_http::{open_at, read};
use crate::serve_http::server::{ANN, BOB, HttpServer, bearer, message, program, project};
use serde_json::{Value, json};
use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

/// Longer than it takes to notice that a client is gone: at worst, when the next comment is written.
const TIMEOUT: Duration = Duration::from_secs(40);

fn plain() -> HttpServer {
    HttpServer::start(Project::new(json!({ "mcpServers": {} })), &[])
}

fn ping(id: u32) -> String {
    message(id, "ping", json!({})).to_string()
}

fn status(served: &HttpServer, method: &str, path: &str, headers: &[(&str, &str)]) -> u16 {
    read(open_at(served.port, method, path, headers, "")).status
}

/// The connection of a WebSocket handshake, and the status of its response.
fn handshake(served: &HttpServer, token: &str, more: &[(&str, &str)]) -> (TcpStream, u16) {
    let authorization = bearer(token);
    let headers = [&[("authorization", &*authorization)][..], &HANDSHAKE, more].concat();
    let mut stream = open_at(served.port, "GET", "/mcp/ws", &headers, "");
    let mut start = [0; "HTTP/1.1 101".len()];
    stream.read_exact(&mut start).unwrap();
    let status = std::str::from_utf8(&start[9..]).unwrap().parse().unwrap();
    (stream, status)
}

/// Initializes a session, lists its tools and runs a program that calls a function.
fn a_whole_session(client: &mut impl OlderClient) {
    let greeting = client.initialize();
    assert_eq!(greeting["protocolVersion"], "2024-11-05", "{greeting}");
    let tools = client.request(2, "tools/list", json!({}));
    assert_eq!(tools["tools"][0]["name"], "search_capabilities", "{tools}");
    let ran = client.run(program("export default await hostile.echo({ message: 'hello' });"));
    assert_eq!(ran["status"], "done", "{ran}");
    assert!(ran["value"].to_string().contains("hello"), "{ran}");
}

#[test]
fn a_whole_session_over_sse() {
    let Some(served) = HttpServer::with_callers() else { return };
    let mut client = SseClient::open(&served, ANN);
    let id = client.endpoint.strip_prefix("/mcp/sse/message?sessionId=").unwrap();
    assert_eq!(id.len(), 43, "256 bits in base64: {id}");
    a_whole_session(&mut client);
}

#[test]
fn a_whole_session_over_a_websocket() {
    let Some(served) = HttpServer::with_callers() else { return };
    let mut client = WebSocketClient::open(&served, ANN);
    let head = client.head.to_ascii_lowercase();
    assert!(head.contains("\r\nsec-websocket-protocol: mcp\r\n"), "{head}");
    assert!(client.head.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{head}");
    a_whole_session(&mut client);
}

#[test]
fn an_sse_session_belongs_to_its_caller() {
    let Some(served) = HttpServer::with_callers() else { return };
    let mut client = SseClient::open(&served, ANN);
    client.initialize();
    let unknown = post_to(served.port, "/mcp/sse/message?sessionId=unknown", ANN, &ping(2));
    assert_eq!(unknown.status, 404);
    for other in [BOB, &*served.token] {
        let stolen = client.post(other, &ping(2));
        assert_eq!((stolen.status, &stolen.body), (404, &unknown.body), "as if there were no such session");
    }
    assert_eq!(client.post("not-a-token-of-anyone", &ping(2)).status, 401);
    client.request(2, "ping", json!({}));
}

#[test]
fn older_transports_need_a_token_and_their_method() {
    let served = plain();
    for (method, path) in [("GET", "/mcp/sse"), ("POST", "/mcp/sse/message?sessionId=x"), ("GET", "/mcp/ws")] {
        assert_eq!(status(&served, method, path, &HANDSHAKE[1..]), 401, "{path}");
    }
    let authorization = bearer(&served.token);
    let headers = [("authorization", &*authorization)];
    assert_eq!(status(&served, "POST", "/mcp/sse", &headers), 405);
    assert_eq!(status(&served, "GET", "/mcp/sse/message", &headers), 405);
    assert_eq!(status(&served, "POST", "/mcp/sse/message", &headers), 400);
    assert_eq!(status(&served, "POST", "/mcp/ws", &headers), 405);
    assert_eq!(status(&served, "GET", "/mcp/ws", &headers), 426);
    assert_eq!(status(&served, "GET", "/mcp/other", &headers), 404);
    let foreign = [headers[0], ("origin", "https://evil.example")];
    assert_eq!(status(&served, "GET", "/mcp/sse", &foreign), 403);
    assert_eq!(handshake(&served, &served.token, &foreign[1..]).1, 403);
}

#[test]
fn invalid_and_oversized_messages_over_sse_are_refused() {
    let served = plain();
    let mut client = SseClient::open(&served, &served.token);
    client.initialize();
    let broken = client.post(&served.token, "{");
    assert_eq!((broken.status, &broken.answer()["error"]["code"]), (400, &json!(-32700)));
    let other = client.post(&served.token, "{\"a\":1}");
    assert_eq!((other.status, &other.answer()["error"]["code"]), (400, &json!(-32600)));
    let huge = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "x": "x".repeat(5 << 20) } });
    assert_eq!(client.post(&served.token, &huge.to_string()).status, 413);
    let many = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "x": vec![0; 300_000] } });
    assert_eq!(client.post(&served.token, &many.to_string()).status, 413);
    client.request(2, "ping", json!({}));
}

#[test]
fn invalid_and_oversized_frames_are_refused() {
    let served = plain();
    let open = || WebSocketClient::open(&served, &served.token);
    let mut client = open();
    client.initialize();
    for (text, code) in [("{", -32700), ("{\"a\":1}", -32600)] {
        client.send_frame(TEXT, text.as_bytes());
        assert_eq!(client.receive().unwrap()["error"]["code"], code);
    }
    client.request(2, "ping", json!({}));
    client.send_header(TEXT, 5 << 20);
    assert_eq!(client.close_code(), Some(1009));
    let mut client = open();
    client.send_frame(BINARY, b"{}");
    assert_eq!(client.close_code(), Some(1003));
}

#[test]
fn pings_over_a_websocket_are_answered() {
    let served = plain();
    let mut client = WebSocketClient::open(&served, &served.token);
    client.send_frame(PING, b"here?");
    assert_eq!(client.frame(), Some((PONG, b"here?".to_vec())));
    client.initialize();
}

#[test]
fn a_session_ends_with_its_stream() {
    let Some(served) = HttpServer::with_callers() else { return };
    let mut client = SseClient::open(&served, ANN);
    let mut staying = SseClient::open(&served, ANN);
    client.initialize();
    staying.initialize();
    client.begin(program("await hostile.hang();"));
    assert!(eventually(TIMEOUT, || hangs(&served).0 == 1));
    let endpoint = client.endpoint.clone();
    drop(client);
    assert!(eventually(TIMEOUT, || hangs(&served).1 == 1), "its request is cancelled");
    assert!(eventually(TIMEOUT, || post_to(served.port, &endpoint, ANN, &ping(2)).status == 404));
    staying.request(2, "ping", json!({}));
}

#[test]
fn a_session_ends_with_its_websocket() {
    let Some(served) = HttpServer::with_callers() else { return };
    let mut client = WebSocketClient::open(&served, ANN);
    let mut staying = WebSocketClient::open(&served, ANN);
    client.initialize();
    staying.initialize();
    client.begin(program("await hostile.hang();"));
    assert!(eventually(TIMEOUT, || hangs(&served).0 == 1));
    drop(client);
    assert!(eventually(TIMEOUT, || hangs(&served).1 == 1), "its request is cancelled");
    staying.request(2, "ping", json!({}));
}

/// Sessions of all transports count together.
#[test]
fn sessions_of_a_caller_are_bounded() {
    let Some(served) = HttpServer::with_callers() else { return };
    let clients: Vec<SseClient> = (0..31).map(|_| SseClient::open(&served, ANN)).collect();
    let (first, status) = handshake(&served, ANN, &[]);
    assert_eq!(status, 101);
    assert_eq!(handshake(&served, ANN, &[]).1, 429);
    assert_eq!(handshake(&served, BOB, &[]).1, 101, "he has his own");
    drop(first);
    assert!(eventually(TIMEOUT, || handshake(&served, ANN, &[]).1 == 101));
    drop(clients);
}

/// Runs in progress are cancelled with an answer, and connections are closed.
#[test]
fn shutdown_answers_requests_and_closes_connections() {
    let Some(project) = project() else { return };
    let mut served = HttpServer::start(project, &[]);
    let (mut stream, mut socket) = (SseClient::open(&served, ANN), WebSocketClient::open(&served, BOB));
    stream.initialize();
    socket.initialize();
    stream.begin(program("await hostile.hang();"));
    socket.begin(program("await hostile.hang();"));
    assert!(eventually(TIMEOUT, || hangs(&served).0 == 2));
    signal(served.pid(), "TERM");
    let code = |answer: Value| answer["result"]["structuredContent"]["error"]["code"].clone();
    assert_eq!(code(stream.answer(9)), "run.cancelled");
    assert_eq!(code(socket.answer(9)), "run.cancelled");
    assert_eq!(stream.receive(), None);
    assert_eq!(socket.close_code(), Some(1001));
    drop((stream, socket));
    assert_eq!(served.end_within(Duration::from_secs(10)).0, Some(0));
    served.project.assert_nothing_left();
}
