//! All surfaces in one server: tokens, forms of refusals, paths.

use crate::testing::{Scripted, Step, ann, eve};
use crate::{AgentApprovals, SurfaceLimits, routes};
use agent_spaces_agent::OutputFormat;
use agent_spaces_approvals::{Decision, WaitingCalls as _};
use agent_spaces_http_server::{Callers, OriginCheck, Settings, Token, serve};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

const TOKEN: &str = "the-token-of-ann-0001";
const OTHER_TOKEN: &str = "the-token-of-eve-0001";
const OTHER_BEARER: &str = "authorization: Bearer the-token-of-eve-0001\r\n";
const BEARER: &str = "authorization: Bearer the-token-of-ann-0001\r\n";
const KEY: &str = "x-api-key: the-token-of-ann-0001\r\n";

/// Running server, which ends when this is dropped.
struct Served {
    address: SocketAddr,
    approvals: AgentApprovals,
    _stop: DropGuard,
}

impl Served {
    async fn start(steps: Vec<Step>) -> Served {
        let mut callers = Callers::default();
        callers.add(Token::new(TOKEN).unwrap(), ann()).unwrap();
        callers.add(Token::new(OTHER_TOKEN).unwrap(), eve()).unwrap();
        let (service, approvals) = (Scripted::new(OutputFormat::Text, steps).service(), AgentApprovals::default());
        let parts = routes(&service, SurfaceLimits::default(), &approvals);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let settings = Settings::new(callers, OriginCheck::new(false));
        tokio::spawn(serve(listener, settings, parts, stop.clone().cancelled_owned()));
        Served { address, approvals, _stop: stop.drop_guard() }
    }

    /// Sends a request, and returns the status and the whole response.
    async fn send(&self, line: &str, headers: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        (text[9..12].parse().unwrap(), text)
    }

    /// Sends a request, and returns the status and the JSON of the response.
    async fn json(&self, line: &str, headers: &str, body: &str) -> (u16, Value) {
        let (status, text) = self.send(line, headers, body).await;
        let (_, body) = text.split_once("\r\n\r\n").unwrap();
        // It may be in chunks: one with the object, between two lines of lengths.
        let body = body.find('{').zip(body.rfind('}')).map_or(body, |(from, to)| &body[from..=to]);
        (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {text}")))
    }
}

#[tokio::test]
async fn each_surface_refuses_in_its_own_form() {
    let served = Served::start(Vec::new()).await;
    let (status, openai) = served.json("POST /v1/chat/completions", "", "{}").await;
    assert_eq!((status, &openai["error"]["code"]), (401, &"invalid_api_key".into()));
    let (status, anthropic) = served.json("POST /v1/messages?beta=true", "", "{}").await;
    assert_eq!((status, &anthropic["error"]["type"]), (401, &"authentication_error".into()));
    let (status, plain) = served.json("GET /v1/planner?q=hi", "", "").await;
    assert_eq!((status, &plain["code"]), (401, &"auth.token".into()));
    let (status, unknown) = served.json("GET /v1/nobody?q=hi", BEARER, "").await;
    assert_eq!((status, &unknown["code"]), (404, &"not_found".into()));
}

#[tokio::test]
async fn the_token_is_a_key_where_the_protocol_has_keys() {
    let served = Served::start(vec![Step::Says("Hello.")]).await;
    let body = r#"{"model": "planner", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}"#;
    let (status, message) = served.json("POST /v1/messages?beta=true", KEY, body).await;
    assert_eq!((status, &message["content"][0]["text"]), (200, &"Hello.".into()));
    let (status, models) = served.json("GET /v1/models", KEY, "").await;
    assert_eq!((status, &models["data"][0]["id"]), (200, &"planner".into()));
    assert_eq!(served.json("GET /v1/planner?q=hi", KEY, "").await.0, 401, "plain HTTP has no such header");
}

#[tokio::test]
async fn agents_are_listed_for_those_who_may_ask_them() {
    let served = Served::start(Vec::new()).await;
    for (path, list) in [("GET /v1/agents", "items"), ("GET /v1/models", "data")] {
        let (_, anns) = served.json(path, BEARER, "").await;
        let (status, eves) = served.json(path, OTHER_BEARER, "").await;
        let count = |listed: &Value| listed[list].as_array().map(Vec::len);
        assert_eq!((status, count(&anns), count(&eves)), (200, Some(1), Some(0)), "{path}");
    }
    assert_eq!(served.json("GET /v1/models/planner", BEARER, "").await.0, 200);
    assert_eq!(served.json("GET /v1/models/planner", OTHER_BEARER, "").await.0, 404);
    let (status, denied) = served.json("GET /v1/planner?q=hi&session=none", OTHER_BEARER, "").await;
    assert_eq!((status, &denied["code"]), (403, &"auth.denied".into()));
}

#[tokio::test]
async fn a_call_that_waits_is_decided_by_whoever_has_the_approvals() {
    let served = Served::start(vec![Step::Calls("", "pay", json!({})), Step::Says("Paid.")]).await;
    let asking = served.json("GET /v1/planner?q=pay&session=none", BEARER, "");
    let deciding = async {
        while served.approvals.calls(None).is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(served.approvals.calls(Some("eve")).is_empty(), "it is Ann's");
        served.approvals.decide("apr_pay", "ann", Decision::approve("ann")).unwrap()
    };
    let ((status, answer), decided) = tokio::join!(asking, deciding);
    assert_eq!((decided.message.as_str(), decided.settled.is_some()), ("Pay?", true));
    assert_eq!((status, &answer["text"]), (200, &"Paid.".into()));
}

#[tokio::test]
async fn bodies_are_bounded_and_methods_checked() {
    let served = Served::start(Vec::new()).await;
    let mut stream = TcpStream::connect(served.address).await.unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{BEARER}content-length: 99999999\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    assert!(text.starts_with("HTTP/1.1 413") && text.contains("request_too_large"), "{text}");
    let (status, problem) = served.json("PUT /v1/planner", BEARER, "{}").await;
    assert_eq!((status, &problem["code"]), (405, &"method".into()));
    for (line, allowed) in [
        ("PUT /v1/planner", "GET, POST"),
        ("POST /v1/agents", "GET"),
        ("GET /v1/chat/completions", "POST"),
        ("POST /v1/models", "GET, HEAD"),
        ("GET /v1/messages", "POST"),
    ] {
        let (status, text) = served.send(line, BEARER, "").await;
        assert!(status == 405 && text.contains(&format!("\r\nallow: {allowed}\r\n")), "{line}: {text}");
    }
}

#[tokio::test]
async fn a_stream_is_sent_as_events() {
    let served = Served::start(vec![Step::Says("Hello you.")]).await;
    let body = r#"{"model": "planner", "stream": true, "messages": [{"role": "user", "content": "hi"}]}"#;
    let (status, text) = served.send("POST /v1/chat/completions", BEARER, body).await;
    assert!(status == 200 && text.contains("content-type: text/event-stream"), "{text}");
    assert!(text.contains("Hello ") && text.contains("data: [DONE]"), "{text}");
}
