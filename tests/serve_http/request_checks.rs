//! Authentication, Host and Origin checks, and limits on request size and time.

use crate::mcp::support::{Project, signal};
use crate::serve_http::raw_http::{open, read, send};
use crate::serve_http::server::{ANN, HttpServer, bearer, message, own_headers, project, stateless};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

fn plain() -> HttpServer {
    HttpServer::start(Project::new(json!({ "mcpServers": {} })), &[])
}

fn initialize() -> Value {
    let asked =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    message(1, "initialize", asked)
}

#[test]
fn a_request_without_a_token_is_refused() {
    let served = plain();
    let body = initialize().to_string();
    let status = |authorization: Option<&str>| {
        let headers: Vec<(&str, &str)> = own_headers(authorization.unwrap_or_default())
            .into_iter()
            .skip(usize::from(authorization.is_none()))
            .collect();
        send(served.port, "POST", &headers, &body)
    };
    for wrong in [None, Some("Bearer "), Some("Bearer not-the-token-at-all"), Some(&*served.token), Some("Basic eA==")]
    {
        let reply = status(wrong);
        assert_eq!((reply.status, reply.header("www-authenticate")), (401, Some("Bearer")), "{wrong:?}");
        assert!(reply.header("mcp-session-id").is_none() && !reply.body.contains(&served.token));
    }
    assert_eq!(status(Some(&bearer(&served.token))).status, 200);
    // Not even that there is no such session.
    assert_eq!(send(served.port, "DELETE", &[("mcp-session-id", "x")], "").status, 401);
}

#[test]
fn the_token_file_is_private_and_never_printed() {
    let served = plain();
    let mut command = served.project.command(&["mcp", "serve", "--http", "127.0.0.1:0", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    signal(child.id(), "TERM");
    let output = child.wait_with_output().unwrap();
    let said = format!("{line}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("tokenFile") && !said.contains(&served.token), "{said}");
    let file = serde_json::from_str::<Value>(&line).unwrap()["tokenFile"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), served.token, "the next one has the same");
}

#[test]
fn foreign_origins_and_hosts_are_refused() {
    let served = HttpServer::start(
        Project::new(json!({ "mcpServers": {} })),
        &["--allow-origin", "https://app.example.com", "--allow-host", "tools.example.com"],
    );
    let authorization = bearer(&served.token);
    let status = |extra: &[(&str, &str)]| {
        send(served.port, "POST", &[&own_headers(&authorization), extra].concat(), &initialize().to_string()).status
    };
    assert_eq!(status(&[("origin", "http://localhost:6274")]), 200);
    assert_eq!(status(&[("origin", "https://app.example.com")]), 200);
    assert_eq!(status(&[("host", "localhost:1234")]), 200);
    assert_eq!(status(&[("host", "tools.example.com")]), 200);
    for (header, value) in
        [("origin", "https://evil.example"), ("origin", "null"), ("host", "evil.example"), ("host", "10.0.0.1")]
    {
        assert_eq!(status(&[(header, value)]), 403, "{header}: {value}");
    }
}

#[test]
fn an_absolute_request_target_must_match_the_host_header() {
    let served = plain();
    let (port, authorization) = (served.port, bearer(&served.token));
    let status = |target: &str, host: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let head = format!("DELETE {target} HTTP/1.1\r\nhost: {host}\r\nauthorization: {authorization}\r\n");
        stream.write_all(format!("{head}connection: close\r\n\r\n").as_bytes()).unwrap();
        read(stream).status
    };
    let own = format!("127.0.0.1:{port}");
    let as_ever = status("/mcp", &own);
    assert_ne!(as_ever, 403);
    assert_eq!(status(&format!("http://{own}/mcp"), &own), as_ever);
    for (target, host) in [
        ("http://evil.example/mcp", own.as_str()),
        ("http://localhost/mcp", own.as_str()),
        (&format!("http://{own}/mcp"), "evil.example"),
        (&format!("http://{own}/mcp"), "localhost"),
    ] {
        assert_eq!(status(target, host), 403, "{target} {host}");
    }
}

#[test]
fn cors_preflight_needs_no_token() {
    let served = plain();
    let asked = |origin: &str| {
        let wanted = [
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization,mcp-param-region,x-other"),
        ];
        send(served.port, "OPTIONS", &[&[("origin", origin)][..], &wanted].concat(), "")
    };
    let reply = asked("http://localhost:6274");
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (204, Some("http://localhost:6274")));
    let headers = reply.header("access-control-allow-headers").unwrap();
    assert!(headers.contains("Authorization") && headers.contains("mcp-param-region"), "{headers}");
    assert!(!headers.contains("x-other"), "{headers}");
    assert_eq!(asked("https://evil.example").status, 403);
}

