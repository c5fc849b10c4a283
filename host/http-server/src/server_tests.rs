//! Access, refusals, limits and shutdown of a server with small parts.

use super::*;
use crate::listen::{Settings, serve};
use crate::responses::text_response;
use crate::routes::{Handling, Stopping};
use crate::token::Token;
use agent_spaces_types::caller::Caller;
use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

const OPERATOR: &str = "the-token-of-the-operator";
const ANN: &str = "the-token-of-ann-0001";

/// Part with one path. `/slow` takes a while, `/stream` ends when the part is closed, `/busy` refuses.
struct Part {
    path: &'static str,
    access: Access,
    closing: CancellationToken,
}

impl Routes for Part {
    fn access(&self, _method: &Method, path: &str) -> Option<Access> {
        (path == self.path).then_some(self.access)
    }

    fn handle<'a>(&'a self, _request: Request<Incoming>, caller: Option<Authenticated<'a>>) -> Handling<'a> {
        Box::pin(async move {
            match self.path {
                "/stream" => {
                    let stream = Endless { is_begun: false, closing: Box::pin(self.closing.clone().cancelled_owned()) };
                    let mut response = Response::new(stream.boxed());
                    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
                    return response;
                }
                "/slow" => tokio::time::sleep(Duration::from_millis(500)).await,
                "/busy" => return text_response(StatusCode::TOO_MANY_REQUESTS, "busy"),
                _ => {}
            }
            let caller = caller.map_or("anyone".to_owned(), |caller| format!("caller {:?}", caller.client.owner()));
            text_response(StatusCode::OK, &format!("answer to {caller}"))
        })
    }

    fn refuse(&self, refusal: &Refusal) -> HttpResponse {
        text_response(refusal.status(), &format!("{} says: {refusal}", self.path))
    }

    fn close(&self) -> Stopping<'_> {
        Box::pin(async { self.closing.cancel() })
    }
}

/// Body of a stream that ends only when its part is closed.
struct Endless {
    is_begun: bool,
    closing: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if !self.is_begun {
            self.is_begun = true;
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"begun")))));
        }
        self.closing.as_mut().poll(context).map(|()| None)
    }
}

/// Running server.
struct Served {
    address: SocketAddr,
    stop: CancellationToken,
    /// Ends the delay between the notice of the shutdown and the shutdown.
    hurry: CancellationToken,
    sessions: Sessions,
    serving: JoinHandle<()>,
}

impl Served {
    async fn start(limits: Limits) -> Served {
        Served::delayed(limits, Duration::ZERO).await
    }

    /// Starts a server that gives notice of its shutdown.
    async fn delayed(limits: Limits, delay: Duration) -> Served {
        let mut callers = Callers::default();
        callers.add(Token::new(OPERATOR).unwrap(), Client::of_process(Caller::default())).unwrap();
        callers.add(Token::new(ANN).unwrap(), Client::named("ann", Caller::default())).unwrap();
        let part =
            |path, access| -> Arc<dyn Routes> { Arc::new(Part { path, access, closing: CancellationToken::new() }) };
        let parts = vec![
            part("/caller", Access::Caller),
            part("/open", Access::Open),
            part("/operator", Access::Operator),
            part("/slow", Access::Caller),
            part("/busy", Access::Caller),
            part("/stream", Access::Caller),
        ];
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
        let sessions = Sessions::new(&callers);
        let mut settings = Settings::new(callers, OriginCheck::new(false));
        settings.limits = limits;
        settings.sessions = Some(sessions.clone());
        let (stopped, hurry) = (stop.clone().cancelled_owned(), CancellationToken::new());
        let (notice, hurried) = (settings.stop_notice.clone(), hurry.clone().cancelled_owned());
        let stopping = async move {
            stopped.await;
            notice.give(delay, hurried).await;
        };
        let serving = tokio::spawn(serve(listener, settings, parts, stopping));
        Served { address, stop, hurry, sessions, serving }
    }

