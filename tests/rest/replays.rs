//! Sources of runs, and replays of them offline.

use crate::approvals::support::wait_until;
use crate::rest::client::{Api, id, text};
use crate::rest::server::{REMOVES, RestServer};
use serde_json::{Value, json};

/// Script with an input, output and a call.
const LOOKS: &str = "import input from '@agent-spaces/input';
import { files } from '@capabilities/files';
console.log('looking');
export default await files.look({ path: input.path });";

/// Runs [`LOOKS`] and returns the id of the run.
fn looked(api: &Api) -> String {
    let body = json!({ "source": LOOKS, "input": { "path": "a" }, "name": "look" });
    let run = api.post(&format!("/v1/spaces/{}/runs?wait=30", api.new_space()), &body).with_status(201).json();
    assert_eq!(run["value"], "saw a", "{run}");
    id(&run)
}

fn replay(api: &Api, run: &str, body: &Value) -> Value {
    api.post(&format!("/v1/runs/{run}/replay"), body).with_status(200).json()
}

#[test]
fn a_run_shows_its_source_and_input() {
    let served = RestServer::new();
    let api = served.caller(1);
    let run = looked(&api);
    let shown = api.get(&format!("/v1/runs/{run}/source")).with_status(200).json();
    assert_eq!((&shown["name"], &shown["source"]), (&json!("look.ts"), &json!(LOOKS)));
    assert_eq!(shown["input"], json!({ "path": "a" }));
    let modules = shown["modules"].as_array().unwrap();
    assert!(modules.contains(&json!("@capabilities/files")), "{shown}");
    assert!(!modules.contains(&json!("@agent-spaces/input")), "{shown}");
    let plain = id(&api.run(&api.new_space(), "1 + 1"));
    let shown = api.get(&format!("/v1/runs/{plain}/source")).with_status(200).json();
    assert_eq!((&shown["source"], shown.get("input")), (&json!("1 + 1"), None), "{shown}");
    served.operator().get(&format!("/v1/runs/{run}/source")).with_status(200);
    served.caller(0).get(&format!("/v1/runs/{run}/source")).problem(404, "not_found");
}

#[test]
fn a_run_is_repeated_offline() {
    let served = RestServer::new();
    let api = served.caller(1);
    let run = looked(&api);
    let before = api.get(&format!("/v1/runs/{run}")).json();
    let same = replay(&api, &run, &json!({}));
    assert_eq!((&same["same"], &same["calls"], &same["value"]), (&json!(true), &json!(1), &json!("saw a")), "{same}");
    assert_eq!(same["hasValue"], true);
    assert_eq!(same["console"], json!([{ "level": "log", "text": "looking" }]));
    assert!(text(&same["text"]).contains("to the same result"), "{same}");
    assert!(same.get("difference").is_none() && same.get("error").is_none(), "{same}");
    assert_eq!(api.get(&format!("/v1/runs/{run}")).json(), before, "nothing is stored");
    served.caller(0).post(&format!("/v1/runs/{run}/replay"), &json!({})).problem(404, "not_found");
}

#[test]
fn a_changed_source_gets_the_recorded_answers() {
    let served = RestServer::new();
    let api = served.caller(1);
    let run = looked(&api);
    let with = |source: String| replay(&api, &run, &json!({ "source": source }));
    let louder =
        with(LOOKS.replace("await files.look({ path: input.path })", "(await files.look(input)).toUpperCase()"));
    assert_eq!((&louder["same"], &louder["calls"]), (&json!(false), &json!(1)), "{louder}");
    assert_eq!(louder["value"], "SAW A", "{louder}");
    assert!(louder.get("difference").is_none() && text(&louder["text"]).contains("another one"), "{louder}");

    let elsewhere = with(LOOKS.replace("input.path", "'b'"));
    let difference = &elsewhere["difference"];
    assert_eq!((&elsewhere["same"], &elsewhere["calls"]), (&json!(false), &json!(0)), "{elsewhere}");
    assert_eq!(difference["expected"]["params"], json!({ "path": "a" }), "{elsewhere}");
    assert_eq!(difference["seen"]["params"], json!({ "path": "b" }), "{elsewhere}");
    assert_eq!(difference["places"], json!(["look.ts:4"]), "{elsewhere}");
    assert!(elsewhere.get("value").is_none() && elsewhere.get("error").is_none(), "{elsewhere}");

    let fails = with(format!("{LOOKS}\nthrow new Error('too much');"));
    assert_eq!(fails["error"]["message"], "too much", "{fails}");
    let path = format!("/v1/runs/{run}/replay");
    api.post(&path, &json!({ "source": "const x = ;" })).problem(422, "script.syntax");
    assert_eq!(api.post(&path, &json!({ "source": "import '@capabilities/mail';" })).status, 422);
    api.post(&path, &json!({ "source": "" })).problem(400, "request.invalid");
}

#[test]
fn a_run_that_waits_is_repeated_up_to_there() {
    let served = RestServer::new();
    let api = served.operator();
    let run = api.start(&api.new_space(), REMOVES);
    wait_until("it asks", || api.get("/v1/approvals").json()["items"].get(0).map(id));
    let partly = wait_until("all of it is stored", || {
        Some(replay(&api, &run, &json!({}))).filter(|replayed| replayed["same"] == true)
    });
    assert!(text(&partly["text"]).contains("not over"), "{partly}");
    assert!(partly.get("value").is_none() && partly.get("error").is_none(), "{partly}");
    assert_eq!(api.get("/v1/approvals?status=pending").json()["items"].as_array().unwrap().len(), 1);
}

/// The program of such a run is restored from the journal, with its other modules.
#[test]
fn a_run_with_an_input_survives_a_crash() {
    let served = RestServer::new();
    let api = served.operator();
    let source = "import input from '@agent-spaces/input';
        import { files } from '@capabilities/files';
        export default await files.remove({ path: input.path });";
    let body = json!({ "source": source, "input": { "path": "a" } });
    let run = id(&api.post(&format!("/v1/spaces/{}/runs", api.new_space()), &body).json());
    let approval = wait_until("it asks", || api.get("/v1/approvals").json()["items"].get(0).map(id));
    let served = served.killed_and_started();
    let api = served.operator();
    api.post(&format!("/v1/approvals/{approval}/decision"), &json!({ "decision": "approve" })).with_status(200);
    let ended = api.ended(&run);
    assert_eq!((&ended["status"], &ended["value"]), (&json!("finished"), &json!("removed a")), "{ended}");
    assert_eq!(replay(&api, &run, &json!({}))["same"], true);
}
