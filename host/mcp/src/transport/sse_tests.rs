//! Tests of the HTTP+SSE transport against servers on loopback.

use super::*;
use crate::Warnings;
use crate::transport::TOO_LARGE;
use crate::transport::testing::*;
use rmcp::ServiceExt;
use rmcp::service::ServiceError;
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

/// Starts a server whose stream begins with `first`. The tool `end` ends the stream.
async fn server(first: &str) -> Server {
    let first = format!("{HEAD}{first}");
    let stream: Arc<Mutex<Option<UnboundedSender<String>>>> = Arc::default();
    Server::start(move |seen| {
        let mut stream = stream.lock().unwrap();
        if seen.line.starts_with("GET") {
            let (more, rest) = unbounded_channel();
            *stream = Some(more);
            return Reply::Open(first.clone(), rest);
        }
        match (answer(&seen.body), &*stream) {
            _ if seen.body["params"]["name"] == "end" => *stream = None,
            (Some(answer), Some(stream)) => {
                stream.send(format!(": comment\n\ndata: noise\n\nevent: message\ndata: {answer}\n\n")).unwrap();
            }
            _ => {}
        }
        Reply::Whole(bare("202 Accepted", ""))
    })
    .await
}

async fn connect(server: &Server, context: &Context) -> Result<SseTransport, ConnectError> {
    let (settings, endpoint) = settings(&format!("{}/sse?key=hush", server.url));
    open(&settings, &endpoint, Some(Secret::new("token")), context).await
}

async fn started(server: &Server) -> Running {
    ().serve(connect(server, &Context::default()).await.unwrap()).await.unwrap()
}

#[tokio::test]
async fn session_over_sse() {
    let server = server("event: endpoint\ndata: /messages?id=1\n\n").await;
    let client = started(&server).await;
    assert_older_tools(&client).await;
    assert_eq!(call(&client, "hello").await.unwrap(), "hello");
    let seen = server.seen();
    assert_eq!((seen[0].line.as_str(), seen[0].header("accept")), ("GET /sse?key=hush", Some("text/event-stream")));
    assert!(seen[1..].iter().all(|seen| seen.line == "POST /messages?id=1"));
    let headers =
        |seen: &Seen| (seen.header("x-key").map(str::to_owned), seen.header("authorization").map(str::to_owned));
    let expected = (Some("key-of-test".to_owned()), Some("Bearer token".to_owned()));
    assert!(seen.iter().all(|seen| headers(seen) == expected), "{seen:?}");
}

#[tokio::test]
async fn a_response_over_the_size_limit_fails_only_its_call() {
    let server = server("event: endpoint\ndata: /messages\n\n").await;
    let client = started(&server).await;
    assert_eq!(code_of(&client, "large").await, TOO_LARGE);
    assert_eq!(call(&client, "hello").await.unwrap(), "hello");
}

#[tokio::test]
async fn noise_is_warned_of_once() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let sink = told.clone();
    let warnings = Warnings::to(move |text| sink.lock().unwrap().push(text.to_string()));
    let server = server("event: endpoint\ndata: /messages\n\n").await;
    let transport = connect(&server, &Context { warnings, ..Context::default() }).await.unwrap();
    let client = ().serve(transport).await.unwrap();
    call(&client, "hello").await.unwrap();
    assert_eq!(*told.lock().unwrap(), ["MCP server test: it sent data that is not JSON-RPC: noise"]);
}

#[tokio::test]
async fn calls_end_with_the_stream() {
    let server = server("event: endpoint\ndata: /messages\n\n").await;
    let client = started(&server).await;
    assert!(matches!(call(&client, "end").await.unwrap_err(), ServiceError::TransportClosed));
}

#[tokio::test]
async fn posts_to_another_origin_are_refused() {
    let other = Server::start(|_| Reply::Never).await;
    for target in [format!("{}/messages", other.url), "//a.example/m".to_owned(), "data:x".to_owned()] {
        let server = server(&format!("event: endpoint\ndata: {target}\n\n")).await;
        let error = connect(&server, &Context::default()).await.unwrap_err().to_string();
        assert!(error.contains("another origin"), "{error}");
    }
    assert!(other.seen().is_empty());
    let server = server("event: endpoint\ndata: http://[\n\n").await;
    let error = connect(&server, &Context::default()).await.unwrap_err().to_string();
    assert!(error.contains("`endpoint` event is invalid"), "{error}");
}

#[tokio::test]
async fn other_servers_are_refused_with_the_reason() {
    let replies = [
        (bare("404 Not Found", ""), "HTTP 404"),
        (response("200 OK", "text/html", "<html>"), "text/event-stream"),
        (response("200 OK", "text/event-stream", "data: hello\n\n"), "`endpoint` event"),
        (response("200 OK", "text/event-stream", ""), "`endpoint` event"),
        (bare("302 Found", "Location: https://a.example/?hush\r\n"), "https://a.example"),
    ];
    for (reply, expected) in replies {
        let server = Server::start(move |_| Reply::Whole(reply.clone())).await;
        let error = connect(&server, &Context::default()).await.unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("hush"), "{error}");
    }
}

#[tokio::test]
async fn status_401_is_unauthorized() {
    let server =
        Server::start(|_| Reply::Whole(bare("401 Unauthorized", "WWW-Authenticate: Bearer realm=a\r\n"))).await;
    let error = connect(&server, &Context::default()).await.unwrap_err();
    let ConnectError::Unauthorized { message } = error else { panic!("{error}") };
    assert!(!message.contains("realm"), "{message}");
}

#[tokio::test]
async fn a_refused_post_fails_its_call() {
    let (_open, rest) = unbounded_channel();
    let rest = Mutex::new(Some(rest));
    let server = Server::start(move |seen| match rest.lock().unwrap().take() {
        Some(rest) => Reply::Open(format!("{HEAD}event: endpoint\ndata: /m\n\n"), rest),
        None => Reply::Whole(response("400 Bad Request", "text/plain", seen.method())),
    })
    .await;
    let error = ().serve(connect(&server, &Context::default()).await.unwrap()).await.unwrap_err();
    assert!(error.to_string().contains("HTTP 400: initialize"), "{error}");
}
