//! Tests of streamable HTTP against servers on loopback.

use super::*;
use crate::Auth;
use crate::trace::Trace;
use crate::transport::testing::*;
use crate::transport::{MALFORMED, TOO_LARGE, failure};
use agent_spaces_secrets::Redactor;
use rmcp::ServiceExt;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, ServiceError};
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn as_events(seen: &Seen) -> Reply {
    match answer(&seen.body) {
        Some(answer) => {
            let notification =
                r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
            let body = format!(": hello\n\ndata: {notification}\n\nevent: message\ndata: {answer}\n\n");
            Reply::Whole(response("200 OK", "text/event-stream", &body))
        }
        None => as_json(seen),
    }
}

async fn started(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> (Server, Running) {
    let server = Server::start(reply).await;
    let client = ().serve(over_http(&format!("{}/mcp?key=hush", server.url), &Context::default())).await.unwrap();
    (server, client)
}

/// Replies as usual, except to calls of the tool `odd`.
fn odd(reply: impl Fn() -> String + Send + Sync + 'static) -> impl Fn(&Seen) -> Reply + Send + Sync + 'static {
    move |seen| if seen.body["params"]["name"] == "odd" { Reply::Whole(reply()) } else { as_json(seen) }
}

fn auto() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto { preferred_versions: vec![ProtocolVersion::V_2026_07_28], legacy_version: None }
}

#[tokio::test]
async fn session_with_json_responses() {
    let (server, client) = started(as_json).await;
    assert_older_tools(&client).await;
    assert_eq!(call(&client, "hello").await.unwrap(), "hello");
    client.cancel().await.unwrap();
    let seen = server.seen();
    assert!(seen.iter().all(|seen| seen.header("x-key") == Some("key-of-test")), "s0_34: {seen:?}");
    assert!(seen.iter().skip(1).all(|seen| seen.header("mcp-session-id") == Some("session-1")));
    assert!(seen.iter().any(|seen| seen.line == "DELETE /mcp?key=hush"));
    assert!(seen[0].header("user-agent").is_some_and(|agent| agent.starts_with("agent-spaces/")));
}

#[tokio::test]
async fn session_with_event_streams() {
    let (_server, client) = started(as_events).await;
    assert_older_tools(&client).await;
    assert_eq!(call(&client, "hello").await.unwrap(), "hello");
}

#[tokio::test]
async fn fifty_concurrent_calls() {
    let (_server, client) = started(as_events).await;
    let calls = (0..60).map(|_| call(&client, "hello"));
    assert!(futures_util::future::join_all(calls).await.into_iter().all(|answer| answer.unwrap() == "hello"));
}

#[tokio::test]
async fn a_response_over_the_size_limit_fails_only_its_call() {
    for (server, client) in [started(as_json).await, started(as_events).await] {
        assert_eq!(code_of(&client, "large").await, TOO_LARGE);
        assert_eq!(call(&client, "hello").await.unwrap(), "hello");
        drop(server);
    }
}

#[tokio::test]
async fn an_endless_response_is_cut_off() {
    for kind in ["application/json", "text/event-stream"] {
        let endless = move |seen: &Seen| {
            if seen.body["params"]["name"] != "odd" {
                return as_json(seen);
            }
            let (more, rest) = tokio::sync::mpsc::unbounded_channel();
            tokio::spawn(async move {
                while more.send("x".repeat(1000)).is_ok() {
                    tokio::task::yield_now().await
                }
            });
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\ndata: ");
            Reply::Open(head, rest)
        };
        let (_server, client) = started(endless).await;
        assert_eq!(code_of(&client, "odd").await, TOO_LARGE, "{kind}");
    }
}

#[tokio::test]
async fn garbage_is_an_error_to_its_call() {
    let bodies = [
        ("application/json", "hello"),
        ("application/json", ""),
        ("application/json", "[]"),
        ("application/json", r#"{"jsonrpc":"2.0","id":99,"result":{}}"#),
        ("application/json", r#"{"jsonrpc":"2.0","id":"#),
        ("text/html", "<html>"),
        ("text/event-stream", "data: hello\n\n"),
        ("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":\n\n"),
    ];
    for (kind, body) in bodies {
        let (_server, client) = started(odd(move || response("200 OK", kind, body))).await;
        assert_eq!(code_of(&client, "odd").await, MALFORMED, "{kind} {body}");
    }
}

#[tokio::test]
async fn errors_reach_their_call() {
    let error = |id: &str| format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-7,"message":"m"}}}}"#);
    for status in ["200 OK", "400 Bad Request", "500 Internal Server Error"] {
        for id in ["", r#""id":null,"#, r#""id":"server-error","#] {
            let body = error(id);
            let (_server, client) = started(odd(move || response(status, "application/json", &body))).await;
            assert_eq!(code_of(&client, "odd").await, -7, "{status} {id}");
        }
    }
}

