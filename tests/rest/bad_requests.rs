//! Wrong requests to every operation: each gets a problem document, and none an error of the server.

use crate::rest::client::Answer;
use crate::rest::operations::{Operation, operations};
use crate::rest::server::RestServer;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// Answers that are not problem documents with the right status. A test shows all of them.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    /// Adds those whose answer is not a problem document with one of these statuses.
    fn check(&mut self, what: &str, statuses: &[u16], operation: &Operation, answer: &Answer) {
        let wrong = (!statuses.contains(&answer.status)).then(|| format!("{answer:?}"));
        if let Some(fault) = answer.fault().or(wrong) {
            let (what, fault): (String, String) = (what.chars().take(20).collect(), fault.chars().take(300).collect());
            self.0.push(format!("{what}: {} {}: {fault}", operation.method, operation.template));
        }
    }

    #[track_caller]
    fn assert_none(self) {
        assert!(self.0.is_empty(), "{} wrong answers\n{}", self.0.len(), self.0.join("\n"));
    }
}

#[test]
fn wrong_methods_are_refused() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let mut faults = Faults::default();
    for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "TRACE"] {
        let takes = |path: &str| all.iter().any(|one| one.template == path && one.method == method);
        for one in all.iter().filter(|one| !takes(&one.template)) {
            faults.check(method, &[405], one, &api.send(method, &one.path, &[], b""));
        }
    }
    faults.assert_none();
    for path in ["/openapi.json", "/health", "/ready"] {
        api.send("POST", path, &[], b"").problem(405, "method");
    }
}

#[test]
fn wrong_tokens_are_refused() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let mut faults = Faults::default();
    let mut statuses = BTreeSet::new();
    let tab = format!("bearer\t{}", api.token);
    for value in ["Bearer wrong", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", &tab, "Bearer \u{ff}"] {
        for one in &all {
            let answer = one.send(&api, &[("authorization", value)], one.body());
            // After some of them, this address has to wait.
            faults.check(value, &[401, 429], one, &answer);
            let header = if answer.status == 401 { "www-authenticate" } else { "retry-after" };
            assert!(answer.header(header).is_some(), "{value}: {answer:?}");
            statuses.insert(answer.status);
        }
    }
    faults.assert_none();
    assert_eq!(statuses, BTreeSet::from([401, 429]));
    api.get("/v1/me").with_status(200);
    for open in ["/openapi.json", "/health", "/ready"] {
        api.send("GET", open, &[("authorization", "Bearer wrong")], b"").with_status(200);
    }
}

#[test]
fn unknown_query_parameters_are_refused() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let mut faults = Faults::default();
    // Those that delete come last, so that an operation that takes it does not hide others.
    let (last, first): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.method == "DELETE");
    for one in first.into_iter().chain(last) {
        faults.check("?limits=1", &[400], one, &one.send_to(&api, &format!("{}?limits=1", one.path), &[], one.body()));
    }
    faults.assert_none();
}

#[test]
fn wrong_query_values_are_refused() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let mut faults = Faults::default();
    let long = "x".repeat(9_000);
    for one in &all {
        for name in &one.in_query {
            let number = ["limit", "cursor", "wait", "follow"].contains(&name.as_str()).then_some("-1");
            for value in ["%ff", "%00", &long].into_iter().chain(number) {
                let query = format!("?{name}={value}");
                faults.check(&query, &[400], one, &one.send_to(&api, &format!("{}{query}", one.path), &[], one.body()));
            }
        }
    }
    faults.assert_none();
}

#[test]
fn wrong_path_parameters_are_refused() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let mut faults = Faults::default();
    let long = "x".repeat(5_000);
    for value in ["%ff", "%00", "..%2f..%2fx", "%E2%80%AE", "x", "-", "%", "%zz", &long] {
        for one in &all {
            for name in one.in_path.iter().filter(|name| *name != "path") {
                let answer = one.send_to(&api, &one.with(name, value), &[], one.body());
                faults.check(value, &[400, 404, 414], one, &answer);
            }
        }
    }
    faults.assert_none();
    for path in ["/v1", "/v1/", "/v1/nothing", "/v2/spaces", "/v1/spaces/", "//v1/spaces"] {
        api.get(path).problem(404, "not_found");
    }
}

#[test]
fn wrong_headers_are_refused() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let mut faults = Faults::default();
    let long = "x".repeat(300);
    for one in &all {
        for name in &one.in_headers {
            let name = name.to_lowercase();
            // A key may be any printable text.
            let quote = (name != "idempotency-key").then_some("\"");
            for value in ["\u{ff}", &long].into_iter().chain(quote) {
                faults.check(&name, &[400, 412], one, &one.send(&api, &[(&name, value)], one.body()));
            }
        }
    }
    faults.assert_none();
}

#[test]
fn empty_headers_are_refused_and_named() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let mut faults = Faults::default();
    // Browsers send an empty `Last-Event-ID` if they got no event.
    let is_refused = |name: &&String| *name != "Last-Event-ID";
    for one in &all {
        for name in one.in_headers.iter().filter(is_refused) {
            let answer = one.send(&api, &[(&name.to_lowercase(), "")], one.body());
            faults.check(name, &[400], one, &answer);
            assert_eq!(answer.json()["errors"][0]["header"], *name, "{answer:?}");
        }
    }
    faults.assert_none();
}

