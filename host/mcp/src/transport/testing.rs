//! HTTP servers on loopback for tests.

use super::{HttpClient, http};
use crate::{Auth, Context, Endpoint, RemoteEndpoint, ServerSettings};
use agent_spaces_secrets::Secret;
use rmcp::model::{CallToolRequestParams, CallToolResult};
use rmcp::service::{RoleClient, RunningService, ServiceError};
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// Message size limit in tests.
pub(crate) const LIMIT: usize = 4096;

/// Recorded request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// Request line, such as `POST /mcp`.
    pub(crate) line: String,
    /// The headers, names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    /// The body, if it is JSON.
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn method(&self) -> &str {
        self.body["method"].as_str().unwrap_or_default()
    }
}

/// Reply of a server to a request.
pub(crate) enum Reply {
    /// Complete response.
    Whole(String),
    /// Beginning of a response, continued from the channel until it is closed.
    Open(String, mpsc::UnboundedReceiver<String>),
    /// No response, with the connection kept open.
    Never,
}

/// Server that answers with `reply`.
pub(crate) struct Server {
    /// URL, such as `http://127.0.0.1:1234`.
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    pub(crate) async fn start(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (seen, reply) = (Arc::new(Mutex::new(Vec::new())), Arc::new(reply));
        let record = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, reply.clone(), record.clone()));
            }
        });
        Server { url, seen }
    }

    /// Returns the requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(stream: TcpStream, reply: Arc<impl Fn(&Seen) -> Reply>, record: Arc<Mutex<Vec<Seen>>>) {
    let mut stream = BufReader::new(stream);
    let mut seen = Seen::default();
    let mut line = String::new();
    while stream.read_line(&mut line).await.is_ok_and(|read| read > 0) && !line.trim().is_empty() {
        match line.trim().split_once(": ") {
            Some((name, value)) => seen.headers.push((name.to_ascii_lowercase(), value.to_owned())),
            None => seen.line = line.trim().trim_end_matches(" HTTP/1.1").to_owned(),
        }
        line.clear();
    }
    // A client may open a connection and not use it.
    if seen.line.is_empty() {
        return;
    }
    let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.unwrap();
    seen.body = serde_json::from_slice(&body).unwrap_or_default();
    let reply = {
        record.lock().unwrap().push(seen.clone());
        reply(&seen)
    };
    match reply {
        Reply::Whole(text) => stream.write_all(text.as_bytes()).await.unwrap_or_default(),
        Reply::Open(text, mut more) => {
            stream.write_all(text.as_bytes()).await.unwrap();
            while let Some(text) = more.recv().await {
                if stream.write_all(text.as_bytes()).await.is_err() {
                    return;
                }
            }
        }
        Reply::Never => std::future::pending().await,
    }
}

/// Returns a response with a status, content type and body.
pub(crate) fn response(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nMcp-Session-Id: session-1\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
}

/// Returns a response without a body; each of the headers ends with a line break.
pub(crate) fn bare(status: &str, headers: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\nConnection: close\r\n\r\n")
}

/// Returns the response to a message, if it is a request. Tools are listed in the older format.
///
/// The tool `large` returns more than [`LIMIT`] bytes, every other one its name.
pub(crate) fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "test", "version": "1" },
        }),
        "tools/list" => json!({ "tools": [{
            "name": "older",
            "parameters": { "type": "object", "properties": { "a": { "type": "string" } } },
        }] }),
        "tools/call" => {
            let name = message["params"]["name"].as_str()?;
            let text = if name == "large" { "x".repeat(LIMIT) } else { name.to_owned() };
            json!({ "content": [{ "type": "text", "text": text }] })
        }
        method => {
            let error = json!({ "code": -32601, "message": format!("no {method} here") });
            return Some(json!({ "jsonrpc": "2.0", "id": id, "error": error }));
        }
    };
    Some(json!({ "jsonrpc": "2.0", "result": result, "id": id }))
}

/// Replies with the [`answer`] as JSON; offers no event stream.
pub(crate) fn as_json(seen: &Seen) -> Reply {
    match answer(&seen.body) {
        Some(answer) => Reply::Whole(response("200 OK", "application/json; charset=utf-8", &answer.to_string())),
        None if seen.line.starts_with("POST") => Reply::Whole(bare("202 Accepted", "")),
        None => Reply::Whole(bare("405 Method Not Allowed", "")),
    }
}

/// Returns settings for a server at a URL, with a header.
pub(crate) fn settings(url: &str) -> (ServerSettings, RemoteEndpoint) {
    let headers = [("X-Key".to_owned(), Secret::new("key-of-test"))].into();
    let endpoint = RemoteEndpoint { url: Secret::new(url), headers, auth: Auth::None };
    let settings = ServerSettings::new("test", Endpoint::Http(endpoint.clone()));
    (ServerSettings { max_message: LIMIT, ..settings }, endpoint)
}

/// Opens a streamable HTTP transport.
pub(crate) fn over_http(url: &str, context: &Context) -> StreamableHttpClientTransport<HttpClient> {
    let (settings, endpoint) = settings(url);
    let client = HttpClient::new(&settings, &endpoint, context).unwrap();
    http::open(&settings, &endpoint, client, None).unwrap()
}

pub(crate) type Running = RunningService<RoleClient, ()>;

pub(crate) async fn call(client: &Running, tool: &'static str) -> Result<String, ServiceError> {
    let result: CallToolResult = client.call_tool(CallToolRequestParams::new(tool)).await?;
    Ok(serde_json::to_value(&result).unwrap()["content"][0]["text"].as_str().unwrap().to_owned())
}

/// Returns the error code of a failed call.
pub(crate) async fn code_of(client: &Running, tool: &'static str) -> i32 {
    match call(client, tool).await.unwrap_err() {
        ServiceError::McpError(error) => error.code.0,
        other => panic!("{other:?}"),
    }
}

/// Asserts that the older format of tools is accepted.
pub(crate) async fn assert_older_tools(client: &Running) {
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools[0].input_schema["properties"], json!({ "a": { "type": "string" } }));
}
