//! Answers of the console: files, sign-in and sign-out.

use super::*;
use crate::session_log::{Recording, SessionChange};
use agent_spaces_http_server::{Callers, Client, Peer, Token, link};
use agent_spaces_types::caller::Caller;
use http::header::{CONTENT_TYPE, SET_COOKIE};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use std::sync::Mutex;

const OPERATOR: &str = "the-token-of-the-operator";
const ANN: &str = "the-token-of-ann-0001";

fn console() -> ConsoleRoutes {
    let mut callers = Callers::default();
    callers.add(Token::new(OPERATOR).unwrap(), Client::of_process(Caller::default())).unwrap();
    callers.add(Token::new(ANN).unwrap(), Client::named("ann", Caller::default())).unwrap();
    ConsoleRoutes::new(Sessions::new(&callers))
}

async fn send(console: &ConsoleRoutes, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let mut request = Request::builder().method(method).uri(path).header("host", "localhost:7878");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.extension(Peer("10.0.0.1".parse().unwrap()));
    console.answer(request.body(Full::new(Bytes::from(body.to_owned()))).unwrap()).await
}

/// Headers of the page.
const PAGE: &[(&str, &str)] = &[("x-agent-spaces-console", "1"), ("origin", "http://localhost:7878")];

async fn sign_in(console: &ConsoleRoutes, body: &Value) -> HttpResponse {
    send(console, "POST", SESSION, PAGE, &body.to_string()).await
}

