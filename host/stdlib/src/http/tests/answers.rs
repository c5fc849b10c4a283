//! Tests of responses.

use super::*;

async fn body(media_type: &str, body: &[u8], wanted: &str) -> (String, Value) {
    let reply = Reply::whole(&format!("200 OK\r\ncontent-type: {media_type}"), body);
    match answer(reply, json!({ "responseType": wanted })).await {
        Ok(answer) => {
            let members: Vec<_> =
                ["json", "text", "bytes"].into_iter().filter(|name| !answer[name].is_null()).collect();
            assert!(members.len() <= 1, "{answer}");
            let member = members.first().copied().unwrap_or("none");
            (member.to_owned(), answer[member].clone())
        }
        Err(error) => (error.code.as_str().to_owned(), json!(error.message)),
    }
}

#[tokio::test]
async fn status_headers_and_url_are_returned() {
    let reply = Reply::whole("404 Not Found\r\nX-One: a\r\nx-Two: b\r\nX-TWO: c\r\nlatin: \u{e9}", "");
    let answer = answer(reply, json!({})).await.unwrap();
    assert_eq!((&answer["status"], &answer["ok"]), (&json!(404), &json!(false)));
    assert!(answer["url"].as_str().unwrap().starts_with("http://a.test:"));
    // The server sent UTF-8, of which each byte is a character.
    let expected = json!({ "x-one": "a", "x-two": "b, c", "latin": "\u{c3}\u{a9}", "content-length": "0" });
    assert_eq!(answer["headers"], expected);
}

#[tokio::test]
async fn the_body_form_follows_the_media_type() {
    for (media_type, sent, member, value) in [
        ("application/json", "{\"a\":1}".as_bytes(), "json", json!({ "a": 1 })),
        ("Application/JSON; charset=UTF-8", b"[]", "json", json!([])),
        ("application/problem+json", b"1", "json", json!(1)),
        ("text/json", b"\xef\xbb\xbf{}", "json", json!({})),
        ("application/json", b"{", "text", json!("{")),
        ("application/json", b"", "text", json!("")),
        ("text/html", "\u{e9}".as_bytes(), "text", json!("\u{e9}")),
        ("text/plain", b"\xef\xbb\xbfa", "text", json!("a")),
        ("text/plain", b"\xff", "text", json!("\u{fffd}")),
        ("text/plain; format=flowed; charset=\"ISO-8859-1\"", b"\xe9", "text", json!("\u{e9}")),
        ("text/plain; charset=shift_jis", b"\x82", "bytes", json!("gg==")),
        ("application/xml", b"<a/>", "text", json!("<a/>")),
        ("image/svg+xml", b"<a/>", "text", json!("<a/>")),
        ("application/javascript", b"1", "text", json!("1")),
        ("application/x-www-form-urlencoded", b"a=b", "text", json!("a=b")),
        ("application/octet-stream", b"ab", "bytes", json!("YWI=")),
        ("image/png", b"", "bytes", json!("")),
        // No media type: guessed from the contents.
        ("", b"ab\n", "text", json!("ab\n")),
        ("", "gr\u{fc}\u{df}e".as_bytes(), "text", json!("gr\u{fc}\u{df}e")),
        ("", b"a\0b", "bytes", json!("YQBi")),
        ("", b"\xff", "bytes", json!("/w==")),
    ] {
        assert_eq!(body(media_type, sent, "auto").await, (member.to_owned(), value), "{media_type} {sent:?}");
    }
}

#[tokio::test]
async fn the_body_has_the_requested_form() {
    for (media_type, sent, wanted, member, value) in [
        ("text/plain", b"[1]".as_slice(), "json", "json", json!([1])),
        ("application/json", b"[1]", "text", "text", json!("[1]")),
        ("application/json", b"[1]", "bytes", "bytes", json!("WzFd")),
        ("image/png", b"\xff", "text", "text", json!("\u{fffd}")),
    ] {
        assert_eq!(body(media_type, sent, wanted).await, (member.to_owned(), value), "{media_type} {wanted}");
    }
    let (code, message) = body("application/json", b"[1,", "json").await;
    assert_eq!(code, "call.failed");
    assert_eq!(message, "The answer is not JSON: EOF while parsing a value at line 1 column 3");
}

#[tokio::test]
async fn json_with_too_many_values_is_returned_as_text() {
    let values = |count: usize| format!("[{}\",[,\\\",\"]", "1,".repeat(count - 1)).into_bytes();
    assert_eq!(body("application/json", &values(1_000_000), "auto").await.0, "json");
    assert_eq!(body("application/json", &values(1_000_001), "auto").await.0, "text");
    let (code, message) = body("application/json", &values(1_000_001), "json").await;
    assert_eq!(
        (code.as_str(), message.as_str().unwrap()),
        ("call.failed", "The answer is not JSON: it has more than 1000000 values")
    );
    // As deep as a stack, it is no JSON of ours either.
    assert_eq!(body("application/json", "[".repeat(100_000).as_bytes(), "auto").await.0, "text");
}

#[tokio::test]
async fn compressed_bodies_are_returned_as_raw_bytes() {
    let reply =
        |coding| Reply::whole(&format!("200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: {coding}"), "ab");
    assert_eq!(answer(reply("gzip"), json!({})).await.unwrap()["bytes"], "YWI=");
    assert_eq!(answer(reply("identity"), json!({})).await.unwrap()["text"], "ab");
    let error = answer(reply("br"), json!({ "responseType": "text" })).await.unwrap_err();
    assert_error(&error, "call.failed", "The answer is compressed: leave out the header accept-encoding");
}

#[tokio::test]
async fn malformed_responses_are_errors() {
    for bytes in [
        "",
        "nonsense\r\n\r\n",
        "HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
    ] {
        let error = answer(Reply::raw(bytes), json!({})).await.unwrap_err();
        assert_error(&error, "call.failed", "The answer of \"a.test\" ended early, or is not HTTP");
        assert!(!error.retryable);
    }
}

#[tokio::test]
async fn a_head_request_is_answered_without_a_body() {
    let server = Server::start(|_| Reply::raw("HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n")).await;
    let params = json!({ "method": "HEAD", "url": server.url("a.test", "/"), "options": { "responseType": "bytes" } });
    let answer = client(policy()).call("request", params).await.unwrap();
    assert_eq!((&answer["bytes"], &answer["headers"]["content-length"]), (&json!(""), &json!("1000000000000")));
}

#[tokio::test]
async fn an_unreachable_host_is_retryable() {
    // Nobody listens at a port that was free just now.
    let port = tokio::net::TcpListener::bind((LOCAL, 0)).await.unwrap().local_addr().unwrap().port();
    let error = get(&client(policy()), format!("http://a.test:{port}/?hush")).await.unwrap_err();
    assert_error(&error, "call.failed", "\"a.test\" cannot be reached");
    assert!(error.retryable);

    let nowhere = Client::with_names(policy(), Arc::new(Names::always(&[])));
    let error = get(&nowhere, "http://a.test/?hush".to_owned()).await.unwrap_err();
    assert_error(&error, "call.failed", "\"a.test\" has no address: host name not found");
    assert!(error.retryable);
}
