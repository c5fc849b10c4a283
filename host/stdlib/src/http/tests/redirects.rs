//! Tests of redirects, each checked like the first request.

use super::*;
use crate::http::answer::Wanted;
use crate::http::redirect;
use crate::http::request::Request;
use reqwest::StatusCode;
use reqwest::header::HeaderValue;

/// Answers `/to?TARGET` with this status and a redirect there, and all else with `OK`.
async fn redirecting(status: u16) -> Server {
    Server::start(move |request| {
        let target = request.split_once("/to?").and_then(|(_, rest)| rest.split_once(' '));
        target.map_or_else(Reply::ok, |(target, _)| Reply::redirect(status, target))
    })
    .await
}

#[tokio::test]
async fn a_redirect_is_followed_and_the_final_url_is_returned() {
    let server = redirecting(302).await;
    let next = format!("/to?/to?//b.test:{}/end#part", server.port());
    let answer = get(&client(policy()), server.url("a.test", &next)).await.unwrap();
    assert_eq!(answer["url"], server.url("b.test", "/end"));
    assert_eq!(answer["status"], 200);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_redirect_without_a_location_is_returned_as_is() {
    assert_eq!(answer(Reply::whole("302 Found", ""), json!({})).await.unwrap()["status"], 302);
    let not_modified = Reply::raw("HTTP/1.1 304 Not Modified\r\nlocation: http://127.0.0.1/\r\n\r\n");
    assert_eq!(answer(not_modified, json!({})).await.unwrap()["status"], 304);
}

#[tokio::test]
async fn five_redirects_are_followed_and_no_more() {
    let chain = |left: usize| format!("/{}", "to?/".repeat(left));
    let server = redirecting(307).await;
    assert!(get(&client(policy()), server.url("a.test", &chain(5))).await.is_ok());
    let error = get(&client(policy()), server.url("a.test", &chain(6))).await.unwrap_err();
    assert_error(&error, "call.failed", "There were more than 5 redirects");
    assert_eq!(server.requests().len(), 12);
}

#[tokio::test]
async fn a_redirect_loop_ends() {
    let server = Server::start(|_| Reply::redirect(301, "/")).await;
    let error = get(&client(policy()), server.url("a.test", "/")).await.unwrap_err();
    assert_error(&error, "call.failed", "There were more than 5 redirects");
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn a_redirect_to_an_invalid_url_is_refused() {
    for (location, reason) in [
        ("file:///etc/passwd", "begins with file:"),
        ("javascript:alert(1)", "begins with javascript:"),
        ("data:text/plain,x", "begins with data:"),
        ("ftp://a.test/", "begins with ftp:"),
        ("gopher://a.test/", "begins with gopher:"),
        ("http://user:word@b.test/", "user name or password"),
        ("http://", "cannot be read"),
        ("http://a..test/", "invalid host name"),
    ] {
        let server = Server::start(move |_| Reply::redirect(302, location)).await;
        let error = get(&client(policy()), server.url("a.test", "/")).await.unwrap_err();
        assert_eq!(error.code, "call.denied", "{location}");
        assert!(error.message.starts_with("A redirect was not followed."), "{}", error.message);
        assert!(error.message.contains(reason), "{location}: {}", error.message);
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_redirect_to_a_host_that_is_not_allowed_is_refused() {
    let server = redirecting(302).await;
    let client = client(NetworkPolicy {
        domains: patterns(&["a.test", "evil.test"]),
        blocked: patterns(&["evil.test"]),
        ..policy()
    });
    for (host, message) in
        [("b.test", "Domain \"b.test\" is not allowed"), ("evil.test.", "Domain \"evil.test\" is blocked")]
    {
        let path = format!("/to?{}", server.url(host, "/"));
        let error = get(&client, server.url("a.test", &path)).await.unwrap_err();
        assert_error(&error, "call.denied", message);
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn the_method_changes_as_in_browsers() {
    for (status, method, expected) in [
        (301, "POST", "GET"),
        (302, "POST", "GET"),
        (303, "POST", "GET"),
        (303, "PUT", "GET"),
        (303, "HEAD", "HEAD"),
        (301, "PUT", "PUT"),
        (302, "DELETE", "DELETE"),
        (307, "POST", "POST"),
        (308, "PATCH", "PATCH"),
    ] {
        let server = redirecting(status).await;
        let mut options = json!({ "headers": { "x-mine": "yes" } });
        if method != "HEAD" {
            options["json"] = json!([1]);
        }
        let url = server.url("a.test", "/to?/end");
        let params = json!({ "method": method, "url": url, "options": options });
        client(policy()).call("request", params).await.unwrap();
        let last = server.requests().pop().unwrap();
        assert!(last.starts_with(&format!("{expected} /end ")), "{status} {method}: {last}");
        assert!(last.contains("x-mine: yes"), "{last}");
        let keeps_body = expected == method && method != "HEAD";
        assert_eq!(last.contains("content-type: application/json"), keeps_body, "{status} {method}: {last}");
        assert_eq!(last.ends_with("\r\n\r\n[1]"), keeps_body, "{status} {method}: {last}");
    }
}

#[tokio::test]
async fn the_method_of_a_redirect_is_checked_too() {
    let server = redirecting(303).await;
    let client = client(NetworkPolicy { methods: Some(vec!["POST".to_owned()]), ..policy() });
    let error = client.call("post", json!({ "url": server.url("a.test", "/to?/end") })).await.unwrap_err();
    assert_error(&error, "call.denied", "Method GET is not allowed");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn secrets_are_not_sent_to_another_origin() {
    let secrets =
        ["authorization", "cookie", "x-api-key", "X-Auth", "private-token", "x-session-id", "x-amz-signature"];
    let mut headers =
        serde_json::Map::from_iter([("accept".to_owned(), json!("a/b")), ("x-version".to_owned(), json!(3))]);
    headers.extend(secrets.map(|name| (name.to_owned(), json!("hush"))));
    let options = json!({ "headers": headers });

    let server = redirecting(307).await;
    for (host, is_kept) in [("a.test", true), ("b.test", false)] {
        let path = format!("/to?{}", server.url(host, "/end"));
        let params = json!({ "url": server.url("a.test", &path), "options": options });
        client(policy()).call("get", params).await.unwrap();
        let last = server.requests().pop().unwrap();
        assert!(last.contains("accept: a/b") && last.contains("x-version: 3"), "{last}");
        assert_eq!(last.matches("hush").count(), if is_kept { secrets.len() } else { 0 }, "{last}");
        // No referrer is sent.
        assert!(!last.contains("referer"), "{last}");
    }
    // Another port is another origin, and dropped headers do not come back.
    let other = redirecting(307).await;
    let path = format!("/to?{}", other.url("a.test", &format!("/to?{}", server.url("a.test", "/end"))));
    let params = json!({ "url": server.url("a.test", &path), "options": options });
    client(policy()).call("get", params).await.unwrap();
    assert!(!other.requests().pop().unwrap().contains("hush"));
    assert!(!server.requests().pop().unwrap().contains("hush"));
}

#[test]
fn a_redirect_from_https_never_leads_to_http() {
    let mut request = Request::read("get", json!({ "url": "https://a.test/" }), &policy()).unwrap();
    let mut next = |location| {
        let location = HeaderValue::from_static(location);
        let next = redirect::next(&request, StatusCode::FOUND, Some(&location))?.unwrap();
        request.url = next.url.clone();
        Ok::<_, StdError>((next.url.to_string(), next.wanted))
    };
    assert_eq!(next("/b").unwrap(), ("https://a.test/b".to_owned(), Wanted::Auto));
    assert_eq!(next("//b.test/").unwrap().0, "https://b.test/");
    for location in ["http://b.test/", "HTTP://a.test/", "http:\\\\b.test"] {
        let error = next(location).unwrap_err();
        assert_error(&error, "call.denied", "A redirect was not followed. It leads from https: to unencrypted http:");
    }
}
