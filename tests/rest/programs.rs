//! Stored programs, and runs of them.

use crate::rest::client::{Api, text};
use crate::rest::server::RestServer;
use serde_json::json;

#[test]
fn a_program_has_versions() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    let publish =
        |source: &str| api.post("/v1/programs", &json!({ "name": "report", "source": source, "description": "d" }));
    let first = publish("export default 'one';").with_status(201);
    assert_eq!((&first.json()["name"], &first.json()["version"]), (&json!("report"), &json!(1)));
    assert_eq!(first.header("location"), Some("/v1/programs/report/versions/1"));
    assert_eq!(publish("export default 'two';").with_status(201).json()["version"], 2);
    assert_eq!(publish("export default 'two';").with_status(200).json()["version"], 2, "the same is no new version");

    let run = |program: &str| api.post(&format!("/v1/spaces/{space}/runs?wait=30"), &json!({ "program": program }));
    for (program, version, value) in [("report", "report@2", "two"), ("report@1", "report@1", "one")] {
        let run = run(program).with_status(201).json();
        assert_eq!((&run["program"], &run["value"]), (&json!(version), &json!(value)), "{run}");
        assert_eq!(run["name"], "report.ts", "{run}");
    }
    for wrong in ["0", "01", "+1", "1.0", "x", "4294967296"] {
        api.get(&format!("/v1/programs/report/versions/{wrong}")).problem(404, "not_found");
    }
    for missing in ["report@3", "reports"] {
        run(missing).problem(404, "not_found");
    }
    for wrong in ["", "report@", "report@0", "report@x", "a/b", "report@1@1"] {
        let answer = run(wrong);
        assert!(matches!(answer.status, 400 | 404), "{wrong}: {answer:?}");
        answer.some_problem();
    }

    let versions = api.get("/v1/programs/report/versions?limit=1").json();
    assert_eq!(versions["items"][0]["version"], 2);
    let cursor = text(&versions["next"]);
    let rest = api.get(&format!("/v1/programs/report/versions?limit=1&cursor={cursor}")).json();
    assert_eq!((&rest["items"][0]["version"], rest.get("next")), (&json!(1), None), "{rest}");
    let one = api.get("/v1/programs/report/versions/1").with_status(200).json();
    assert_eq!((&one["source"], &one["version"]), (&json!("export default 'one';"), &json!(1)));
    let shown = api.get("/v1/programs/report").with_status(200).json();
    assert_eq!((&shown["version"], &shown["description"]), (&json!(2), &json!("d")), "{shown}");
    assert_eq!(api.get("/v1/programs").json()["items"].as_array().unwrap().len(), 1);

    api.delete("/v1/programs/report").with_status(204);
    for gone in ["/v1/programs/report", "/v1/programs/report/versions/1", "/v1/programs/report/versions"] {
        api.get(gone).problem(404, "not_found");
    }
    api.delete("/v1/programs/report").problem(404, "not_found");
    run("report").problem(404, "not_found");
}

#[test]
fn a_key_publishes_once() {
    let served = RestServer::new();
    let publish = |api: &Api, key: &str, source: &str| {
        let new = json!({ "name": "report", "source": source });
        api.send_json("POST", "/v1/programs", &[("idempotency-key", key)], &new)
    };
    let api = served.operator();
    assert_eq!(publish(&api, "one", "1").with_status(201).json()["version"], 1);
    assert_eq!(publish(&api, "two", "2").with_status(201).json()["version"], 2);
    let served = served.killed_and_started();
    let api = served.operator();
    let again = publish(&api, "one", "1").with_status(200).json();
    assert_eq!((&again["version"], &again["source"]), (&json!(1), &json!("1")), "{again}");
    assert_eq!(api.get("/v1/programs/report").json()["version"], 2, "nothing was published again");
    publish(&api, "one", "3").problem(422, "request.idempotency");
    assert_eq!(publish(&served.caller(0), "one", "3").with_status(201).json()["version"], 1, "keys are a caller's own");
    api.delete("/v1/programs/report").with_status(204);
    publish(&api, "one", "1").problem(409, "request.idempotency");
    publish(&api, "", "1").problem(400, "request.invalid");
}

#[test]
fn wrong_programs_are_refused() {
    let served = RestServer::new();
    let api = served.operator();
    for name in ["", "a b", "a/b", "../a", "a@1", &"n".repeat(65), "\u{202e}x"] {
        api.post("/v1/programs", &json!({ "name": name, "source": "1" })).problem(400, "request.invalid");
    }
    let large = "1;".repeat(600 << 10);
    let refused = api.post("/v1/programs", &json!({ "name": "large", "source": large }));
    assert!(matches!(refused.status, 400 | 413), "{refused:?}");
    refused.some_problem();
    assert_eq!(api.get("/v1/programs").json()["items"], json!([]));
}
