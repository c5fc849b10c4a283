//! The console of a server: its page, sign-in and sessions, and the command that opens it.

use crate::approvals::support::Home;
use crate::rest::client::Answer;
use crate::rest::server::{OPERATOR, RestServer, config, home};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Output;
use std::time::Duration;

/// Header of the page.
const PAGE: (&str, &str) = ("x-agent-spaces-console", "1");

/// Sends a request as a browser does, without a token.
fn send(port: u16, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut head = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n");
    headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    head.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(head.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    Answer::parse(&bytes).unwrap()
}

fn sign_in(port: u16, credentials: &Value) -> Answer {
    send(port, "POST", "/console/session", &[PAGE], &credentials.to_string())
}

/// Name and value of the cookie that an answer sets.
fn cookie(answer: &Answer) -> String {
    answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned()
}

/// Runs `agent-spaces console` where there is no screen.
fn console(home: &Home, token: Option<&str>, options: &[&str]) -> Output {
    let mut command = home.command(&[&["console"], options].concat());
    for variable in ["AGENT_SPACES_TOKEN", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME", "BROWSER"] {
        command.env_remove(variable);
    }
    command.envs(token.map(|token| ("AGENT_SPACES_TOKEN", token))).env("NO_COLOR", "1").output().unwrap()
}

#[test]
fn a_person_signs_in_with_a_token_and_out_again() {
    let served = RestServer::new();
    let (api, port) = (served.operator(), served.operator().port);
    let page = send(port, "GET", "/console/", &[], "").with_status(200);
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'"), "{page:?}");
    assert_eq!(send(port, "GET", "/", &[], "").with_status(307).header("location"), Some("/console/"));
    sign_in(port, &json!({ "token": "the-token-of-nobody" })).with_status(401);

    let signed_in = sign_in(port, &json!({ "token": OPERATOR })).with_status(200);
    let cookie = cookie(&signed_in);
    let own = [PAGE, ("cookie", cookie.as_str())];
    let me = send(port, "GET", "/v1/me", &own, "").with_status(200).json();
    assert_eq!(me, api.get("/v1/me").with_status(200).json());
    assert_eq!(me, signed_in.json());
    // What changes something works too, but for no other page.
    let new = json!({ "name": "of the console" }).to_string();
    let kind = ("content-type", "application/json");
    send(port, "POST", "/v1/spaces", &[PAGE, own[1], kind], &new).with_status(201);
    send(port, "POST", "/v1/spaces", &[own[1], kind], &new).with_status(401);
    let other = format!("http://127.0.0.1:{}", port.wrapping_add(1));
    send(port, "POST", "/v1/spaces", &[PAGE, own[1], kind, ("origin", &other)], &new).with_status(401);

    let caller = cookie_of_caller(&served);
    send(port, "GET", "/v1/me", &[PAGE, ("cookie", &caller)], "").with_status(200);
    let bearer = format!("Bearer {OPERATOR}");
    let both = [PAGE, ("cookie", caller.as_str()), ("authorization", bearer.as_str())];
    send(port, "GET", "/v1/me", &both, "").with_status(401);

    send(port, "DELETE", "/console/session", &own, "").with_status(204);
    send(port, "GET", "/v1/me", &own, "").with_status(401);
    let entries = api.get("/v1/audit?type=session.created&type=session.ended").with_status(200).json();
    let actions: Vec<_> = entries["items"].as_array().unwrap().iter().map(|item| &item["entry"]["action"]).collect();
    assert_eq!(actions, ["session.created", "session.created", "session.ended"], "{entries}");
    assert_eq!(entries["items"][2]["entry"]["operator"], true, "{entries}");
}

#[test]
fn a_stream_ends_when_its_person_signs_out() {
    let served = RestServer::new();
    let port = served.operator().port;
    let cookie = cookie(&sign_in(port, &json!({ "token": OPERATOR })).with_status(200));
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    // Shorter than the time between two comments of the stream.
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let head = format!("host: 127.0.0.1:{port}\r\nconnection: close\r\n{}: {}\r\ncookie: {cookie}\r\n", PAGE.0, PAGE.1);
    stream.write_all(format!("GET /v1/changes HTTP/1.1\r\n{head}\r\n").as_bytes()).unwrap();
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("retry: 500") {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes).unwrap();
        assert_ne!(count, 0, "{}", String::from_utf8_lossy(&seen));
        seen.extend_from_slice(&bytes[..count]);
    }
    send(port, "DELETE", "/console/session", &[PAGE, ("cookie", &cookie)], "").with_status(204);
    stream.read_to_end(&mut seen).unwrap();
    assert!(seen.ends_with(b"0\r\n\r\n"), "{}", String::from_utf8_lossy(&seen));
}

fn cookie_of_caller(served: &RestServer) -> String {
    let caller = served.caller(0);
    cookie(&sign_in(caller.port, &json!({ "token": caller.token })).with_status(200))
}

#[test]
fn the_command_makes_a_link_that_signs_in_once() {
    let served = RestServer::new();
    let port = served.operator().port;
    let url = format!("http://127.0.0.1:{port}");
    let output = console(&served.home, Some(OPERATOR), &["--url", &url, "--json"]);
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!((&said["ok"], &said["console"]), (&json!(true), &json!(format!("{url}/console/"))));
    let code = said["link"].as_str().and_then(|link| link.strip_prefix(&format!("{url}/console/#link="))).unwrap();
    assert_eq!(sign_in(port, &json!({ "link": code })).with_status(200).json()["operator"], true);
    sign_in(port, &json!({ "link": code })).with_status(401);

    let printed = console(&served.home, Some(OPERATOR), &["--url", &url, "--print"]);
    let link = String::from_utf8(printed.stdout).unwrap();
    assert!(link.starts_with(&format!("{url}/console/#link=v1.")) && link.ends_with('\n'), "{link}");
    assert!(!String::from_utf8_lossy(&printed.stderr).contains('\x1b'));
    #[cfg(target_os = "linux")]
    {
        let without_screen = console(&served.home, Some(OPERATOR), &["--url", &url]);
        assert!(String::from_utf8(without_screen.stdout).unwrap().starts_with(&url));
    }

    let wrong = console(&served.home, Some("the-token-of-nobody"), &["--url", &url]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("does not know this token"), "{wrong:?}");
    let none = console(&served.home, None, &["--url", &url, "--json"]);
    let said: Value = serde_json::from_slice(&none.stdout).unwrap();
    assert_eq!((none.status.code(), &said["error"]["code"]), (Some(2), &json!("config.token")));
}

#[test]
fn without_a_server_the_command_says_how_to_start_one() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let home = home(&config());
    let output = console(&home, Some(OPERATOR), &["--url", &format!("http://127.0.0.1:{port}")]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{errors}");
    assert!(errors.contains("host.serve") && errors.contains("`agent-spaces serve`"), "{errors}");
}

#[test]
fn a_server_can_have_no_console() {
    let served = RestServer::start(&home(&config()), &["--no-console"]);
    let port = served.operator().port;
    for path in ["/", "/console", "/console/"] {
        send(port, "GET", path, &[], "").with_status(404);
    }
    let output = console(&served.home, Some(OPERATOR), &["--url", &format!("http://127.0.0.1:{port}")]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(5) && errors.contains("--no-console"), "{errors}");
}