#[test]
fn null_members_are_refused_and_named() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let mut faults = Faults::default();
    for one in all.iter().filter(|one| one.members.is_some()) {
        // These take any value.
        let typed = one.members.iter().flatten().filter(|member| !["input", "value"].contains(&member.as_str()));
        for member in typed {
            let mut body: Value = serde_json::from_slice(one.body()).unwrap();
            body[member] = Value::Null;
            let answer = one.send(&api, &[], body.to_string().as_bytes());
            faults.check(member, &[400], one, &answer);
            assert_eq!(answer.json()["errors"][0]["pointer"], format!("/{member}"), "{answer:?}");
        }
    }
    faults.assert_none();
}

#[test]
fn wrong_bodies_are_refused() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let mut faults = Faults::default();
    let values = format!("[{}1]", "1,".repeat(300_000));
    let large = [b"{\"name\":\"".as_slice(), &vec![b'x'; 4 << 20], b"\"}"].concat();
    let bodies: [(&str, &[u8], u16); 12] = [
        ("empty", b"", 400),
        ("cut", b"{\"name", 400),
        ("not UTF-8", b"{\"name\":\"\xff\"}", 400),
        ("half a surrogate", b"{\"name\":\"\\ud800\"}", 400),
        ("text", b"\"x\"", 400),
        ("null", b"null", 400),
        ("list", b"[]", 400),
        ("list of members", b"[\"x\", null, null]", 400),
        ("more than one", b"{} {}", 400),
        ("deep", &[b'['; 100_000], 400),
        ("many values", values.as_bytes(), 413),
        ("large", &large, 413),
    ];
    for one in all.iter().filter(|one| one.members.is_some()) {
        let mut unknown: Value = serde_json::from_slice(one.body()).unwrap();
        unknown["nothingKnown"] = json!(1);
        let answer = one.send(&api, &[], unknown.to_string().as_bytes());
        faults.check("unknown member", &[400], one, &answer);
        assert!(format!("{answer:?}").contains("nothingKnown"), "the member is named: {answer:?}");
        for (what, body, status) in bodies {
            faults.check(what, &[status], one, &one.send(&api, &[], body));
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", ""] {
            faults.check("media type", &[415], one, &one.send(&api, &[("content-type", kind)], one.body()));
        }
    }
    faults.assert_none();
}

#[test]
fn wrong_types_of_members_are_refused() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let mut faults = Faults::default();
    for one in all.iter().filter(|one| one.members.is_some()) {
        for member in one.members.iter().flatten() {
            let mut refused = 0;
            for value in [json!(true), json!(-1), json!(1e300), json!("\u{0}"), json!([[]]), json!({ "x": 1 })] {
                let mut body: Value = serde_json::from_slice(one.body()).unwrap();
                body[member] = value.clone();
                let answer = one.send(&api, &[], body.to_string().as_bytes());
                if answer.status >= 400 {
                    refused += 1;
                    faults.check(&format!("{member}: {value}"), &[400, 403, 404, 409, 422], one, &answer);
                }
            }
            // `input` and `value` take anything, `policy` some objects.
            assert!(refused >= 4 || ["input", "value"].contains(&member.as_str()), "{one:?}: {member}: {refused}");
        }
    }
    faults.assert_none();
}

/// A body that comes byte by byte.
#[test]
fn slow_bodies_time_out() {
    let served = RestServer::new();
    let (api, all) = (served.operator(), operations(&served));
    let slow: Vec<&Operation> = all.iter().filter(|one| one.members.is_some() || one.method == "PUT").collect();
    let answers: Vec<(&Operation, Answer)> = std::thread::scope(|scope| {
        let send = |one: &Operation| {
            let mut stream = std::net::TcpStream::connect(("127.0.0.1", api.port)).unwrap();
            let head = format!(
                "{} {} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n",
                one.method, one.path, api.token
            );
            stream.write_all(head.as_bytes()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
            let (begun, mut bytes) = (Instant::now(), Vec::new());
            while Answer::parse(&bytes).is_none_or(|answer| answer.body.is_empty()) {
                assert!(begun.elapsed() < Duration::from_secs(60), "no answer");
                let _ = stream.write_all(b" ");
                let mut some = [0; 4_096];
                let count = stream.read(&mut some).unwrap_or_default();
                bytes.extend_from_slice(&some[..count]);
            }
            Answer::parse(&bytes).unwrap()
        };
        let work: Vec<_> = slow.iter().map(|one| (*one, scope.spawn(move || send(one)))).collect();
        work.into_iter().map(|(one, thread)| (one, thread.join().unwrap())).collect()
    });
    let mut faults = Faults::default();
    answers.iter().for_each(|(one, answer)| faults.check("slow", &[408], one, answer));
    faults.assert_none();
    api.get("/v1/spaces").with_status(200);
}