async fn json_of(answer: HttpResponse) -> Value {
    serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

#[tokio::test]
async fn files_are_open_and_protected() {
    let console = console();
    for (path, kind) in [(PATH, "text/html; charset=utf-8"), ("/console/app.js", "text/javascript; charset=utf-8")] {
        assert_eq!(console.access(&Method::GET, path), Some(Access::Open));
        let answer = send(&console, "GET", path, &[], "").await;
        assert_eq!(answer.status(), StatusCode::OK);
        let header = |name: &str| answer.headers()[name].to_str().unwrap();
        assert_eq!((header("content-type"), header("cache-control")), (kind, "no-cache"));
        assert!(header("content-security-policy").starts_with("default-src 'none'; script-src 'self'; "));
        assert_eq!((header("x-frame-options"), header("x-content-type-options")), ("DENY", "nosniff"));
        assert_eq!((header("referrer-policy"), header("cross-origin-opener-policy")), ("no-referrer", "same-origin"));
    }
    let missing = send(&console, "GET", "/console/other.js", &[], "").await;
    assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    assert_eq!(missing.headers()[CONTENT_TYPE], "application/problem+json");
    assert!(missing.headers().contains_key("content-security-policy"));
    assert_eq!(send(&console, "PUT", "/console/app.js", PAGE, "x").await.status(), StatusCode::METHOD_NOT_ALLOWED);
}

#[tokio::test]
async fn the_root_leads_to_the_page() {
    let console = console();
    for path in ["/", "/console"] {
        let answer = send(&console, "GET", path, &[], "").await;
        assert_eq!((answer.status().as_u16(), answer.headers()[LOCATION].to_str().unwrap()), (307, PATH));
    }
    let access = |method: Method, path: &str| console.access(&method, path);
    assert_eq!((access(Method::GET, "/"), access(Method::POST, "/")), (Some(Access::Open), None));
    for other in ["/consoles", "/v1/console", "/mcp", "/console-x"] {
        assert_eq!(access(Method::GET, other), None, "{other}");
    }
}

#[tokio::test]
async fn a_token_or_a_link_begins_a_session() {
    let console = console();
    let answer = sign_in(&console, &json!({ "token": ANN })).await;
    assert_eq!(answer.status(), StatusCode::OK);
    assert!(!answer.headers()[SET_COOKIE].to_str().unwrap().contains("Secure"));
    let version = env!("CARGO_PKG_VERSION");
    let ann = json!({ "name": "ann", "operator": false, "mayApprove": false, "version": version });
    assert_eq!(json_of(answer).await, ann);

    let link = json!({ "link": link(&Token::new(OPERATOR).unwrap()).unwrap() });
    let answer = sign_in(&console, &link).await;
    let operator = json!({ "name": "the operator", "operator": true, "mayApprove": true, "version": version });
    assert_eq!(json_of(answer).await, operator);
    let again = sign_in(&console, &link).await;
    assert_eq!((again.status(), again.headers().get(SET_COOKIE)), (StatusCode::UNAUTHORIZED, None));

    let over_https =
        [("x-agent-spaces-console", "1"), ("sec-fetch-site", "same-origin"), ("origin", "https://x.example")];
    let answer = send(&console, "POST", SESSION, &over_https, &json!({ "token": ANN }).to_string()).await;
    assert!(answer.headers()[SET_COOKIE].to_str().unwrap().ends_with("; Secure"));
}

#[tokio::test]
async fn another_site_cannot_sign_anyone_in_or_out() {
    let console = console();
    let body = json!({ "token": ANN }).to_string();
    for headers in [
        &[("origin", "http://localhost:7878")][..],
        &[("x-agent-spaces-console", "1"), ("origin", "http://localhost:3000")],
        &[("x-agent-spaces-console", "1"), ("sec-fetch-site", "same-site")],
    ] {
        for method in ["POST", "DELETE"] {
            let answer = send(&console, method, SESSION, headers, &body).await;
            assert_eq!(
                (answer.status(), answer.headers().get(SET_COOKIE)),
                (StatusCode::FORBIDDEN, None),
                "{headers:?}"
            );
        }
    }
}

#[tokio::test]
async fn signing_out_removes_the_cookie() {
    let answer = send(&console(), "DELETE", SESSION, PAGE, "").await;
    assert_eq!(answer.status(), StatusCode::NO_CONTENT);
    assert!(answer.headers()[SET_COOKIE].to_str().unwrap().ends_with("Max-Age=0"));
}

#[tokio::test]
async fn failed_sign_ins_are_limited_and_wrong_bodies_refused() {
    let console = console();
    let odd = [
        json!({}),
        json!({ "token": ANN, "link": "x" }),
        json!({ "token": 1 }),
        json!({ "token": ANN, "x": 1 }),
        json!(1),
    ];
    for odd in odd {
        let answer = sign_in(&console, &odd).await;
        assert_eq!(answer.status(), StatusCode::BAD_REQUEST, "{odd}");
        assert!(!json_of(answer).await.to_string().contains(ANN));
    }
    let long = json!({ "token": "x".repeat(10_000) });
    assert_eq!(sign_in(&console, &long).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
    for _ in 0..10 {
        let answer = sign_in(&console, &json!({ "token": "the-token-of-nobody" })).await;
        assert_eq!((answer.status(), answer.headers().get(SET_COOKIE)), (StatusCode::UNAUTHORIZED, None));
    }
    let answer = sign_in(&console, &json!({ "token": ANN })).await;
    assert_eq!((answer.status(), answer.headers().get(SET_COOKIE)), (StatusCode::TOO_MANY_REQUESTS, None));
    assert!(answer.headers().contains_key("retry-after"));
}

/// Log that can be written only so often.
struct Log {
    left: Mutex<usize>,
    written: Mutex<Vec<(String, SessionChange)>>,
}

impl SessionLog for Log {
    fn record<'a>(&'a self, client: &'a Client, change: SessionChange) -> Recording<'a> {
        Box::pin(async move {
            let mut left = self.left.lock().unwrap();
            let is_written = *left > 0;
            *left = left.saturating_sub(1);
            self.written.lock().unwrap().push((client.owner().to_owned(), change));
            is_written
        })
    }
}

#[tokio::test]
async fn sessions_are_recorded_and_none_begins_without_a_record() {
    let log = Arc::new(Log { left: Mutex::new(1), written: Mutex::default() });
    let console = console().with_log(log.clone());
    sign_in(&console, &json!({ "token": "the-token-of-nobody" })).await;
    let answer = sign_in(&console, &json!({ "token": ANN })).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let cookie = answer.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let own = [PAGE, &[("cookie", cookie.as_str())][..]].concat();
    // Twice: the second time there is no session.
    for _ in 0..2 {
        assert_eq!(send(&console, "DELETE", SESSION, &own, "").await.status(), StatusCode::NO_CONTENT);
    }
    let refused = sign_in(&console, &json!({ "token": ANN })).await;
    assert_eq!((refused.status(), refused.headers().get(SET_COOKIE)), (StatusCode::SERVICE_UNAVAILABLE, None));
    let expected = [SessionChange::Created, SessionChange::Ended, SessionChange::Created];
    assert_eq!(*log.written.lock().unwrap(), expected.map(|change| ("ann".to_owned(), change)));
}
