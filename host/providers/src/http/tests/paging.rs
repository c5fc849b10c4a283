//! Tests of pagination.

use super::{HttpProvider, Reply, SECRET, Server, call, operation, policy, trusted};
use agent_spaces_secrets::Redactor;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

fn page(seen: &super::Seen) -> usize {
    let query = seen.target.split_once("page=").map(|(_, rest)| rest.split('&').next().unwrap_or_default());
    query.and_then(|page| page.parse().ok()).unwrap_or(0)
}

fn pages(pages: Value) -> Value {
    json!({ "path": "/items", "query": { "size": "{{a}}" }, "pages": pages })
}

fn cursor() -> Value {
    pages(json!({ "items": "/items", "next": "/next", "parameter": "page", "max": 5 }))
}

#[tokio::test]
async fn pages_are_followed_by_cursor() {
    let server = Server::start(|seen| {
        let number = page(seen);
        Reply::json(json!({ "items": [number], "next": if number < 2 { json!(number + 1) } else { Value::Null } }))
    })
    .await;
    assert_eq!(call(&server, cursor(), json!({ "a": 9 })).await, Ok(json!([0, 1, 2])));
    let targets: Vec<String> = server.seen().into_iter().map(|seen| seen.target).collect();
    assert_eq!(targets, ["/v1/items?size=9", "/v1/items?size=9&page=1", "/v1/items?size=9&page=2"]);
}

#[tokio::test]
async fn pages_are_followed_by_url_or_link_header() {
    let server = Server::start(|seen| match page(seen) {
        0 => Reply::json(json!({ "items": ["a"], "next": "/v1/items?page=1" })),
        1 => Reply::json(json!({ "items": ["b"], "next": "?page=2" })),
        _ => Reply::json(json!({ "items": ["c"], "next": "" })),
    })
    .await;
    let http = pages(json!({ "items": "/items", "next": "/next" }));
    assert_eq!(call(&server, http, json!({})).await, Ok(json!(["a", "b", "c"])));
    let server = Server::start(|seen| {
        let link = match page(seen) {
            0 => {
                "\r\nlink: </v1/items?page=9,9>; title=\"a, <b>; rel=next \\\", c\"; rel=\"last\", \
                 </v1/items?page=1>; title=\"x; y\"; rel=\"prev next\""
            }
            _ => "\r\nlink: </v1/items>; rel=first",
        };
        Reply::new(&format!("200 OK{link}"), format!("[{}]", page(seen)))
    })
    .await;
    let http = pages(json!({ "items": "", "link": true }));
    assert_eq!(call(&server, http, json!({})).await, Ok(json!([0, 1])));
}

#[tokio::test]
async fn endless_pagination_is_stopped() {
    let server = Server::start(|seen| Reply::json(json!({ "items": [page(seen)], "next": page(seen) + 1 }))).await;
    assert_eq!(call(&server, cursor(), json!({})).await, Ok(json!([0, 1, 2, 3, 4])));
    let circle = Server::start(|_| Reply::json(json!({ "items": [1], "next": "same" }))).await;
    let error = call(&circle, cursor(), json!({})).await.unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("call.protocol", "Pagination loop: a page of the answer repeats")
    );
    assert_eq!(circle.seen().len(), 2);
    let large =
        Server::start(|seen| Reply::json(json!({ "items": ["x".repeat(30 << 10)], "next": page(seen) + 1 }))).await;
    let error = call(&large, cursor(), json!({})).await.unwrap_err();
    assert!(error.message.starts_with("The pages together exceed the maximum of 65536 bytes"), "{error:?}");
}

#[tokio::test]
async fn a_page_on_another_server_is_not_requested() {
    let other = Server::start(|_| Reply::json(json!({ "items": [], "next": null }))).await;
    let port = other.origin().rsplit(':').next().unwrap().to_owned();
    for next in [
        other.url("/stolen"),
        format!("//localhost:{port}/stolen"),
        format!("\\\\localhost:{port}\\stolen"),
        "https://localhost/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        let said = next.clone();
        let own = Server::start(move |_| Reply::json(json!({ "items": [1], "next": said }))).await;
        let request = operation(&own, pages(json!({ "items": "/items", "next": "/next" })));
        let error = trusted(&own).call(&request, &json!({}), None).await.unwrap_err();
        assert_eq!(error.code, "call.denied", "{next}");
        assert!(!format!("{error:?}").contains(SECRET));
    }
    assert_eq!(other.seen().len(), 0);
}

#[tokio::test]
async fn every_page_request_has_the_credentials_once() {
    let own = Server::start(|seen| {
        let next = if page(seen) == 0 { "/v1/items?page=1&api_key=theirs" } else { "" };
        Reply::json(json!({ "items": [page(seen)], "next": next }))
    })
    .await;
    let request = operation(&own, pages(json!({ "items": "/items", "next": "/next" })));
    assert_eq!(trusted(&own).call(&request, &json!({}), None).await, Ok(json!([0, 1])));
    assert_eq!(own.seen()[1].target, format!("/v1/items?page=1&api_key={SECRET}"));
    assert!(own.seen()[1].header("authorization").is_some());
}

#[tokio::test]
async fn a_page_without_a_list_is_a_protocol_error() {
    for (body, message) in [
        (json!({ "items": 1 }), "The answer has no list at \"/items\""),
        (json!({}), "The answer has nothing at \"/items\""),
    ] {
        let server = Server::start(move |_| Reply::json(body.clone())).await;
        let error = call(&server, cursor(), json!({})).await.unwrap_err();
        assert_eq!((error.code.as_str(), error.message.as_str()), ("call.protocol", message));
    }
    let failing = Server::start(|seen| match page(seen) {
        0 => Reply::json(json!({ "items": [1], "next": 1 })),
        _ => Reply::new("503 x", ""),
    })
    .await;
    let error = call(&failing, cursor(), json!({})).await.unwrap_err();
    assert_eq!((error.code.as_str(), error.retryable), ("call.failed", true), "a part of a list is no list");
}

#[tokio::test]
async fn a_relative_url_is_resolved_against_the_response_url() {
    let server = Server::start(|seen| match seen.target.split('?').next().unwrap_or_default() {
        "/v1/items" => Reply::new("302 x\r\nlocation: /v2/list/all", ""),
        "/v2/list/all" => Reply::json(json!({ "items": ["a"], "next": "more" })),
        "/v2/list/more" => Reply::json(json!({ "items": ["b"] })),
        _ => Reply::new("404 x", ""),
    })
    .await;
    let http = pages(json!({ "items": "/items", "next": "/next" }));
    assert_eq!(call(&server, http, json!({})).await, Ok(json!(["a", "b"])));
}

#[tokio::test]
async fn slow_pages_time_out_with_the_calls_timeout() {
    let server = Server::start(|seen| {
        std::thread::sleep(Duration::from_millis(150));
        Reply::json(json!({ "items": [1], "next": page(seen) + 1 }))
    })
    .await;
    let provider = HttpProvider::new(policy(), BTreeMap::new(), Duration::from_millis(400), &Redactor::default());
    let error = provider.call(&operation(&server, cursor()), &json!({}), None).await.unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.message.as_str()),
        ("call.timeout", "Timed out: no complete answer within 400 ms")
    );
}
