//! Limits on time and memory against any server.

use super::*;
use crate::http::{ExactRequest, Redirects};
use reqwest::Method;
use reqwest::header::{ACCEPT, HeaderMap, HeaderValue};
use std::time::Instant;
use url::Url;

const TOO_LARGE: &str = "The answer has more than 1000 bytes, the most that may be received";

/// Error of a request limited to 1000 bytes and half a second.
async fn limited(reply: Reply) -> StdError {
    let server = Server::start(move |_| reply.clone()).await;
    let client = client(NetworkPolicy {
        max_response_bytes: 1000,
        max_request_bytes: 1000,
        timeout: Duration::from_millis(500),
        ..policy()
    });
    let began = Instant::now();
    let error = get(&client, server.url("a.test", "/")).await.unwrap_err();
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    error
}

#[tokio::test]
async fn a_response_over_the_size_limit_is_refused() {
    let client = client(NetworkPolicy { max_response_bytes: 1000, ..policy() });
    for (size, is_given) in [(1000, true), (1001, false)] {
        let server = Server::start(move |_| Reply::whole("200 OK\r\ncontent-type: text/plain", "x".repeat(size))).await;
        match get(&client, server.url("a.test", "/")).await {
            Ok(answer) => assert!(is_given && answer["text"].as_str().unwrap().len() == size),
            Err(error) => {
                assert!(!is_given);
                assert_error(&error, "call.failed", TOO_LARGE);
                assert!(!error.retryable);
            }
        }
    }
}

#[tokio::test]
async fn an_excessive_content_length_is_refused_early() {
    let reply = Reply::hanging("HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n");
    assert_error(&limited(reply).await, "call.failed", TOO_LARGE);
}

#[tokio::test]
async fn an_endless_body_is_aborted() {
    let chunk = format!("64\r\n{}\r\n", "x".repeat(0x64));
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    assert_error(&limited(Reply::endless(chunked, chunk, Duration::ZERO)).await, "call.failed", TOO_LARGE);
    // Until the connection ends, which it does not.
    let open = Reply::endless("HTTP/1.1 200 OK\r\n\r\n", "x".repeat(100), Duration::ZERO);
    assert_error(&limited(open).await, "call.failed", TOO_LARGE);
}

#[tokio::test]
async fn slow_responses_time_out() {
    let pause = Duration::from_millis(50);
    for reply in [
        // Nothing, half a status line, headers that never end, one letter after the other.
        Reply::hanging(""),
        Reply::hanging("HTTP/1.1 200"),
        Reply::hanging("HTTP/1.1 200 OK\r\nx: y\r\n"),
        Reply::endless("HTTP/1.1 200 OK\r\nx: ", "y", pause),
        Reply::endless("HTTP/1.1 200 OK\r\n", "a: b\r\n", pause),
        // Endless informational responses.
        Reply::endless("", "HTTP/1.1 100 Continue\r\n\r\n", pause),
        // A body that stalls or trickles, with any framing.
        Reply::hanging("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc"),
        Reply::endless("HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n", "x", pause),
        Reply::endless("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n", pause),
        Reply::hanging("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;x="),
        // Redirects that take their time.
        Reply::hanging("HTTP/1.1 302 Found\r\nlocation: /\r\n"),
    ] {
        let error = limited(reply).await;
        assert_error(&error, "call.timeout", "Timed out: no complete answer within 500 ms");
    }
}

#[tokio::test]
async fn redirects_share_one_deadline() {
    let server = Server::start(|_| {
        std::thread::sleep(Duration::from_millis(200));
        Reply::redirect(302, "/")
    })
    .await;
    let client = client(NetworkPolicy { timeout: Duration::from_millis(500), ..policy() });
    assert_eq!(get(&client, server.url("a.test", "/")).await.unwrap_err().code, "call.timeout");
}

#[tokio::test]
async fn a_script_can_shorten_the_timeout_but_not_extend_it() {
    let client = client(NetworkPolicy { timeout: Duration::from_millis(300), ..policy() });
    let server = Server::start(|_| Reply::hanging("")).await;
    for (asked, waited) in [(100, 100), (60_000, 300), (0, 0)] {
        let params = json!({ "url": server.url("a.test", "/"), "options": { "timeoutMs": asked } });
        let error = client.call("get", params).await.unwrap_err();
        assert_error(&error, "call.timeout", &format!("Timed out: no complete answer within {waited} ms"));
    }
}

#[tokio::test]
async fn headers_are_bounded_in_number_and_size() {
    let many = |count: usize| format!("HTTP/1.1 200 OK\r\n{}content-length: 0\r\n\r\n", "a: b\r\n".repeat(count));
    assert!(answer(Reply::raw(many(99)), json!({})).await.is_ok());
    assert_eq!(limited(Reply::raw(many(100))).await.code, "call.failed");

    let long = |size: usize| format!("HTTP/1.1 200 OK\r\nlong: {}\r\ncontent-length: 0\r\n\r\n", "x".repeat(size));
    assert!(answer(Reply::raw(long(60_000)), json!({})).await.is_ok());
    assert_error(
        &limited(Reply::raw(long(70_000))).await,
        "call.failed",
        "The headers of the answer of \"a.test\" are too large",
    );
    // An endless header is aborted long before memory runs out.
    let endless = Reply::endless("HTTP/1.1 200 OK\r\nlong: ", "x".repeat(10_000), Duration::ZERO);
    assert_eq!(limited(endless).await.code, "call.failed");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_not_sent() {
    let server = Server::start(|_| Reply::ok()).await;
    let client = client(NetworkPolicy { max_request_bytes: 10, ..policy() });
    for (body, is_sent) in [("12345678", true), ("123456789", false)] {
        // With its quotes.
        let answer = client.call("post", json!({ "url": server.url("a.test", "/"), "body": body })).await;
        assert_eq!(answer.is_ok(), is_sent);
        if let Err(error) = answer {
            assert_error(&error, "call.denied", "The body has more than 10 bytes, the most that may be sent");
        }
    }
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_dropped_call_frees_its_slot() {
    let server =
        Server::start(|request| if request.contains("/slow") { Reply::hanging("") } else { Reply::ok() }).await;
    let client = Arc::new(client(policy()));
    let slow: Vec<_> = (0..crate::http::MAX_CONCURRENT)
        .map(|_| {
            let (client, url) = (Arc::clone(&client), server.url("a.test", "/slow"));
            tokio::spawn(async move { get(&client, url).await })
        })
        .collect();
    while client.slots.available_permits() > 0 {
        tokio::task::yield_now().await;
    }
    let url = server.url("a.test", "/");
    let params = json!({ "url": url, "options": { "timeoutMs": 100 } });
    assert_eq!(client.call("get", params).await.unwrap_err().code, "call.timeout");
    slow.iter().for_each(tokio::task::JoinHandle::abort);
    assert!(get(&client, url).await.is_ok());
}

#[tokio::test]
async fn headers_of_the_hosts_own_requests_are_limited() {
    let server = Server::start(|_| Reply::whole("200 OK", "")).await;
    let send = async |bytes: usize| {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::try_from("x".repeat(bytes)).unwrap())]);
        let url = Url::parse(&server.url("a.test", "/")).unwrap();
        let (method, redirects, timeout) = (Method::GET, Redirects::Anywhere, Duration::from_secs(20));
        let request = ExactRequest { method, url, headers, body: None, redirects, timeout };
        client(policy()).send(request).await.map(|answer| answer.status)
    };
    assert_eq!(send(8 << 10).await, Ok(200));
    assert_error(&send(64 << 10).await.unwrap_err(), "call.invalid", "The headers have more than 65536 bytes");
}
