//! Credentials are sent only to their origin.

use super::{Reply, SECRET, Server, operation, trusted};
use crate::http::{CredentialError, Credentials};
use serde_json::json;

fn has_secret(text: &str) -> bool {
    text.contains(SECRET)
}

#[tokio::test]
async fn credentials_are_added_to_requests_to_their_origin() {
    let server = Server::start(|_| Reply::json(json!(1))).await;
    let http = json!({ "path": "/", "query": { "a": "{{a}}", "api_key": "{{b}}" } });
    trusted(&server).call(&operation(&server, http), &json!({ "a": 1, "b": "mine" }), None).await.unwrap();
    let seen = server.seen().remove(0);
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert_eq!(seen.target, format!("/v1/?a=1&api_key={SECRET}"), "and take the place of a script's");
}

#[tokio::test]
async fn another_origin_gets_none_of_them() {
    let (own, other) = (Server::start(|_| Reply::json(json!(1))).await, Server::start(|_| Reply::json(json!(1))).await);
    let provider = trusted(&own);
    provider.call(&operation(&other, json!({ "path": "/" })), &json!({}), None).await.unwrap();
    let seen = other.seen().remove(0);
    assert!(!has_secret(&format!("{seen:?}")), "{seen:?}");
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed_with_credentials() {
    let other = Server::start(|_| Reply::json(json!(1))).await;
    for status in ["301", "302", "303", "307", "308"] {
        let to = other.url("/stolen");
        let own = Server::start(move |_| Reply::new(&format!("{status} Elsewhere\r\nlocation: {to}"), "")).await;
        let request = operation(&own, json!({ "path": "/" }));
        let error = trusted(&own).call(&request, &json!({}), None).await.unwrap_err();
        assert_eq!(error.code, "call.denied");
        assert!(error.message.contains("another server") && !has_secret(&format!("{error:?}")), "{error:?}");
    }
    assert_eq!(other.seen().len(), 0);
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed() {
    let own = Server::start(|seen| match seen.target.starts_with("/v1/new") {
        true => Reply::json(json!("moved")),
        false => Reply::new("307 Elsewhere\r\nlocation: /v1/new", ""),
    })
    .await;
    let request = operation(&own, json!({ "path": "/old" }));
    assert_eq!(trusted(&own).call(&request, &json!({}), None).await, Ok(json!("moved")));
    assert!(own.seen()[1].header("authorization").is_some_and(has_secret));
}

#[tokio::test]
async fn errors_and_debug_output_show_no_credentials() {
    let own = Server::start(|_| Reply::new("500 Broken", "oops")).await;
    let provider = trusted(&own);
    let error = provider.call(&operation(&own, json!({ "path": "/" })), &json!({}), None).await.unwrap_err();
    assert!(!has_secret(&format!("{error:?}")), "{error:?}");
    let broken = Server::start(|_| Reply::new("", "")).await;
    let error = trusted(&broken).call(&operation(&broken, json!({ "path": "/" })), &json!({}), None).await.unwrap_err();
    assert!(!has_secret(&format!("{error:?}")), "{error:?}");
    let debug = format!("{:?}", provider.origins);
    assert!(debug.contains("api_key") && !has_secret(&debug), "{debug}");
}

#[test]
fn credentials_that_cannot_be_sent_are_refused_without_being_shown() {
    let mut credentials = Credentials::default();
    let bad = credentials.add_header("X-Key", "a-secret\r\nX: y").unwrap_err();
    assert_eq!(bad, CredentialError::Value("X-Key".into()));
    assert!(!bad.to_string().contains("a-secret"));
    assert_eq!(credentials.add_header("a b", "c"), Err(CredentialError::Name("a b".into())));
}

#[test]
fn cookies_are_merged_by_name() {
    let mut credentials = Credentials::default();
    credentials.add_header("Cookie", "session=s").unwrap();
    let mut headers = http::HeaderMap::new();
    headers.insert("cookie", "lang=de".parse().unwrap());
    credentials.add_headers(&mut headers);
    assert_eq!(headers["cookie"], "lang=de; session=s");
    assert!(headers["cookie"].is_sensitive());
    // A server may take the first of two of one name.
    headers.insert("cookie", "session=mine; lang=de;  session =other; sessions=2".parse().unwrap());
    credentials.add_headers(&mut headers);
    assert_eq!(headers["cookie"], "lang=de; sessions=2; session=s");
}