    /// Sends a request whose connection stays open.
    async fn open(&self, path: &str, headers: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let head = format!("GET {path} HTTP/1.1\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }

    /// Sends a request and returns the whole response.
    async fn get(&self, path: &str, headers: &str) -> String {
        whole(self.open(path, &format!("host: localhost\r\nconnection: close\r\n{headers}")).await).await
    }

    /// Returns the line of the cookie with which a browser sends requests after a sign-in.
    fn cookie(&self, token: &str) -> String {
        let set = self.sessions.sign_in(token, false).unwrap().set_cookie;
        format!("cookie: {}\r\n", set.to_str().unwrap().split(';').next().unwrap())
    }
}

async fn whole(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

/// Reads until a text was received.
async fn read_until(stream: &mut TcpStream, wanted: &str) {
    let mut text = String::new();
    while !text.contains(wanted) {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).await.unwrap();
        assert_ne!(count, 0, "{text}");
        text.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

fn assert_answer(response: &str, status: u16, text: &str) {
    assert!(response.starts_with(&format!("HTTP/1.1 {status} ")) && response.contains(text), "{status}: {response}");
}

#[tokio::test]
async fn a_path_is_open_or_for_callers_or_for_the_operator() {
    let served = Served::start(Limits::default()).await;
    assert_answer(&served.get("/open", "").await, 200, "answer to anyone");
    assert_answer(&served.get("/caller", &bearer(ANN)).await, 200, "answer to caller \"ann\"");
    assert_answer(&served.get("/operator", &bearer(OPERATOR)).await, 200, "answer to caller \"\"");
    assert_answer(&served.get("/operator", &bearer(ANN)).await, 403, "/operator says: Not allowed");
    for path in ["/caller", "/operator"] {
        for headers in [String::new(), bearer("the-token-of-nobody")] {
            let refused = served.get(path, &headers).await;
            assert_answer(&refused, 401, &format!("{path} says: Missing or unknown"));
            assert!(refused.contains("www-authenticate: Bearer"), "{refused}");
        }
    }
}

#[tokio::test]
async fn a_session_is_a_callers_token_for_pages_of_the_server_alone() {
    let served = Served::start(Limits::default()).await;
    let (ann, page) = (served.cookie(ANN), "x-agent-spaces-console: 1\r\n");
    assert_answer(&served.get("/caller", &format!("{ann}{page}")).await, 200, "answer to caller \"ann\"");
    assert_answer(&served.get("/operator", &format!("{ann}{page}")).await, 403, "/operator says: Not allowed");
    let operator = served.cookie(OPERATOR);
    assert_answer(&served.get("/operator", &format!("{operator}{page}")).await, 200, "answer to caller \"\"");
    assert_answer(&served.get("/caller", &ann).await, 401, "/caller says: Missing or unknown");
    for other in ["origin: http://localhost:3000\r\n", "sec-fetch-site: cross-site\r\n"] {
        assert_answer(&served.get("/caller", &format!("{ann}{page}{other}")).await, 401, "Missing or unknown");
    }
    assert_answer(&served.get("/caller", &format!("{ann}{page}origin: http://localhost\r\n")).await, 200, "ann");
    // Streams are read with `fetch`, which sends the header too.
    let mut stream = served.open("/stream", &format!("host: localhost\r\n{ann}{page}")).await;
    read_until(&mut stream, "begun").await;
    let refused = served.get("/stream", &ann).await;
    assert_answer(&refused, 401, "/stream says: Missing or unknown");
}

#[tokio::test]
async fn a_token_wins_over_a_session_of_the_same_caller_alone() {
    let served = Served::start(Limits::default()).await;
    let page = "x-agent-spaces-console: 1\r\n";
    let both = |token: &str, cookie: &str| format!("{}{cookie}{page}", bearer(token));
    let (ann, operator) = (served.cookie(ANN), served.cookie(OPERATOR));
    assert_answer(&served.get("/caller", &both(ANN, &ann)).await, 200, "answer to caller \"ann\"");
    assert_answer(&served.get("/caller", &both(ANN, &operator)).await, 401, "Missing or unknown");
    assert_answer(&served.get("/caller", &both("the-token-of-nobody", &ann)).await, 401, "Missing or unknown");
    // A cookie that does not count changes nothing for a program with a token.
    assert_answer(&served.get("/caller", &both(ANN, "cookie: agent_spaces_session=v1.x\r\n")).await, 200, "ann");
    assert_answer(&served.get("/caller", &format!("{}{operator}", bearer(ANN))).await, 200, "ann");
}

#[tokio::test]
async fn a_stream_ends_with_the_session_that_opened_it() {
    let served = Served::start(Limits::default()).await;
    let page = "x-agent-spaces-console: 1\r\n";
    let (first, second) = (served.cookie(ANN), served.cookie(ANN));
    let open = async |headers: &str| {
        let head = format!("host: localhost\r\nconnection: close\r\n{page}{headers}");
        let mut stream = served.open("/stream", &head).await;
        read_until(&mut stream, "begun").await;
        stream
    };
    let (ending, other) = (open(&first).await, open(&second).await);
    let with_token = open(&format!("{}{first}", bearer(ANN))).await;
    let mut headers = HeaderMap::new();
    headers.insert("host", HeaderValue::from_static("localhost"));
    headers.insert("x-agent-spaces-console", HeaderValue::from_static("1"));
    headers.insert("cookie", first.trim_end().strip_prefix("cookie: ").unwrap().parse().unwrap());
    assert!(served.sessions.sign_out(&"/console/session".parse().unwrap(), &headers).0.is_some());
    let rest = tokio::time::timeout(Duration::from_secs(10), whole(ending)).await.unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "{rest:?}");
    for stream in [other, with_token] {
        assert!(tokio::time::timeout(Duration::from_millis(200), whole(stream)).await.is_err(), "it goes on");
    }
    assert_answer(&served.get("/stream", &format!("{page}{first}")).await, 401, "Missing or unknown");
}

#[tokio::test]
async fn wrong_tokens_of_an_address_are_limited_and_right_ones_are_not() {
    let served = Served::start(Limits::default()).await;
    // No token, and one of another caller than the session, are no guesses.
    let both = format!("{}{}x-agent-spaces-console: 1\r\n", bearer(ANN), served.cookie(OPERATOR));
    for _ in 0..20 {
        assert_answer(&served.get("/caller", "").await, 401, "Missing or unknown");
        assert_answer(&served.get("/caller", &both).await, 401, "Missing or unknown");
    }
    let wrong = bearer("the-token-of-nobody");
    for _ in 0..10 {
        assert_answer(&served.get("/caller", &wrong).await, 401, "Missing or unknown");
    }
    for path in ["/caller", "/operator"] {
        let refused = served.open(path, &format!("host: localhost\r\n{wrong}")).await;
        let refused = whole(refused).await;
        assert_answer(&refused, 429, &format!("{path} says: Too many wrong tokens"));
        assert!(refused.contains("connection: close") && !refused.contains("www-authenticate"), "{refused}");
        let (_, wait) = refused.split_once("retry-after: ").unwrap();
        let wait: u64 = wait.split_once("\r\n").unwrap().0.parse().unwrap();
        assert!((1..=61).contains(&wait), "{refused}");
    }
    assert_answer(&served.get("/caller", &bearer(ANN)).await, 200, "answer to caller \"ann\"");
    assert_answer(&served.get("/operator", &bearer(OPERATOR)).await, 200, "answer");
    let session = format!("{}x-agent-spaces-console: 1\r\n", served.cookie(ANN));
    assert_answer(&served.get("/caller", &session).await, 200, "answer to caller \"ann\"");
    assert_answer(&served.get("/caller", "").await, 401, "Missing or unknown");
    assert_answer(&served.get("/open", &wrong).await, 200, "answer to anyone");
}

#[tokio::test]
async fn a_refusal_is_rendered_by_the_part_of_its_path_or_the_first() {
    let served = Served::start(Limits::default()).await;
    assert_answer(&served.get("/none", "").await, 404, "/caller says: Not found");
    assert_answer(&served.get("/open", "origin: https://evil.example\r\n").await, 403, "/open says: Origin header");
    let foreign = served.open("/open", "host: evil.example\r\nconnection: close\r\n").await;
    assert_answer(&whole(foreign).await, 403, "/open says: Host header");
    let long = format!("x-long: {}\r\n", "x".repeat(MAX_HEAD));
    assert_answer(&served.get("/open", &long).await, 431, "/open says: Request headers too large");
}

#[tokio::test]
async fn connection_limits_are_settings() {
    let served = Served::start(Limits { of_caller: 1, ..Limits::default() }).await;
    let headers = format!("host: localhost\r\n{}", bearer(ANN));
    let mut first = served.open("/caller", &headers).await;
    read_until(&mut first, "answer").await;
    // The server closes it, though the client did not ask for that.
    let refused = whole(served.open("/caller", &headers).await).await;
    assert_answer(&refused, 429, "/caller says: Too many connections");
    assert_answer(&served.get("/operator", &bearer(OPERATOR)).await, 200, "answer");
    drop(first);
}

#[tokio::test]
async fn shutdown_waits_for_requests_and_closes_streams() {
    let served = Served::start(Limits::default()).await;
    let headers = format!("host: localhost\r\n{}", bearer(ANN));
    let mut stream = served.open("/stream", &headers).await;
    read_until(&mut stream, "begun").await;
    let slow = served.open("/slow", &headers).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let began = Instant::now();
    served.stop.cancel();
    assert_answer(&whole(slow).await, 200, "answer");
    whole(stream).await;
    served.serving.await.unwrap();
    // A stream is closed when the requests are answered, not after the drain timeout.
    assert!(began.elapsed() < crate::listen::DRAIN_TIMEOUT, "{:?}", began.elapsed());
}

#[tokio::test]
async fn connections_are_accepted_between_the_notice_and_the_shutdown_and_closed_after_an_answer() {
    let served = Served::delayed(Limits::default(), Duration::from_secs(60)).await;
    let headers = format!("host: localhost\r\n{}", bearer(ANN));
    let mut kept = served.open("/caller", &headers).await;
    read_until(&mut kept, "answer").await;
    served.stop.cancel();
    tokio::time::sleep(Duration::from_millis(100)).await;
    let request = format!("GET /caller HTTP/1.1\r\n{headers}\r\n");
    kept.write_all(request.as_bytes()).await.unwrap();
    for connection in [kept, served.open("/caller", &headers).await] {
        let answer = whole(connection).await;
        // The end of the first answer may come before.
        assert!(answer.contains("HTTP/1.1 200 OK") && answer.contains("answer to caller"), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
    assert!(!served.serving.is_finished());
    served.hurry.cancel();
    served.serving.await.unwrap();
    assert!(TcpStream::connect(served.address).await.is_err());
}

#[tokio::test]
async fn a_caller_that_is_refused_over_and_over_is_answered_late() {
    let served = Served::start(Limits::default()).await;
    let began = Instant::now();
    for _ in 0..=20 {
        assert_answer(&served.get("/busy", &bearer(ANN)).await, 429, "busy");
    }
    assert!(began.elapsed() >= HELD_FOR, "{:?}", began.elapsed());
}

#[tokio::test]
async fn shutdown_sends_held_answers_and_does_not_wait() {
    // Notice is given long before the shutdown.
    let served = Served::delayed(Limits::default(), Duration::from_secs(60)).await;
    for _ in 0..20 {
        assert_answer(&served.get("/busy", &bearer(ANN)).await, 429, "busy");
    }
    let held = served.open("/busy", &format!("host: localhost\r\n{}", bearer(ANN))).await;
    // Other answers are not held, nor are those to others.
    assert_answer(&served.get("/caller", &bearer(ANN)).await, 200, "answer");
    assert_answer(&served.get("/busy", &bearer(OPERATOR)).await, 429, "busy");
    let began = Instant::now();
    served.stop.cancel();
    let answer = whole(held).await;
    assert_answer(&answer, 429, "busy");
    assert!(answer.contains("connection: close"), "{answer}");
    served.hurry.cancel();
    served.serving.await.unwrap();
    assert!(began.elapsed() < HELD_FOR * 3 / 4, "{:?}", began.elapsed());
}
