//! Runs that wait: polling, queue, cancellation.

use crate::mcp::support::eventually;
use crate::rest::client::{id, text};
use crate::rest::server::{REMOVES, RestServer, SLEEPS, config, home};
use serde_json::json;
use std::time::{Duration, Instant};

/// Time for what needs moments.
const SOON: Duration = Duration::from_secs(10);

#[test]
fn a_request_may_wait_or_poll() {
    let served = RestServer::new();
    let api = served.operator();
    let path = format!("/v1/spaces/{}/runs", api.new_space());
    let body = json!({ "source": "await new Promise((done) => setTimeout(done, 1_500)); export default 'slept';" });
    let begun = Instant::now();
    let polled = api.post(&format!("{path}?wait=0"), &body).with_status(202);
    assert!(begun.elapsed() < Duration::from_millis(1_400), "{:?}", begun.elapsed());
    let run = id(&polled.json());
    assert_eq!(polled.header("location"), Some(&*format!("/v1/runs/{run}")));
    assert!(polled.json().get("value").is_none(), "{polled:?}");
    assert!(eventually(SOON, || api.status(&run) == "finished"));
    assert_eq!(api.ended(&run)["value"], "slept");

    assert_eq!(api.post(&format!("{path}?wait=30"), &body).with_status(201).json()["value"], "slept");
    let begun = Instant::now();
    let early = api.post(&format!("{path}?wait=1"), &body).with_status(202).json();
    assert!(begun.elapsed() >= Duration::from_millis(900), "{:?}", begun.elapsed());
    let ended = api.ended(&id(&early));
    assert_eq!((&ended["status"], &ended["value"]), (&json!("finished"), &json!("slept")));
    for wait in ["61", "-1", "x", "1.5", ""] {
        api.post(&format!("{path}?wait={wait}"), &body).problem(400, "request.invalid");
        api.get(&format!("/v1/runs/{run}?wait={wait}")).problem(400, "request.invalid");
    }
}

#[test]
fn a_run_that_waits_says_until_when() {
    let served = RestServer::new();
    let api = served.operator();
    let run = api.start(&api.new_space(), SLEEPS);
    assert!(eventually(SOON, || api.status(&run) == "waiting"));
    let shown = api.get(&format!("/v1/runs/{run}")).json();
    assert!(shown["waitsUntil"].as_str() > shown["createdAt"].as_str(), "{shown}");
    let listed = api.get("/v1/runs?status=waiting").json();
    assert_eq!(id(&listed["items"][0]), run);
    api.post(&format!("/v1/runs/{run}/resume"), &json!({})).problem(409, "run.not_waiting");
}

#[test]
fn runs_beyond_the_concurrency_are_queued() {
    let served = RestServer::start(&home(&config()), &["--concurrency", "1"]);
    let (api, other) = (served.operator(), served.caller(0));
    let space = api.new_space();
    let looping = api.start(&space, "for (;;);");
    assert_eq!(api.status(&looping), "running");
    let queued = api.start(&space, "export default 'ran';");
    assert_eq!(api.status(&queued), "queued");
    let listed = api.get("/v1/runs?status=queued").json();
    assert_eq!(listed["items"].as_array().unwrap().iter().map(id).collect::<Vec<_>>(), std::slice::from_ref(&queued));
    assert_eq!(
        other.run(&other.new_space(), "export default 'ran';")["value"],
        "ran",
        "each caller has its own places"
    );
    let given_up = api.start(&space, "export default 'ran';");
    assert_eq!(api.status(&given_up), "queued");
    let cancelled = api.post(&format!("/v1/runs/{given_up}/cancel"), &json!({})).with_status(202).json();
    assert_eq!(cancelled["status"], "cancelled", "one in the queue ends at once");
    api.post(&format!("/v1/runs/{looping}/cancel"), &json!({})).with_status(202);
    let ran = api.ended(&queued);
    assert_eq!((&ran["status"], &ran["value"]), (&json!("finished"), &json!("ran")), "{ran}");
    let events = api.get(&format!("/v1/runs/{given_up}/events")).json();
    assert!(!events.to_string().contains("\"ok\":true"), "it never ran: {events}");
}

#[test]
fn a_caller_cannot_queue_runs_without_end() {
    let served = RestServer::start(&home(&config()), &["--concurrency", "1"]);
    let api = served.operator();
    let space = api.new_space();
    api.start(&space, "for (;;);");
    let path = format!("/v1/spaces/{space}/runs");
    let mut queued = 0;
    let busy = loop {
        let answer = api.post(&path, &json!({ "source": "1" }));
        match answer.status {
            202 => queued += 1,
            _ => break answer,
        }
        assert!(queued < 1_000, "there is no limit");
    };
    busy.problem(429, "run.busy");
    assert!(busy.header("retry-after").is_some_and(|text| text.parse::<u32>().is_ok()), "{busy:?}");
    assert!(queued >= 10, "{queued}");
}

#[test]
fn running_and_waiting_runs_are_cancelled() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    let awaits = "await new Promise(() => {});";
    for (source, state) in [("for (;;);", "running"), (SLEEPS, "waiting"), (REMOVES, "awaiting_approval")] {
        let run = api.start(&space, source);
        assert!(eventually(SOON, || api.status(&run) == state), "{source}: {}", api.status(&run));
        let begun = Instant::now();
        api.post(&format!("/v1/runs/{run}/cancel"), &json!({})).with_status(202);
        let ended = api.ended(&run);
        assert!(begun.elapsed() < Duration::from_secs(3), "{source}: {:?}", begun.elapsed());
        assert_eq!(
            (&ended["status"], &ended["error"]["code"]),
            (&json!("cancelled"), &json!("run.cancelled")),
            "{ended}"
        );
        // The answer to the first may have been lost.
        api.post(&format!("/v1/runs/{run}/cancel"), &json!({})).with_status(202);
        api.post(&format!("/v1/runs/{run}/resume"), &json!({})).problem(409, "run.not_waiting");
    }
    let stuck = api.run(&space, awaits);
    assert_eq!(stuck["status"], "failed", "a run that nothing can continue ends: {stuck}");
    let path = format!("/v1/runs/{}/cancel", stuck["id"].as_str().unwrap());
    api.post(&path, &json!({})).problem(409, "run.ended");
    let pending = api.get("/v1/approvals?status=pending").json();
    assert_eq!(pending["items"], json!([]), "nobody is asked about a cancelled run");
}

/// Runs that wait stay in memory for a while; clients cannot tell.
#[test]
fn the_state_of_a_run_is_the_same_wherever_it_is_shown() {
    let mut config = config();
    config["durable"]["parkAfter"] = json!("1h");
    let served = RestServer::configured(&config);
    let api = served.operator();
    let space = api.new_space();
    let (asking, computing) = (api.start(&space, REMOVES), api.start(&space, "for (;;);"));
    assert!(eventually(SOON, || api.status(&asking) == "awaiting_approval"), "{}", api.status(&asking));
    let list = |query: &str| -> Vec<(String, String)> {
        let page = api.get(&format!("/v1/runs{query}")).with_status(200).json();
        page["items"].as_array().unwrap().iter().map(|run| (id(run), text(&run["status"]))).collect()
    };
    let (asks, computes) = ((asking, "awaiting_approval".to_owned()), (computing, "running".to_owned()));
    assert_eq!(list(""), [computes.clone(), asks.clone()]);
    assert_eq!(list("?status=running"), [computes]);
    assert_eq!(list("?status=awaiting_approval"), [asks]);
}
