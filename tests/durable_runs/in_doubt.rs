//! Calls in doubt: the command is killed after it sent a call.

use crate::approvals::support::{Home, wait_until};
use crate::durable_runs::{home, show};
use serde_json::{Value, json};
use std::process::Stdio;

/// Starts a run whose call never returns, kills it, and returns the run.
fn killed(durable: &Value) -> (Home, String) {
    let home = home(durable, false);
    home.write("tools/files.ts", "export const remove = () => new Promise((done) => setTimeout(done, 3_600_000));");
    let source = "import { files } from '@capabilities/files';
        const said = await files.remove({ path: 'a' }).catch((error) => error.code);
        export default said;";
    home.write("script.ts", source);
    let mut command = home.command(&["run", "script.ts", "--durable", "--timeout", "1h"]);
    let spawned = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = spawned.unwrap();
    let run = wait_until("the call is sent", || {
        let listed = home.finish(&["runs", "list", "--json"]).json();
        let run = listed[0]["runId"].as_str()?.to_owned();
        let shown = show(&home, &run);
        assert_eq!(shown["inDoubt"], json!([]), "its host lives: {shown}");
        assert_eq!(shown["hostDied"], json!(false), "{shown}");
        (shown["calls"] == 1).then_some(run)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let doubts = wait_until("the call is in doubt", || {
        Some(show(&home, &run)["inDoubt"].clone()).filter(|doubts| *doubts != json!([]))
    });
    assert_eq!((&doubts[0]["call"], &doubts[0]["params"]), (&json!(1), &json!({ "path": "a" })));
    assert_eq!(doubts[0]["function"], "files.remove");
    assert_eq!(home.finish(&["runs", "list", "--json"]).json()[0]["hostDied"], json!(true));
    let text = home.finish(&["runs", "show", &run]).stdout;
    assert!(text.contains("running (its host died)") && text.contains("runs resume run_"), "{text}");
    (home, run)
}

#[test]
fn a_person_says_that_a_call_happened() {
    let (home, run) = killed(&json!({ "parkAfter": "50ms" }));
    let waits = home.finish(&["runs", "resume", &run, "--json"]);
    assert_eq!((waits.status, &waits.json()["status"]), (Some(6), &json!("parked")), "{waits:?}");
    let text = home.finish(&["runs", "show", &run]).stdout;
    assert!(text.contains("call 1  files.remove({\"path\":\"a\"})") && text.contains("runs answer"), "{text}");
    let none = home.finish(&["runs", "answer", &run, "2", "--give-up", "--json"]);
    assert_eq!((none.status, none.code().as_str()), (Some(2), "config.usage"), "{none:?}");
    let broken = home.finish(&["runs", "answer", &run, "1", "--happened", "{", "--json"]);
    assert_eq!((broken.status, broken.code().as_str()), (Some(2), "config.usage"), "{broken:?}");
    let said = home.finish(&["runs", "answer", &run, "1", "--happened", "\"by hand\"", "--json"]);
    assert_eq!(said.json()["answer"], json!({ "happened": "by hand" }), "{said:?}");
    assert_eq!(home.finish(&["runs", "answer", &run, "1", "--give-up", "--json"]).status, Some(2), "it was answered");
    assert_eq!(home.finish(&["runs", "resume", &run, "--json"]).value(), "by hand");
}

/// Also before anybody resumed the run.
#[test]
fn a_person_gives_up_or_has_the_call_made_again() {
    let (home, run) = killed(&json!(true));
    assert_eq!(home.finish(&["runs", "answer", &run, "1", "--give-up"]).status, Some(0));
    assert_eq!(home.finish(&["runs", "resume", &run, "--json"]).value(), "call.in_doubt");
    let (home, run) = killed(&json!(true));
    assert_eq!(home.finish(&["runs", "answer", &run, "1", "--did-not-happen"]).status, Some(0));
    home.write("tools/files.ts", "export const remove = ({ path }) => `removed ${path}`;");
    assert_eq!(home.finish(&["runs", "resume", &run, "--json"]).value(), "removed a");
}

#[test]
fn the_configuration_may_reject_calls_in_doubt() {
    let (home, run) = killed(&json!({ "inDoubt": "reject" }));
    assert_eq!(home.finish(&["runs", "resume", &run, "--json"]).value(), "call.in_doubt");
}