#[test]
fn remote_access_needs_a_flag_and_its_own_token() {
    let project = Project::new(json!({ "mcpServers": {} }));
    let open_to_all = project.agent_spaces(&["mcp", "serve", "--http", "0.0.0.0:0"]);
    assert_eq!(open_to_all.status, Some(2), "{open_to_all:?}");
    assert!(open_to_all.stderr.contains("--allow-remote"), "{open_to_all:?}");
    let without_token = project.agent_spaces(&["mcp", "serve", "--http", "0.0.0.0:0", "--allow-remote"]);
    assert!(without_token.stderr.contains("--token-file"), "{without_token:?}");
    project.write("short.token", "short");
    let short = project.agent_spaces(&["mcp", "serve", "--http", "127.0.0.1:0", "--token-file", "short.token"]);
    assert!(short.stderr.contains("at least 16 characters"), "{short:?}");
}

#[test]
fn callers_of_an_untrusted_configuration_are_refused() {
    let Some(project) = project() else { return };
    let config = project.read("agent-spaces.config.json");
    project.write("agent-spaces.config.json", &format!("{config} "));
    let served = HttpServer::start(project, &[]);
    assert_eq!(served.post(ANN, &[], &initialize()).status, 401);
    assert_eq!(served.post(&served.token, &[], &initialize()).status, 200);
}

#[test]
fn invalid_and_oversized_messages_are_refused() {
    let served = plain();
    let authorization = bearer(&served.token);
    let reply = |body: &str| send(served.port, "POST", &own_headers(&authorization), body);
    let broken = reply("{");
    assert_eq!((broken.status, &broken.answer()["error"]["code"]), (400, &json!(-32700)));
    let other = reply("{\"a\":1}");
    assert_eq!((other.status, &other.answer()["error"]["code"]), (400, &json!(-32600)));
    let (headers, _) = stateless("tools/list", json!({}));
    let mut all = own_headers(&authorization);
    all.extend(headers.iter().map(|(name, value)| (*name, value.as_str())));
    let huge = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "x": "x".repeat(5 << 20) } });
    assert_eq!(send(served.port, "POST", &all, &huge.to_string()).status, 413);
    let long = "x".repeat(100 << 10);
    assert_eq!(send(served.port, "GET", &[("authorization", &authorization), ("x-long", &long)], "").status, 431);
    assert_eq!(served.post(&served.token, &[], &initialize()).status, 200, "it goes on");
}

#[test]
fn a_slow_request_is_disconnected_and_blocks_nobody() {
    let served = plain();
    let mut slow: Vec<TcpStream> = (0..20).map(|_| TcpStream::connect(("127.0.0.1", served.port)).unwrap()).collect();
    slow.iter_mut().for_each(|stream| stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: x").unwrap());
    assert_eq!(served.post(&served.token, &[], &initialize()).status, 200);
    let began = Instant::now();
    let mut first = slow.swap_remove(0);
    first.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let mut byte = [0; 1024];
    let _hung_up = first.read(&mut byte);
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
    // A head that is whole is answered at once, whoever is slow.
    assert_eq!(read(open(served.port, "GET", &[], "")).status, 401);
}

#[test]
fn unauthenticated_clients_cannot_exhaust_connections() {
    let served = plain();
    let connect = || TcpStream::connect(("127.0.0.1", served.port)).unwrap();
    let began = Instant::now();
    let mut strangers: Vec<TcpStream> = (0..400).map(|_| connect()).collect();
    let first = &mut strangers[0];
    first.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    assert_eq!(first.read(&mut [0; 1]).unwrap(), 0, "it made room before its time was over");
    assert_eq!(served.post(&served.token, &[], &initialize()).status, 200);
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
}