#[tokio::test]
async fn error_statuses_are_reported_with_an_excerpt_of_the_body() {
    for (status, text) in
        [("418 Teapot", "it answered with HTTP 418: short and stout"), ("503 Busy", "it answered with HTTP 503")]
    {
        let (_server, client) = started(odd(move || response(status, "text/plain", "short\nand stout"))).await;
        let ServiceError::TransportSend(error) = call(&client, "odd").await.unwrap_err() else { panic!("no refusal") };
        assert_eq!(failure::reason(&error).replace('\n', " "), text);
        assert_eq!(failure::status(&error), status[..3].parse().ok());
        assert_eq!(call(&client, "hello").await.unwrap(), "hello");
    }
}

#[tokio::test]
async fn a_challenge_reaches_the_caller() {
    let challenge = r#"Bearer resource_metadata="https://a.example/.well-known/x""#;
    for given in [challenge, ""] {
        let header = if given.is_empty() { String::new() } else { format!("WWW-Authenticate: {given}\r\n") };
        let server = Server::start(move |_| Reply::Whole(bare("401 Unauthorized", &header))).await;
        for lifecycle in [ClientLifecycleMode::Initialize, auto()] {
            let transport = over_http(&server.url, &Context::default());
            let error = ().serve_with_lifecycle(transport, lifecycle).await.unwrap_err();
            assert_eq!(error.auth_challenge(), Some(given), "{error}");
        }
    }
}

