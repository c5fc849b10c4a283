//! Tests of responses and errors.

use super::{Reply, SECRET, Server, call};
use crate::error::ProviderError;
use serde_json::{Value, json};

async fn answer(http: Value, head: &'static str, body: &'static str) -> Result<Value, ProviderError> {
    let server = Server::start(move |_| Reply::new(head, body)).await;
    call(&server, http, json!({ "a": "Bern" })).await
}

fn plain() -> Value {
    json!({ "path": "/" })
}

const JSON: &str = "200 OK\r\ncontent-type: application/json";

#[tokio::test]
async fn the_value_follows_the_media_type() {
    for (head, body, expected) in [
        (JSON, r#"{"a":1}"#, json!({ "a": 1 })),
        ("200 OK\r\ncontent-type: application/problem+json", "[]", json!([])),
        ("200 OK\r\ncontent-type: text/plain", "[]", json!("[]")),
        ("200 OK\r\ncontent-type: image/png", "\x01\x02", json!("AQI=")),
        ("200 OK", "{\"a\":1}", json!({ "a": 1 })),
        ("200 OK", "hello", json!("hello")),
        ("204 None", "", Value::Null),
        (JSON, "", Value::Null),
    ] {
        assert_eq!(answer(plain(), head, body).await, Ok(expected), "{head}");
    }
}

#[tokio::test]
async fn the_definition_can_select_the_value() {
    let read = |response: &str| json!({ "path": "/", "response": response });
    assert_eq!(answer(read("json"), "200 OK\r\ncontent-type: text/html", "[1]").await, Ok(json!([1])));
    assert_eq!(answer(read("text"), JSON, "[1]").await, Ok(json!("[1]")));
    assert_eq!(answer(read("bytes"), JSON, "[1]").await, Ok(json!("WzFd")));
    let picked = json!({ "path": "/", "result": "/data/0" });
    assert_eq!(answer(picked.clone(), JSON, r#"{"data":[7]}"#).await, Ok(json!(7)));
    let error = answer(picked, JSON, r#"{"data":[]}"#).await.unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("call.protocol", "The answer has nothing at \"/data/0\"")
    );
}

#[tokio::test]
async fn invalid_json_is_a_protocol_error() {
    for (http, head) in [
        (plain(), JSON),
        (json!({ "path": "/", "response": "json" }), "200 OK\r\ncontent-type: text/html"),
        (json!({ "path": "/", "result": "" }), "200 OK"),
    ] {
        let error = answer(http, head, "<html>").await.unwrap_err();
        assert_eq!((error.code.as_str(), error.details), ("call.protocol", Some(json!({ "status": 200 }))), "{head}");
        assert!(error.message.starts_with("The answer is not JSON"), "{}", error.message);
    }
}

#[tokio::test]
async fn an_error_has_its_status_and_body() {
    let error =
        answer(plain(), "404 Not Found\r\ncontent-type: application/json", r#"{"why":"gone"}"#).await.unwrap_err();
    assert_eq!((error.code.as_str(), error.message.as_str()), ("call.failed", "The server answered 404 Not Found"));
    assert_eq!(error.details, Some(json!({ "status": 404, "body": { "why": "gone" } })));
    assert!(!error.retryable);
    let odd = answer(plain(), "599 Odd\r\ncontent-type: image/png", "x").await.unwrap_err();
    assert_eq!((odd.message.as_str(), odd.details), ("The server answered 599", Some(json!({ "status": 599 }))));
    let unchanged = answer(plain(), "304 Not Modified", "").await.unwrap_err();
    assert_eq!(unchanged.details, Some(json!({ "status": 304 })));
}

#[tokio::test]
async fn transient_errors_are_retryable() {
    for (status, is_retryable) in
        [(400, false), (408, true), (429, true), (500, false), (502, true), (503, true), (504, true)]
    {
        let server = Server::start(move |_| Reply::new(&format!("{status} x\r\nretry-after: 30"), "")).await;
        let error = call(&server, plain(), json!({})).await.unwrap_err();
        assert_eq!(error.retryable, is_retryable, "{status}");
        assert_eq!(error.details, Some(json!({ "status": status, "retryAfter": 30 })));
    }
}

#[tokio::test]
async fn errors_follow_the_definition() {
    let http = json!({ "path": "/", "errors": {
        "404": { "code": "weather.no_such_city", "message": "No such city: {{a}}" },
        "4xx": { "from": "/error/message", "message": "Refused", "retryable": true },
        "*": { "message": "Try {{b}}" },
    } });
    let said = |error: ProviderError| (error.code, error.message, error.retryable);
    let of = |code: &str, message: &str, retryable: bool| (code.to_owned(), message.to_owned(), retryable);
    let error = answer(http.clone(), "404 x", "").await.unwrap_err();
    assert_eq!(said(error), of("weather.no_such_city", "No such city: Bern", false));
    let error = answer(http.clone(), "422 x", r#"{"error":{"message":"Too cold"}}"#).await.unwrap_err();
    assert_eq!(said(error), of("call.failed", "Too cold", true));
    let error = answer(http.clone(), "422 x", "not json").await.unwrap_err();
    assert_eq!(said(error), of("call.failed", "Refused", true));
    let error = answer(http, "503 x", "").await.unwrap_err();
    assert_eq!(said(error), of("call.failed", "The server answered 503 Service Unavailable", true));
}

#[tokio::test]
async fn error_bodies_are_truncated() {
    let long = |body: String| async move {
        let server = Server::start(move |_| Reply::new("500 x\r\ncontent-type: text/plain", &body)).await;
        let http = json!({ "path": "/", "errors": { "*": { "from": "/m" } } });
        call(&server, http, json!({})).await.unwrap_err()
    };
    let text = long("ä".repeat(30_000)).await;
    assert_eq!(text.details.unwrap()["body"].as_str().unwrap().len(), (4 << 10) + "…".len());
    let said = long(json!({ "m": "x".repeat(30_000) }).to_string()).await;
    assert_eq!(said.message.len(), 1_000);
}

#[tokio::test]
async fn truncation_of_an_error_leaves_no_partial_secret() {
    let http = json!({ "path": "/", "errors": { "*": { "from": "/m" } } });
    let (http, long) = (&http, "x".repeat(30_000));
    let told = async |head: &'static str, body: String| {
        let server = Server::start(move |_| Reply::new(head, &body)).await;
        format!("{:?}", call(&server, http.clone(), json!({})).await.unwrap_err())
    };
    for before in [4_096 - 8, 4_096 - SECRET.len() + 1, 1_000 - 8, 1_000 - SECRET.len() + 1] {
        let text = format!("{}{SECRET}{long}", "x".repeat(before));
        for told in [
            told("500 x\r\ncontent-type: text/plain", text.clone()).await,
            told("500 x\r\ncontent-type: application/json", json!({ "m": text }).to_string()).await,
        ] {
            assert!(!told.contains("open-se"), "{before}: {told}");
        }
    }
}
