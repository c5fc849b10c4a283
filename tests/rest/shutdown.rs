//! SIGTERM with runs in progress.

use crate::approvals::support::wait_until;
use crate::rest::client::id;
use crate::rest::event_stream::follow_bytes;
use crate::rest::server::{REMOVES, RestServer, SLEEPS, config, home};
use serde_json::json;
use std::net::TcpStream;
use std::time::Duration;

/// Script that computes for some seconds.
const COMPUTES: &str =
    "let sum = 0; for (let count = 0; count < 100_000_000; count += 1) sum += count % 7; export default sum;";

#[test]
fn runs_are_parked_and_finished_by_the_next_server() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    let asking = api.start(&space, REMOVES);
    let approval = wait_until("it asks", || api.get("/v1/approvals?status=pending").json()["items"].get(0).map(id));
    let computing = api.start(&space, COMPUTES);
    let sleeping = api.start(&space, "await new Promise((done) => setTimeout(done, 3_000)); export default 'slept';");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(api.status(&computing), "running");
    let (listener, path) = (api.clone(), format!("/v1/runs/{asking}/events"));
    let stream = std::thread::spawn(move || follow_bytes(&listener, &path, None, usize::MAX));
    std::thread::sleep(Duration::from_millis(200));

    let home = served.home.clone();
    let took = served.terminated();
    assert!(took < Duration::from_secs(10), "{took:?}");
    let seen = stream.join().unwrap();
    assert!(seen.iter().all(|event| event.name == "message"), "the run has not ended: {seen:?}");
    assert!(TcpStream::connect(("127.0.0.1", api.port)).is_err());
    let listed = home.finish(&["runs", "list", "--json"]).json();
    for run in [&asking, &computing, &sleeping] {
        let row = listed.as_array().unwrap().iter().find(|row| row["runId"] == **run).unwrap();
        assert_eq!(row["status"], "parked", "{row}");
    }

    let served = RestServer::start(&home, &[]);
    let api = served.operator();
    let computed = api.ended(&computing);
    assert_eq!((&computed["status"], &computed["value"]), (&json!("finished"), &json!(299_999_995)), "{computed}");
    assert_eq!(api.ended(&sleeping)["value"], "slept");
    assert_eq!(api.status(&asking), "awaiting_approval");
    api.post(&format!("/v1/approvals/{approval}/decision"), &json!({ "decision": "approve" })).with_status(200);
    let ended = api.ended(&asking);
    assert_eq!((&ended["status"], &ended["value"]), (&json!("finished"), &json!("removed a")), "{ended}");
    let rest = follow_bytes(&api, &format!("/v1/runs/{asking}/events"), None, usize::MAX);
    assert_eq!(rest[..seen.len()], seen, "what was sent stays");
}

/// A server without work ends at once, and one with followers too.
#[test]
fn a_follower_does_not_delay_the_end() {
    let served = RestServer::new();
    let api = served.operator();
    let run = api.start(&api.new_space(), SLEEPS);
    let streams: Vec<_> = (0..5).map(|_| api.open("GET", &format!("/v1/events?run={run}"), &[], b"")).collect();
    std::thread::sleep(Duration::from_millis(500));
    let took = served.terminated();
    assert!(took < Duration::from_secs(4), "{took:?}");
    drop(streams);
}

/// A client that waits for a run learns that it goes on elsewhere.
#[test]
fn requests_that_wait_are_answered_at_the_end() {
    let served = RestServer::new();
    let api = served.operator();
    let run = api.start(&api.new_space(), SLEEPS);
    let waiting = {
        let (api, path) = (api.clone(), format!("/v1/runs/{run}?wait=60"));
        std::thread::spawn(move || api.get(&path))
    };
    std::thread::sleep(Duration::from_millis(500));
    let took = served.terminated();
    let answer = waiting.join().unwrap().with_status(200).json();
    assert_eq!((id(&answer), &answer["status"]), (run, &json!("waiting")), "{answer}");
    assert!(took < Duration::from_secs(4), "{took:?}");
}

/// Load balancers notice that the server stops before it refuses connections.
#[test]
fn requests_are_served_during_the_drain_delay_until_a_second_signal() {
    let served = RestServer::start(&home(&config()), &["--drain-delay", "5min"]);
    let api = served.operator();
    let space = api.new_space();
    api.get("/ready").with_status(200);
    served.terminate();
    let refused = wait_until("it is not ready", || Some(api.get("/ready")).filter(|answer| answer.status == 503));
    assert_eq!(refused.json()["code"], "host.not_ready");
    api.get("/health").with_status(200);
    let run = api.run(&space, "export default 6 * 7");
    assert_eq!((&run["status"], &run["value"]), (&json!("finished"), &json!(42)), "{run}");
    let waits = api.start(&space, SLEEPS);
    wait_until("it waits", || (api.status(&waits) == "waiting").then_some(()));
    let home = served.home.clone();
    let took = served.terminated();
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(TcpStream::connect(("127.0.0.1", api.port)).is_err());
    let listed = home.finish(&["runs", "list", "--json"]).json();
    let row = listed.as_array().unwrap().iter().find(|row| row["runId"] == *waits).unwrap();
    assert_eq!(row["status"], "parked", "{row}");
}

#[test]
fn the_server_ends_after_the_drain_delay() {
    let served = RestServer::start(&home(&config()), &["--drain-delay", "2s"]);
    let took = served.terminated();
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(12), "{took:?}");
}