#[tokio::test]
async fn requests_to_another_origin_are_refused() {
    let other = Server::start(as_json).await;
    let target = format!("Location: {}/?hush\r\n", other.url);
    for status in ["307 Temporary Redirect", "308 Permanent Redirect", "302 Found"] {
        let target = target.clone();
        let server = Server::start(move |_| Reply::Whole(bare(status, &target))).await;
        let error = ().serve(over_http(&server.url, &Context::default())).await.unwrap_err();
        let reason = failure::reason(failure::of_start(&error).unwrap());
        assert!(reason.contains(&other.url) && !reason.contains("hush"), "{reason}");
    }
    let (settings, endpoint) = settings("http://127.0.0.1:1/");
    let client = HttpClient::new(&settings, &endpoint, &Context::default()).unwrap();
    let refused = client.delete_session(other.url.as_str().into(), "a".into(), None, Headers::new()).await;
    assert!(refused.unwrap_err().to_string().contains("another origin"));
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn a_redirect_within_the_origin_keeps_the_message() {
    let (server, client) = started(|seen| {
        let moved = seen.line.split_once(' ').is_some_and(|(_, path)| path.starts_with("/mcp"));
        if moved { Reply::Whole(bare("307 Temporary Redirect", "Location: /new\r\n")) } else { as_json(seen) }
    })
    .await;
    assert_eq!(call(&client, "hello").await.unwrap(), "hello");
    assert!(server.seen().iter().filter(|seen| seen.line == "POST /new").all(|seen| seen.header("x-key").is_some()));
}

#[tokio::test]
async fn an_older_server_is_detected() {
    for status in ["400 Bad Request", "404 Not Found", "405 Method Not Allowed", "200 OK"] {
        let (server, reply) = (status != "200 OK", response(status, "text/plain", "what?"));
        let server = Server::start(move |seen| match seen.method() {
            "server/discover" if server => Reply::Whole(reply.clone()),
            _ => as_json(seen),
        })
        .await;
        let client = ().serve_with_lifecycle(over_http(&server.url, &Context::default()), auto()).await.unwrap();
        assert_eq!(call(&client, "hello").await.unwrap(), "hello", "{status}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_posts_is_detected_by_its_status() {
    let server = Server::start(|_| Reply::Whole(response("405 Method Not Allowed", "text/plain", "no"))).await;
    for lifecycle in [ClientLifecycleMode::Initialize, auto()] {
        let error = ().serve_with_lifecycle(over_http(&server.url, &Context::default()), lifecycle).await.unwrap_err();
        let error = failure::of_start(&error).unwrap();
        assert_eq!(
            (failure::status(error), failure::reason(error)),
            (Some(405), "it answered with HTTP 405: no".to_owned())
        );
    }
}

#[tokio::test]
async fn a_stateless_server() {
    let server = Server::start(|seen| {
        let (id, method) = (&seen.body["id"], seen.method());
        let result = match method {
            "server/discover" => json!({
                "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "ttlMs": 0, "cacheScope": "private",
            }),
            "tools/call" => json!({ "resultType": "complete", "content": [{ "type": "text", "text": "hello" }] }),
            _ => return as_json(seen),
        };
        let answer = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        Reply::Whole(response("200 OK", "application/json", &answer.to_string()))
    })
    .await;
    let client = ().serve_with_lifecycle(over_http(&server.url, &Context::default()), auto()).await.unwrap();
    assert_eq!(call(&client, "hello").await.unwrap(), "hello");
    let seen = server.seen();
    assert!(seen.iter().all(|seen| seen.header("mcp-protocol-version") == Some("2026-07-28")), "{seen:?}");
    assert!(seen.iter().all(|seen| seen.header("mcp-session-id").is_none() && seen.method() != "initialize"));
}

#[tokio::test]
async fn a_call_of_a_forgotten_session_is_not_sent_again() {
    let forgotten = AtomicUsize::new(0);
    let (server, client) = started(move |seen| {
        let forgets = seen.method() == "tools/call" && forgotten.fetch_add(1, Ordering::Relaxed) == 0;
        if forgets { Reply::Whole(bare("404 Not Found", "")) } else { as_json(seen) }
    })
    .await;
    let error = call(&client, "hello").await.unwrap_err();
    assert!(matches!(&error, rmcp::ServiceError::TransportSend(error) if failure::is_expired(error)), "{error:?}");
    let methods = server.seen();
    let count = |method: &str| methods.iter().filter(|seen| seen.method() == method).count();
    assert_eq!((count("initialize"), count("tools/call")), (1, 1));
}

#[tokio::test]
async fn a_call_that_may_have_been_processed_is_not_sent_again() {
    let (server, client) = started(odd(String::new)).await;
    call(&client, "odd").await.unwrap_err();
    assert_eq!(server.seen().iter().filter(|seen| seen.method() == "tools/call").count(), 1);
}

#[tokio::test]
async fn a_handshake_without_response_times_out() {
    for reply in [
        |_: &Seen| Reply::Never,
        |_: &Seen| {
            let (more, rest) = tokio::sync::mpsc::unbounded_channel();
            tokio::spawn(async move {
                while more.send(": still here\n\n".to_owned()).is_ok() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            });
            Reply::Open(
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n".to_owned(),
                rest,
            )
        },
    ] {
        let server = Server::start(reply).await;
        let (mut settings, endpoint) = settings(&server.url);
        settings.connect_timeout = Duration::from_millis(200);
        let client = HttpClient::new(&settings, &endpoint, &Context::default()).unwrap();
        let transport = open(&settings, &endpoint, client, None).unwrap();
        tokio::time::timeout(Duration::from_secs(5), ().serve(transport)).await.expect("it hangs").unwrap_err();
    }
}

#[tokio::test]
async fn messages_are_traced_without_headers() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let trace = Trace::to(Redactor::default(), move |line| sink.lock().unwrap().push(line.to_string()));
    let context = Context { trace, ..Context::default() };
    let server = Server::start(as_json).await;
    let client = ().serve(over_http(&format!("{}/?key=hush", server.url), &context)).await.unwrap();
    call(&client, "hello").await.unwrap();
    let lines = lines.lock().unwrap().join("\n");
    assert!(lines.contains("[mcp] test: → tools/call {") && lines.contains(r#""name":"hello""#), "{lines}");
    assert!(lines.contains("← answer 1 {\"content\""), "{lines}");
    assert!(!lines.contains("key-of-test") && !lines.contains("hush"), "{lines}");
}

#[tokio::test]
async fn a_configured_authorization_is_the_only_one() {
    for (configured, expected) in [(None, "Bearer token"), (Some("Basic abc"), "Basic abc")] {
        let server = Server::start(as_json).await;
        let (settings, mut endpoint) = settings(&server.url);
        endpoint.headers.extend(configured.map(|value| ("Authorization".to_owned(), Secret::new(value))));
        let client = HttpClient::new(&settings, &endpoint, &Context::default()).unwrap();
        let transport = open(&settings, &endpoint, client, Some(Secret::new("token"))).unwrap();
        ().serve(transport).await.unwrap().cancel().await.unwrap();
        for seen in server.seen() {
            let sent = seen.headers.iter().filter(|(name, _)| name == "authorization").map(|(_, value)| value.as_str());
            assert_eq!(sent.collect::<Vec<_>>(), [expected], "{}", seen.line);
        }
    }
}

#[tokio::test]
async fn streams_that_end_at_once_are_reopened_with_a_pause() {
    let (server, _client) = started(|seen| match seen.line.starts_with("GET") {
        true => Reply::Whole(response("200 OK", "text/event-stream", "retry: 0\n\n")),
        false => as_json(seen),
    })
    .await;
    tokio::time::sleep(Duration::from_millis(550)).await;
    let asked = server.seen().iter().filter(|seen| seen.line.starts_with("GET")).count();
    assert!((2..=7).contains(&asked), "{asked}");
}

#[tokio::test]
async fn errors_contain_no_secrets() {
    let (settings, endpoint) = settings("http://127.0.0.1:1/mcp?key=hush");
    let client = HttpClient::new(&settings, &endpoint, &Context::default()).unwrap();
    let transport = open(&settings, &endpoint, client.clone(), Some(Secret::new("token-hush"))).unwrap();
    let error = ().serve(transport).await.unwrap_err();
    let text = format!("{error} {error:?} {client:?}");
    assert!(text.contains("refused") && !text.contains("hush") && !text.contains("key-of-test"), "{text}");

    let endpoint = RemoteEndpoint { url: Secret::new("http://a.example/"), auth: Auth::None, ..endpoint };
    let refused = open(&settings, &endpoint, client, Some(Secret::new("token-hush"))).err().unwrap().to_string();
    assert!(refused.contains("use `https:`") && !refused.contains("hush"), "{refused}");
}
