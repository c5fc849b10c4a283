//! Calls of which nobody knows whether they took effect: the server was killed before the answer came.

use crate::mcp::support::eventually;
use crate::rest::client::Answer;
use crate::rest::server::{RestServer, config, home};
use serde_json::{Value, json};
use std::time::Duration;

/// Starts a run whose call never returns, kills the server, and returns the next server and the run, which is in doubt.
fn killed() -> (RestServer, String) {
    let home = home(&config());
    home.write(
        "tools/mail.ts",
        "export const send = ({ to }) => new Promise((done) => setTimeout(done, to === 'slow' ? 3_600_000 : 0, 'sent'));",
    );
    home.configure(&config());
    let served = RestServer::start(&home, &[]);
    let api = served.operator();
    let source = "import { mail } from '@capabilities/mail';
        let said; try { said = await mail.send({ to: 'slow' }); } catch (error) { said = error.code; } export default said;";
    let run = api.start(&api.new_space(), source);
    let is_sent = || api.get(&format!("/v1/runs/{run}/events")).json().to_string().contains("callScheduled");
    assert!(eventually(Duration::from_secs(10), is_sent), "{}", api.get(&format!("/v1/runs/{run}/events")).json());
    std::thread::sleep(Duration::from_millis(300));
    let served = served.killed_and_started();
    let api = served.operator();
    assert!(eventually(Duration::from_secs(20), || api.status(&run) == "in_doubt"), "{}", api.status(&run));
    (served, run)
}

fn answer(served: &RestServer, run: &str, body: Value) -> Answer {
    served.operator().post(&format!("/v1/runs/{run}/answers"), &body)
}

#[test]
fn a_person_says_that_a_call_happened() {
    let (served, run) = killed();
    let api = served.operator();
    let shown = api.get(&format!("/v1/runs/{run}")).json();
    let doubt = &shown["inDoubt"][0];
    assert_eq!((&doubt["call"], &doubt["params"]), (&json!(1), &json!({ "to": "slow" })), "{shown}");
    assert_eq!(api.get("/v1/runs?status=in_doubt").json()["items"][0]["id"], json!(run));
    served
        .caller(0)
        .post(&format!("/v1/runs/{run}/answers"), &json!({ "call": 1, "outcome": "happened" }))
        .problem(404, "not_found");
    answer(&served, &run, json!({ "call": 2, "outcome": "happened" })).problem(409, "run.not_in_doubt");
    answer(&served, &run, json!({ "call": 1, "outcome": "perhaps" })).problem(400, "request.invalid");
    answer(&served, &run, json!({ "call": 1, "outcome": "didNotHappen", "value": 1 })).problem(400, "request.invalid");
    answer(&served, &run, json!({ "call": 1, "outcome": "happened", "value": "by hand" })).with_status(200);
    let ended = api.ended(&run);
    assert_eq!((&ended["status"], &ended["value"]), (&json!("finished"), &json!("by hand")), "{ended}");
    let late = answer(&served, &run, json!({ "call": 1, "outcome": "happened" }));
    assert_eq!(late.status, 409, "{late:?}");
    late.some_problem();
}

#[test]
fn a_run_in_doubt_can_be_cancelled() {
    let (served, run) = killed();
    let api = served.operator();
    api.post(&format!("/v1/runs/{run}/cancel"), &json!({})).with_status(202);
    assert_eq!(api.ended(&run)["status"], "cancelled");
}
