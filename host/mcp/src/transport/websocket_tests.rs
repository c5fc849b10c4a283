//! Tests of the WebSocket transport against servers on loopback.

use super::*;
use crate::transport::TOO_LARGE;
use crate::transport::testing::*;
use rmcp::ServiceExt;
use rmcp::service::ServiceError;
use std::sync::Mutex as Shared;
use tokio::net::TcpListener;
use tokio_tungstenite::accept_hdr_async;
use tokio_tungstenite::tungstenite::Bytes;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

/// Record of a server: the headers of the handshake, and the number of pongs and close frames.
#[derive(Default)]
struct Heard {
    headers: http::HeaderMap,
    pongs: usize,
    closed: bool,
}

/// Starts a server for one client. The tool `quiet` gets no response, the tool `end` ends the connection.
#[allow(clippy::result_large_err, reason = "the signature is that of the handshake")]
async fn server() -> (String, Arc<Shared<Heard>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/?key=hush", listener.local_addr().unwrap());
    let heard = Arc::new(Shared::new(Heard::default()));
    let record = heard.clone();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let handshake = |request: &Request, mut response: Response| {
            record.lock().unwrap().headers = request.headers().clone();
            response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static("mcp"));
            Ok(response)
        };
        let mut socket = accept_hdr_async(stream, handshake).await.unwrap();
        while let Some(Ok(frame)) = socket.next().await {
            match frame {
                Message::Text(text) => {
                    let message: serde_json::Value = serde_json::from_str(&text).unwrap();
                    let tool = message["params"]["name"].as_str().unwrap_or_default();
                    if tool == "end" {
                        return;
                    }
                    socket.send(Message::Ping(Bytes::new())).await.unwrap();
                    socket.send(Message::Binary(Bytes::new())).await.unwrap();
                    if let Some(answer) = answer(&message).filter(|_| tool != "quiet") {
                        socket.send(Message::text(answer.to_string())).await.unwrap();
                    }
                }
                Message::Pong(_) => record.lock().unwrap().pongs += 1,
                Message::Close(_) => record.lock().unwrap().closed = true,
                _ => {}
            }
        }
    });
    (url, heard)
}

async fn connect(url: &str) -> Result<WebSocketTransport, ConnectError> {
    let (settings, endpoint) = settings(url);
    open(&settings, &endpoint, Some(Secret::new("token")), &Context::default()).await
}

async fn started(url: &str) -> Running {
    ().serve(connect(url).await.unwrap()).await.unwrap()
}

#[tokio::test]
async fn session_over_websocket() {
    let (url, heard) = server().await;
    let client = started(&url).await;
    assert_older_tools(&client).await;
    assert_eq!(call(&client, "hello").await.unwrap(), "hello");
    assert_eq!(call(&client, "again").await.unwrap(), "again");
    client.cancel().await.unwrap();
    let heard = heard.lock().unwrap();
    assert_eq!(
        (&heard.headers["x-key"], &heard.headers["authorization"]),
        (&"key-of-test".parse().unwrap(), &"Bearer token".parse().unwrap())
    );
    assert!(heard.pongs > 0 && heard.closed);
}

#[tokio::test]
async fn a_response_over_the_size_limit_fails_the_only_pending_call() {
    let (url, _) = server().await;
    let client = started(&url).await;
    assert_eq!(code_of(&client, "large").await, TOO_LARGE);

    let (url, _) = server().await;
    let client = started(&url).await;
    let (quiet, large) = tokio::join!(call(&client, "quiet"), async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        call(&client, "large").await
    });
    for ended in [quiet, large] {
        assert!(matches!(ended.unwrap_err(), ServiceError::TransportClosed));
    }
}

#[tokio::test]
async fn calls_end_with_the_connection() {
    let (url, _) = server().await;
    let client = started(&url).await;
    assert!(matches!(call(&client, "end").await.unwrap_err(), ServiceError::TransportClosed));
}

#[tokio::test]
async fn other_servers_are_refused_with_the_reason() {
    let upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n".to_owned();
    for (reply, expected) in [
        (bare("404 Not Found", ""), "HTTP 404 instead of a WebSocket"),
        (bare("307 Temporary Redirect", "Location: https://a.example/\r\n"), "HTTP 307"),
        (upgrade, "cannot open a WebSocket"),
        ("hello".to_owned(), "cannot open a WebSocket"),
    ] {
        let server = Server::start(move |_| Reply::Whole(reply.clone())).await;
        let error = connect(&server.url.replace("http:", "ws:")).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = connect("ws://127.0.0.1:1/?hush").await.unwrap_err().to_string();
    assert!(error.starts_with("cannot connect: ") && !error.contains("hush"), "{error}");
}

#[tokio::test]
async fn a_server_of_another_subprotocol_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    tokio::spawn(async move { tokio_tungstenite::accept_async(listener.accept().await.unwrap().0).await.map(drop) });
    let error = connect(&url).await.unwrap_err().to_string();
    assert!(error.contains("subprotocol `mcp`"), "{error}");
}

#[tokio::test]
async fn status_401_is_unauthorized() {
    let server =
        Server::start(|_| Reply::Whole(bare("401 Unauthorized", "WWW-Authenticate: Bearer realm=a\r\n"))).await;
    let error = connect(&server.url.replace("http:", "ws:")).await.unwrap_err();
    let ConnectError::Unauthorized { message } = error else { panic!("{error}") };
    assert!(!message.contains("realm"), "{message}");
}

#[tokio::test]
#[allow(clippy::result_large_err, reason = "the signature is that of the handshake")]
async fn a_server_that_pings_without_reading_is_disconnected() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/", listener.local_addr().unwrap());
    let pinging = tokio::spawn(async move {
        let handshake = |_: &Request, mut response: Response| {
            response.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static("mcp"));
            Ok(response)
        };
        let socket = accept_hdr_async(listener.accept().await.unwrap().0, handshake).await.unwrap();
        let (mut outgoing, _is_not_read) = socket.split();
        let ping = || Message::Ping(Bytes::from_static(&[0; 125]));
        while outgoing.send(ping()).await.is_ok() {}
    });
    let mut transport = connect(&url).await.unwrap();
    let left = timeout(Duration::from_secs(60), transport.receive()).await;
    assert!(left.expect("it is disconnected before pongs fill the memory").is_none());
    drop(transport);
    pinging.await.unwrap();
}
