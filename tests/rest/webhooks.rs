//! Webhooks of spaces: changes, and messages to a local receiver.

use crate::approvals::support::wait_until;
use crate::rest::client::{Answer, Api, id};
use crate::rest::server::{RestServer, config};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Address of nobody.
const NOWHERE: &str = "https://hooks.invalid/one";

/// Makes a space with a webhook and returns the response.
fn hooked(api: &Api, url: &str) -> Answer {
    api.post("/v1/spaces", &json!({ "name": "hooked", "webhook": { "url": url } })).with_status(201)
}

/// Changes the webhook of a space.
fn change(api: &Api, space: &str, body: &Value) -> Answer {
    api.send_json("PATCH", &format!("/v1/spaces/{space}/webhook"), &[], body)
}

/// Starts a server that accepts messages and returns its address and their bodies.
fn receiver() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://127.0.0.1:{}/hook", listener.local_addr().unwrap().port());
    let (sender, bodies) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            if sender.send(accepted(stream.unwrap())).is_err() {
                return;
            }
        }
    });
    (url, bodies)
}

/// Reads a request, accepts it and returns its body.
fn accepted(stream: TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    reader.get_mut().write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn a_webhook_is_changed_with_the_current_etag() {
    let served = RestServer::new();
    let api = served.operator();
    let made = hooked(&api, NOWHERE);
    let (space, secret) = (id(&made.json()), made.json()["webhook"]["secret"].clone());
    assert!(secret.as_str().is_some_and(|secret| secret.starts_with("whsec_")), "{secret}");
    let path = format!("/v1/spaces/{space}/webhook");
    let body = json!({ "url": "https://hooks.invalid/two", "events": ["run.ended"], "enabled": false });
    let changed = api.send_json("PATCH", &path, &[("if-match", &made.etag())], &body).with_status(200);
    assert_eq!(changed.json()["webhook"], body, "without the secret");
    assert_ne!(changed.etag(), made.etag());
    api.send_json("PATCH", &path, &[("if-match", &made.etag())], &json!({ "enabled": true }))
        .problem(412, "precondition");
    let read = api.get(&format!("/v1/spaces/{space}")).with_status(200);
    assert_eq!((read.json(), read.etag()), (changed.json(), changed.etag()), "what is refused changes nothing");
    // Members that are missing stay.
    let enabled = change(&api, &space, &json!({ "enabled": true })).with_status(200).json();
    let expected = json!({ "url": "https://hooks.invalid/two", "events": ["run.ended"], "enabled": true });
    assert_eq!(enabled["webhook"], expected);
}

#[test]
fn a_change_has_the_checks_of_a_new_webhook() {
    let served = RestServer::new();
    let (ann, bob) = (served.caller(0), served.caller(1));
    let made = hooked(&ann, NOWHERE);
    let space = id(&made.json());
    for wrong in [
        json!({ "url": "http://example.com/" }),
        json!({ "url": "https://127.0.0.1/" }),
        json!({ "url": "https://10.0.0.1:8443/" }),
        json!({ "url": "https://169.254.169.254/latest" }),
        json!({ "url": format!("https://example.com/{}", "a".repeat(2_048)) }),
        json!({ "events": [] }),
        json!({ "events": ["run.started"] }),
        json!({ "enabled": "no" }),
        json!({ "url": null }),
        json!({ "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }),
    ] {
        change(&ann, &space, &wrong).problem(400, "request.invalid");
    }
    change(&bob, &space, &json!({ "enabled": false })).problem(404, "not_found");
    assert_eq!(ann.get(&format!("/v1/spaces/{space}")).etag(), made.etag(), "nothing was changed");
    change(&ann, &ann.new_space(), &json!({ "enabled": false })).problem(404, "not_found");
    let listed = ann.get("/v1/spaces").with_status(200).json();
    let configured = listed["items"].as_array().unwrap().iter().find(|one| one["source"] == "configuration").unwrap();
    change(&ann, &id(configured), &json!({ "enabled": false })).problem(409, "space.configured");
}

#[test]
fn a_change_is_in_the_audit_log_without_the_address() {
    let served = RestServer::new();
    let api = served.caller(0);
    let space = id(&hooked(&api, NOWHERE).json());
    change(&api, &space, &json!({ "url": "https://hooks.invalid/?key=k1" })).with_status(200);
    let entry = wait_until("it is written", || {
        let page = api.get("/v1/audit").with_status(200).json();
        let mut entries = page["items"].as_array().unwrap().iter().map(|item| item["entry"].clone());
        entries.find(|entry| entry["action"] == "webhook.changed")
    });
    assert_eq!((&entry["spaceId"], &entry["caller"]), (&json!(space), &json!("caller-0")), "{entry}");
    assert!(!entry.to_string().contains("k1"), "{entry}");
}

#[test]
fn messages_go_to_the_new_address_unless_the_webhook_is_disabled() {
    let mut config = config();
    config["serve"]["webhooks"] = json!({ "allowPrivate": true });
    let served = RestServer::configured(&config);
    let api = served.operator();
    let ((old, from_old), (new, from_new)) = (receiver(), receiver());
    let space = id(&hooked(&api, &old).json());
    let next =
        |bodies: &Receiver<Value>| bodies.recv_timeout(Duration::from_secs(30)).unwrap()["data"]["runId"].clone();
    let first = id(&api.run(&space, "export default 1;"));
    assert_eq!(next(&from_old), first);
    change(&api, &space, &json!({ "url": new })).with_status(200);
    let second = id(&api.run(&space, "export default 2;"));
    assert_eq!(next(&from_new), second);
    change(&api, &space, &json!({ "enabled": false })).with_status(200);
    api.run(&space, "export default 3;");
    change(&api, &space, &json!({ "enabled": true })).with_status(200);
    let fourth = id(&api.run(&space, "export default 4;"));
    assert_eq!(next(&from_new), fourth, "the run that ended while it was disabled is left out");
    assert!(from_old.try_recv().is_err(), "the old address gets nothing more");
}
