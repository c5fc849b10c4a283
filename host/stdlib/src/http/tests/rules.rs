//! Tests of policy and parameter checks.

use super::*;

async fn refused(params: Value) -> StdError {
    let client = client(policy());
    client.call("request", params).await.unwrap_err()
}

#[tokio::test]
async fn forbidden_requests_are_not_sent() {
    let server = Server::start(|_| Reply::ok()).await;
    let listed = NetworkPolicy {
        domains: patterns(&["a.test", "*.b.test", "evil.test"]),
        blocked: patterns(&["evil.test", "x.b.test"]),
        methods: Some(vec!["GET".to_owned()]),
        ..policy()
    };
    let off = NetworkPolicy { enabled: false, ..listed.clone() };
    for (policy, method, host, message) in [
        (&listed, "get", "a.test", None),
        (&listed, "get", "A.TEST.", None),
        (&listed, "get", "c.b.test", None),
        (&listed, "get", "b.test", Some("Domain \"b.test\" is not allowed")),
        (&listed, "get", "c.test", Some("Domain \"c.test\" is not allowed")),
        (&listed, "get", "evil.test", Some("Domain \"evil.test\" is blocked")),
        (&listed, "get", "EVIL.test.", Some("Domain \"evil.test\" is blocked")),
        (&listed, "get", "x.b.test", Some("Domain \"x.b.test\" is blocked")),
        (&listed, "post", "a.test", Some("Method POST is not allowed")),
        (&listed, "delete", "a.test", Some("Method DELETE is not allowed")),
        (&off, "get", "a.test", Some("Network access is disabled")),
    ] {
        let before = server.requests().len();
        let answer = client(policy.clone()).call(method, json!({ "url": server.url(host, "/") })).await;
        match message {
            None => assert!(answer.is_ok(), "{method} {host}: {answer:?}"),
            Some(message) => assert_error(&answer.unwrap_err(), "call.denied", message),
        }
        assert_eq!(server.requests().len() - before, usize::from(message.is_none()), "{method} {host}");
    }
}

#[tokio::test]
async fn a_policy_that_allows_nothing_never_creates_a_connector() {
    let client = Client::new(NetworkPolicy::default());
    let error = get(&client, "https://a.example/".to_owned()).await.unwrap_err();
    assert_error(&error, "call.denied", "Network access is disabled");
    assert!(client.connector.get().is_none());
}

#[tokio::test]
async fn invalid_urls_are_refused_and_not_shown() {
    for (url, reason) in [
        ("a.test/?hush", "cannot be read"),
        ("", "cannot be read"),
        ("http://?hush", "cannot be read"),
        ("http://a.test:99999/?hush", "cannot be read"),
        ("http://a b.test/?hush", "cannot be read"),
        ("file:///hush", "begins with file:"),
        ("unix:///hush", "begins with unix:"),
        ("ws://a.test/?hush", "begins with ws:"),
        ("data:,hush", "begins with data:"),
        ("http://hush@a.test/", "authorization header"),
        ("http://:hush@a.test/", "authorization header"),
        ("http://a..test/?hush", "invalid host name"),
        ("http://a.test../?hush", "invalid host name"),
        ("http://./?hush", "invalid host name"),
    ] {
        let error = refused(json!({ "method": "GET", "url": url })).await;
        assert_eq!(error.code, "call.invalid", "{url}");
        assert!(error.message.contains(reason), "{url}: {}", error.message);
        assert!(!error.message.contains("hush"), "{}", error.message);
    }
    let long = format!("http://a.test/{}", "x".repeat(20_000));
    assert!(refused(json!({ "method": "GET", "url": long })).await.message.contains("more than"));
    let long = format!("http://{}.test/", "x.".repeat(200));
    assert!(refused(json!({ "method": "GET", "url": long })).await.message.contains("invalid host name"));
    let query = json!({ "a": "x".repeat(20_000) });
    let params = json!({ "method": "GET", "url": "http://a.test/", "options": { "query": query } });
    assert!(refused(params).await.message.contains("more than"));
}

