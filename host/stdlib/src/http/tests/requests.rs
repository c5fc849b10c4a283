//! Tests of sent requests.

use super::*;

/// Returns the text of the one request that a call sends.
async fn sent(function: &str, mut params: Value) -> String {
    let server = Server::start(|_| Reply::ok()).await;
    let path = params["url"].take();
    params["url"] = json!(server.url("a.test", path.as_str().unwrap()));
    client(policy()).call(function, params).await.unwrap();
    server.requests().pop().unwrap().replace(&server.port().to_string(), "PORT")
}

#[tokio::test]
async fn a_plain_request_has_minimal_headers() {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        sent("get", json!({ "url": "/a?b#c" })).await,
        format!(
            "GET /a?b HTTP/1.1\r\naccept: */*\r\nuser-agent: agent-spaces/{version}\r\naccept-encoding: identity\r\n\
             host: a.test:PORT\r\n\r\n"
        )
    );
}

#[tokio::test]
async fn each_function_sends_its_method() {
    for function in ["get", "post", "put", "patch", "delete"] {
        let method = function.to_uppercase();
        assert!(sent(function, json!({ "url": "/" })).await.starts_with(&format!("{method} / HTTP/1.1\r\n")));
    }
    assert!(sent("request", json!({ "method": "options", "url": "/" })).await.starts_with("OPTIONS / "));
}

#[tokio::test]
async fn bodies_get_their_media_type() {
    for (params, media_type, body) in [
        (json!({ "url": "/", "body": { "a": [1] } }), Some("application/json"), "{\"a\":[1]}"),
        (json!({ "url": "/", "body": false }), Some("application/json"), "false"),
        (json!({ "url": "/", "options": { "json": "x" } }), Some("application/json"), "\"x\""),
        (json!({ "url": "/", "options": { "text": "é" } }), Some("text/plain; charset=utf-8"), "é"),
        (json!({ "url": "/", "body": null, "options": { "text": "" } }), Some("text/plain; charset=utf-8"), ""),
        (json!({ "url": "/", "options": { "bytes": "YWI=" } }), None, "ab"),
        (json!({ "url": "/", "options": { "text": "a=b", "headers": { "Content-Type": "x/y" } } }), Some("x/y"), "a=b"),
    ] {
        let text = sent("post", params).await;
        let found = text.lines().find_map(|line| line.strip_prefix("content-type: "));
        assert_eq!(found, media_type, "{text}");
        assert!(text.ends_with(&format!("\r\n\r\n{body}")), "{text}");
        assert!(text.contains(&format!("content-length: {}\r\n", body.len())), "{text}");
    }
}

#[tokio::test]
async fn headers_and_query_are_added() {
    let options = json!({
        "headers": { "User-Agent": "mine", "x-flag": true, "x-number": 1.5, "x-latin": " \u{e9} " },
        "query": { "q": "a b&c", "n": 1, "list": ["x", 2, false], "none": null },
    });
    let text = sent("get", json!({ "url": "/?first=1", "options": options })).await;
    assert!(text.starts_with("GET /?first=1&q=a+b%26c&n=1&list=x&list=2&list=false HTTP/1.1\r\n"), "{text}");
    for line in ["user-agent: mine", "x-flag: true", "x-number: 1.5", "x-latin: \u{fffd}"] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
    assert!(sent("get", json!({ "url": "/a", "options": { "query": {} } })).await.starts_with("GET /a HTTP"));
}

#[tokio::test]
async fn connections_are_reused_only_for_the_same_host() {
    let server = Server::start(|_| Reply::ok()).await;
    let names = Arc::new(Names::always(&[LOCAL]));
    let client = Client::with_names(policy(), Arc::clone(&names) as Arc<dyn reqwest::dns::Resolve>);
    for (host, asked) in [("a.test", 1), ("a.test", 1), ("b.test", 2)] {
        get(&client, server.url(host, "/")).await.unwrap();
        assert_eq!(names.asked(), asked, "{host}");
    }
}

#[tokio::test]
async fn a_trailing_dot_of_a_host_is_removed() {
    let server = Server::start(|_| Reply::ok()).await;
    let answer = get(&client(policy()), server.url("A.test.", "/")).await.unwrap();
    assert_eq!(answer["url"], server.url("a.test", "/"));
    let request = server.requests().pop().unwrap();
    assert!(request.contains(&format!("host: a.test:{}\r\n", server.port())), "{request}");
}

#[test]
fn proxy_variables_are_ignored() {
    // Variables can be set for another process only.
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    for name in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        // Nobody listens there.
        command.env(name, "http://127.0.0.1:1");
    }
    let output =
        command.args(["--exact", "http::tests::requests::a_plain_request_has_minimal_headers"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
}
