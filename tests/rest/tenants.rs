//! Tenants: quotas that their callers share, and turns with other tenants.

use crate::mcp::support::eventually;
use crate::rest::client::{Answer, Api, id};
use crate::rest::server::{RestServer, config};
use serde_json::{Value, json};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);

/// Server with a tenant of callers 0 and 1; caller 2 is a tenant by itself.
fn server(quotas: Value, concurrency: Value) -> RestServer {
    let mut config = config();
    config["serve"]["tenants"] = json!({ "acme": quotas });
    config["serve"]["concurrency"] = concurrency;
    for caller in ["caller-0", "caller-1"] {
        config["serve"]["callers"][caller]["tenant"] = json!("acme");
    }
    RestServer::configured(&config)
}

fn run(api: &Api, space: &str, source: &str) -> Answer {
    api.post(&format!("/v1/spaces/{space}/runs?wait=30"), &json!({ "source": source }))
}

/// Cancels a run.
fn cancel(api: &Api, run: &str) {
    api.post(&format!("/v1/runs/{run}/cancel"), &json!({})).with_status(202);
}

#[test]
fn fuel_that_one_caller_used_is_missing_for_the_other() {
    let served = server(json!({ "fuelPerHour": 1 }), json!(10));
    let [shop, desk, other] = [0, 1, 2].map(|number| served.caller(number));
    let spaces = [&shop, &desk, &other].map(|api| api.new_space());
    run(&shop, &spaces[0], "export default 1;").with_status(201);
    let refused = run(&desk, &spaces[1], "export default 1;");
    let detail = refused.problem(429, "quota.fuel");
    assert!(detail.contains("`acme`") && detail.contains("`serve.tenants.acme.fuelPerHour`"), "{detail}");
    let seconds: u32 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=3_600).contains(&seconds), "{seconds}");
    run(&other, &spaces[2], "export default 1;").with_status(201);
    // What was used is known after a crash, once it is stored.
    std::thread::sleep(Duration::from_secs(3));
    let served = served.killed_and_started();
    run(&served.caller(1), &spaces[1], "export default 1;").problem(429, "quota.fuel");
}

#[test]
fn programs_over_mcp_count_too() {
    let served = server(json!({ "fuelPerHour": 1 }), json!(10));
    let (shop, desk) = (served.caller(0), served.caller(1));
    let space = desk.new_space();
    let accept = ("accept", "application/json, text/event-stream");
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } });
    let greeted = shop.send_json("POST", "/mcp", &[accept], &initialize).with_status(200);
    let session = greeted.header("mcp-session-id").unwrap();
    let headers = [accept, ("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    shop.send_json("POST", "/mcp", &headers, &told).with_status(202);
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "run_code", "arguments": { "code": "export default 'ran';" },
    } });
    let said = || {
        let answer = shop.send_json("POST", "/mcp", &headers, &call).with_status(200);
        String::from_utf8(answer.body).unwrap()
    };
    assert!(said().contains("ran"));
    let refused = said();
    assert!(refused.contains("run.busy") && refused.contains("fuelPerHour"), "{refused}");
    run(&desk, &space, "export default 1;").problem(429, "quota.fuel");
}

#[test]
fn calls_are_counted() {
    let served = server(json!({ "callsPerHour": 2 }), json!(10));
    let (shop, desk) = (served.caller(0), served.caller(1));
    let spaces = [shop.new_space(), desk.new_space()];
    let looks = "import { files } from '@capabilities/files'; export default await files.look({ path: 'a' });";
    run(&shop, &spaces[0], looks).with_status(201);
    run(&desk, &spaces[1], "export default 1;").with_status(201);
    run(&desk, &spaces[1], looks).with_status(201);
    run(&shop, &spaces[0], "export default 1;").problem(429, "quota.calls");
}

#[test]
fn spaces_and_files_of_all_callers_count() {
    let served = server(json!({ "spaces": 2, "storage": 1_000 }), json!(10));
    let [shop, desk, other] = [0, 1, 2].map(|number| served.caller(number));
    let (ours, theirs) = (shop.new_space(), desk.new_space());
    let detail = shop.post("/v1/spaces", &json!({ "name": "third" })).problem(403, "quota.spaces");
    assert!(detail.contains("`serve.tenants.acme.spaces`"), "{detail}");
    other.new_space();
    other.new_space();
    other.new_space();
    shop.put(&format!("/v1/spaces/{ours}/files/a"), &[b'a'; 600]).with_status(201);
    let path = format!("/v1/spaces/{theirs}/files/b");
    desk.put(&path, &[b'b'; 500]).problem(403, "quota.storage");
    desk.put(&path, &[b'b'; 400]).with_status(201);
    run(&desk, &theirs, "export default 1;").problem(403, "quota.storage");
    desk.delete(&path).with_status(204);
    run(&desk, &theirs, "export default 1;").with_status(201);
    desk.delete(&format!("/v1/spaces/{theirs}")).with_status(204);
    shop.new_space();
}