#[tokio::test]
async fn headers_of_the_connection_cannot_be_set() {
    for name in [
        "Host",
        "content-length",
        "Transfer-Encoding",
        "connection",
        "keep-alive",
        "TE",
        "trailer",
        "upgrade",
        "expect",
        "Proxy-Authorization",
        "proxy-connection",
        "X-HTTP-Method-Override",
    ] {
        let options = json!({ "headers": { name: "x" } });
        let error = refused(json!({ "method": "GET", "url": "http://a.test/", "options": options })).await;
        let message = format!("options.headers: {name} cannot be set by a script; leave it out");
        assert_error(&error, "call.invalid", &message);
    }
}

#[tokio::test]
async fn header_injection_is_refused() {
    for (name, value) in [
        ("x", "a\r\nevil: b"),
        ("x", "a\nevil: b"),
        ("x", "a\rb"),
        ("x", "a\0b"),
        ("x", "\u{7f}"),
        ("x", "\u{10a}"),
        ("x\r\nevil", "b"),
        ("x: y", "b"),
        ("x y", "b"),
        ("", "b"),
        ("é", "b"),
    ] {
        let options = json!({ "headers": { name: value } });
        let error = refused(json!({ "method": "GET", "url": "http://a.test/", "options": options })).await;
        assert_eq!(error.code, "call.invalid", "{name:?}: {value:?}");
        assert!(!error.message.contains(['\r', '\n']), "{}", error.message);
    }
    let many: serde_json::Map<_, _> = (0..101).map(|index| (format!("x{index}"), json!(1))).collect();
    for headers in [
        json!([]),
        json!("x"),
        json!({ "x": [] }),
        json!({ "x": null }),
        json!({ "a": 1, "A": 2 }),
        json!({ "x": "y".repeat(70_000) }),
        many.into(),
    ] {
        let options = json!({ "headers": headers });
        let error = refused(json!({ "method": "GET", "url": "http://a.test/", "options": options })).await;
        assert_eq!(error.code, "call.invalid", "{}", error.message);
    }
}

#[tokio::test]
async fn invalid_methods_are_refused() {
    for method in ["", "GET /x HTTP/1.1\r\nevil: x\r\n\r\n", "G ET", "CONNECT", "trace", "Track", &"X".repeat(33)] {
        let error = refused(json!({ "method": method, "url": "http://a.test/" })).await;
        assert_eq!(error.code, "call.invalid", "{method:?}");
    }
}

#[tokio::test]
async fn invalid_parameters_are_refused() {
    let url = "http://a.test/";
    for (function, params, expected) in [
        ("head", json!({ "url": url }), "There is no function http.head"),
        ("get", json!({}), "url is missing"),
        ("request", json!({ "url": url }), "method is missing"),
        ("get", json!({ "url": url, "body": 1 }), "body is not known"),
        ("get", json!({ "url": url, "options": { "json": 1 } }), "A GET request has no body"),
        ("post", json!({ "url": url, "body": 1, "options": { "text": "a" } }), "More than one body"),
        ("post", json!({ "url": url, "options": { "bytes": "YQ==", "json": {} } }), "More than one body"),
        ("post", json!({ "url": url, "options": { "bytes": "?" } }), "options.bytes must be bytes"),
        ("get", json!({ "url": url, "options": { "timeout": 1 } }), "options.timeout is not known"),
        ("get", json!({ "url": url, "options": { "timeoutMs": -1 } }), "options.timeoutMs must be"),
        ("get", json!({ "url": url, "options": { "responseType": "xml" } }), "options.responseType must be one of"),
        ("get", json!({ "url": url, "options": { "query": [] } }), "options.query must be"),
        ("get", json!({ "url": url, "options": { "query": { "a": {} } } }), "options.query: values must be"),
    ] {
        let error = client(policy()).call(function, params).await.unwrap_err();
        assert_eq!(error.code, "call.invalid");
        assert!(error.message.contains(expected), "{}", error.message);
    }
}
