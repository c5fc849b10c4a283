//! Audit log: what callers did, under their names.

use crate::approvals::support::wait_until;
use crate::rest::client::{Api, id};
use crate::rest::server::{REMOVES, RestServer};
use serde_json::{Value, json};

/// Returns all entries of the audit log that a caller sees.
fn entries(api: &Api) -> Vec<Value> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = api.get(&format!("/v1/audit?limit=3{cursor}")).with_status(200).json();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 3, "{page}");
        all.extend(items.iter().map(|item| item["entry"].clone()));
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
}

/// Actions in these entries.
fn actions(entries: &[Value]) -> Vec<&str> {
    entries.iter().filter_map(|entry| entry["action"].as_str()).collect()
}

#[test]
fn actions_are_recorded_under_the_callers_name() {
    let served = RestServer::new();
    let (ann, bob) = (served.caller(0), served.caller(1));
    bob.new_space();
    let space = ann.new_space();
    let run = ann.start(&space, REMOVES);
    let approval = wait_until("it asks", || ann.get("/v1/approvals").json()["items"].get(0).map(id));
    let decision = json!({ "decision": "approve" });
    ann.post(&format!("/v1/approvals/{approval}/decision"), &decision).with_status(200);
    assert_eq!(ann.ended(&run)["value"], "removed a");
    ann.delete(&format!("/v1/spaces/{space}")).with_status(204);

    let expected = ["space.created", "run.created", "approval.decided", "space.deleted"];
    let own = wait_until("all is written", || Some(entries(&ann)).filter(|own| actions(own).len() >= expected.len()));
    assert_eq!(actions(&own), expected);
    assert!(own.iter().all(|entry| entry["caller"] == "caller-0"), "{own:?}");
    assert!(own.iter().any(|entry| entry["type"] == "runFinished" && entry["runId"] == run), "{own:?}");
    assert_eq!(actions(&entries(&bob)), ["space.created"], "each sees its own");
    let all = entries(&served.operator());
    assert_eq!(actions(&all).len(), expected.len() + 1, "the operator sees all");
    served.operator().get("/v1/audit?cursor=x").problem(400, "request.invalid");
}

#[test]
fn the_log_is_searched_exported_and_verified() {
    let served = RestServer::new();
    let (ann, bob) = (served.caller(0), served.caller(1));
    bob.new_space();
    let space = ann.new_space();
    let run = ann.run(&space, "export default 1;");
    let run = run["id"].as_str().unwrap();
    let found =
        |api: &Api, query: &str| api.get(&format!("/v1/audit?{query}")).with_status(200).json()["items"].clone();
    let finished = format!("order=newest&type=runFinished&run={run}");
    wait_until("all is written", || found(&ann, &finished).get(0).cloned());
    let newest = found(&ann, "order=newest&limit=1");
    let oldest = found(&ann, "limit=1");
    assert_eq!(oldest[0]["entry"]["action"], "space.created");
    assert!(newest[0]["seq"].as_u64() > oldest[0]["seq"].as_u64(), "{newest} {oldest}");
    assert_eq!(found(&ann, "caller=caller-1"), json!([]), "a filter shows nothing of others");
    assert_eq!(found(&served.operator(), "caller=caller-1&type=space.created").as_array().unwrap().len(), 1);
    assert_eq!(found(&ann, "until=2001-01-01T00:00:00Z"), json!([]));
    assert_eq!(found(&ann, &format!("q={}", run.to_uppercase())).as_array().map(Vec::is_empty), Some(false));

    let export = ann.get("/v1/audit/export?type=space.created").with_status(200);
    assert_eq!(export.header("content-type"), Some("application/x-ndjson"));
    let lines: Vec<Value> =
        String::from_utf8_lossy(&export.body).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!((&lines[0]["entry"]["spaceId"], &lines[0]["entry"]["caller"]), (&json!(space), &json!("caller-0")));
    ann.get("/v1/audit/export?limit=1").problem(400, "request.invalid");

    ann.get("/v1/audit/verification").problem(403, "auth.denied");
    let verified = served.operator().get("/v1/audit/verification").with_status(200).json();
    assert_eq!((&verified["ok"], &verified["verdict"]), (&json!(true), &json!("unchanged")), "{verified}");
    assert!(verified["entries"].as_u64() >= Some(4), "{verified}");
}