#[test]
fn runs_beyond_the_quota_of_the_tenant_are_queued() {
    let served = server(json!({ "runs": 1 }), json!(10));
    let [shop, desk, other] = [0, 1, 2].map(|number| served.caller(number));
    let spaces = [&shop, &desk, &other].map(|api| api.new_space());
    let looping = shop.start(&spaces[0], "for (;;);");
    assert_eq!(shop.status(&looping), "running");
    let queued = desk.start(&spaces[1], "export default 'ran';");
    assert_eq!(desk.status(&queued), "queued");
    run(&other, &spaces[2], "export default 1;").with_status(201);
    cancel(&shop, &looping);
    assert_eq!(desk.ended(&queued)["value"], "ran");
}

#[test]
fn a_tenant_with_many_runs_leaves_places_to_others_and_takes_turns() {
    let served = server(json!({}), json!({ "rest": 10, "all": 2 }));
    let [shop, desk, other] = [0, 1, 2].map(|number| served.caller(number));
    let spaces = [&shop, &desk, &other].map(|api| api.new_space());
    let noisy: Vec<String> = (0..3).map(|_| shop.start(&spaces[0], "for (;;);")).collect();
    assert!(eventually(SOON, || noisy.iter().filter(|run| shop.status(run) == "running").count() == 1), "half of two");
    // Another tenant has the other place at once.
    let second = other.start(&spaces[2], "for (;;);");
    assert_eq!(other.status(&second), "running");
    let waiting =
        [desk.start(&spaces[1], "export default 'desk';"), other.start(&spaces[2], "export default 'other';")];
    assert_eq!((desk.status(&waiting[0]), other.status(&waiting[1])), ("queued".to_owned(), "queued".to_owned()));
    // Its first run ends, and the next of the other tenant has its place, not the older ones of the noisy one.
    cancel(&other, &second);
    assert_eq!(other.ended(&waiting[1])["value"], "other");
    let running = noisy.iter().filter(|run| shop.status(run) == "running").count();
    assert_eq!(running, 1, "the noisy tenant has half of the places at most");
    noisy.iter().for_each(|run| cancel(&shop, run));
    assert_eq!(desk.ended(&waiting[0])["value"], "desk");
}

#[test]
fn tenants_and_their_callers_see_only_what_is_their_own() {
    let served = server(json!({ "runs": 5 }), json!(10));
    let [shop, desk, other] = [0, 1, 2].map(|number| served.caller(number));
    let space = shop.new_space();
    let run = id(&shop.run(&space, "export default 1;"));
    for stranger in [&desk, &other] {
        stranger.get(&format!("/v1/spaces/{space}")).problem(404, "not_found");
        stranger.get(&format!("/v1/runs/{run}")).problem(404, "not_found");
        let listed = stranger.get("/v1/runs").with_status(200).json();
        assert_eq!(listed["items"], json!([]), "{listed}");
    }
}

#[test]
fn metrics_have_the_load() {
    let served = server(json!({}), json!({ "rest": 1, "all": 4 }));
    let (api, operator) = (served.caller(0), served.operator());
    let space = api.new_space();
    let value = |name: &str| -> Option<f64> {
        let text = String::from_utf8(operator.get("/metrics").with_status(200).body).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")).map(str::to_owned));
        line.and_then(|number| number.parse().ok())
    };
    assert!(eventually(SOON, || value("agent_spaces_places") == Some(4.0)));
    assert_eq!(value("agent_spaces_hosts"), Some(1.0));
    let runs: Vec<String> = (0..3).map(|_| api.start(&space, "for (;;);")).collect();
    // One runs, and two wait for it.
    assert!(
        eventually(SOON, || value("agent_spaces_saturation") == Some(0.75)),
        "{:?}",
        value("agent_spaces_saturation")
    );
    assert_eq!(value("agent_spaces_runs_executing"), Some(1.0));
    assert!(eventually(SOON, || value("agent_spaces_queue_wait_seconds").is_some_and(|wait| wait > 1.0)));
    runs.iter().for_each(|run| cancel(&api, run));
}
