//! Runs that wait: parking, approval by another process, resumption, cancellation.

use crate::approvals::store::{approvals, listed, token};
use crate::approvals::support::Home;
use crate::durable_runs::{SCRIPT, home, run, show};
use serde_json::json;

/// Project whose runs wait for approval and park at once, with an approver token.
fn parked() -> (Home, String, String) {
    let home = home(&json!({ "parkAfter": "50ms" }), true);
    let token = token(&home);
    let (output, id) = run(&home, SCRIPT);
    let report = output.json();
    assert_eq!((output.status, &report["status"]), (Some(6), &json!("parked")), "{output:?}");
    assert_eq!(report["error"]["code"], "run.parked");
    let key = report["wake"]["for"][0].as_str().unwrap().to_owned();
    let request = key.strip_prefix("approval:").unwrap().to_owned();
    assert_eq!(listed(&home)[0]["id"], json!(request));
    (home, token, id)
}

/// Approves the only pending request.
fn approve(home: &Home, token: &str) {
    let id = listed(home)[0]["id"].as_str().unwrap().to_owned();
    let done = approvals(home, Some(token), &["approve", &id]);
    assert_eq!(done.json(), json!({ "id": id, "decision": "approve" }), "{done:?}");
}

#[test]
fn a_parked_run_goes_on_in_another_process_once_it_is_approved() {
    let (home, token, id) = parked();
    let early = home.finish(&["runs", "resume", &id, "--json"]);
    assert_eq!((early.status, early.code().as_str()), (Some(6), "run.parked"), "nobody decided: {early:?}");
    let report = early.json();
    assert_eq!((&report["runId"], &report["status"]), (&json!(id), &json!("parked")));
    assert!(report["wake"]["for"][0].as_str().unwrap().starts_with("approval:"), "{report}");
    assert!(report["error"]["hint"].as_str().unwrap().contains(&id), "{report}");
    approve(&home, &token);
    assert_eq!(show(&home, &id)["status"], "ready");
    // The second call waits too.
    let resumed = home.finish(&["runs", "resume", &id, "--json"]);
    assert_eq!((resumed.status, &resumed.json()["status"]), (Some(6), &json!("parked")), "{resumed:?}");
    approve(&home, &token);
    let resumed = home.finish(&["runs", "resume", "--all", "--json"]);
    assert_eq!((resumed.status, resumed.value()), (Some(0), json!(["removed a", "removed b", true, true])));
    let shown = show(&home, &id);
    assert_eq!((&shown["status"], shown["approvals"].as_array().unwrap().len()), (&json!("finished"), 2));
    assert_eq!(home.finish(&["replay", &id]).status, Some(0));
    let ended = home.finish(&["runs", "resume", &id, "--json"]);
    assert_eq!((ended.status, ended.code().as_str()), (Some(2), "config.usage"), "{ended:?}");
}

#[test]
fn a_parked_run_says_what_it_waits_for() {
    let (home, _, id) = parked();
    let request = listed(&home)[0]["id"].as_str().unwrap().to_owned();
    let text = home.finish(&["runs", "show", &id]).stdout;
    assert!(text.contains(&format!("agent-spaces approvals approve {request}")), "{text}");
    assert!(text.contains("files.remove({\"path\":\"a\"})  pending"), "{text}");
    home.write("script.ts", SCRIPT);
    let people = home.finish(&["run", "script.ts", "--durable"]);
    assert_eq!((people.status, people.stdout.as_str()), (Some(6), ""), "{people:?}");
    assert!(people.stderr.contains("left memory, and waits\n  for an approval: `agent-spaces approvals"), "{people:?}");
    assert!(people.stderr.contains("agent-spaces runs resume run_"), "{people:?}");
}

#[test]
fn a_denial_reaches_the_script_and_a_foreign_token_decides_nothing() {
    let (home, _, id) = parked();
    let request = listed(&home)[0]["id"].as_str().unwrap().to_owned();
    let foreign = token(&Home::new());
    assert_eq!(approvals(&home, Some(&foreign), &["approve", &request]).status, Some(4));
    assert_eq!(show(&home, &id)["status"], "parked");
    // The token that was made last counts.
    let token = token(&home);
    assert_eq!(approvals(&home, Some(&token), &["deny", &request, "--reason", "no"]).status, Some(0));
    let resumed = home.finish(&["runs", "resume", &id, "--json"]);
    assert_eq!((resumed.status, resumed.code().as_str()), (Some(4), "call.approval_denied"), "{resumed:?}");
}

#[test]
fn a_cancelled_run_makes_no_calls() {
    let (home, token, id) = parked();
    let request = listed(&home)[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(home.finish(&["runs", "cancel", &id, "--json"]).json()["status"], "cancelled");
    assert_eq!(show(&home, &id)["status"], "cancelled");
    assert_eq!(listed(&home), Vec::<serde_json::Value>::new());
    assert_eq!(approvals(&home, Some(&token), &["approve", &request]).status, Some(4));
    assert_eq!(home.finish(&["runs", "cancel", &id, "--json"]).json()["status"], "ended");
}

#[test]
fn an_imported_run_brings_no_rights() {
    let home = home(&json!({ "parkAfter": "50ms" }), true);
    token(&home);
    let script = SCRIPT.replace("const two", "await new Promise(done => setTimeout(done, 1_000));\nconst two");
    let started = home.run(&script, &["--durable", "--approve", "files.remove", "--scope", "admin"]);
    assert_eq!(started.status, Some(6), "{started:?}");
    let id = started.json()["runId"].as_str().unwrap().to_owned();
    let shown = show(&home, &id);
    assert_eq!((&shown["approvedInAdvance"], &shown["scopes"]), (&json!(["files.remove"]), &json!(["admin"])));
    assert_eq!((&shown["imported"], &shown["hostDied"]), (&json!(false), &json!(false)));
    assert_eq!(home.finish(&["runs", "export", &id, "-o", "run.jsonl"]).status, Some(0));
    assert_eq!(home.finish(&["runs", "cancel", &id]).status, Some(0));
    assert_eq!(home.finish(&["runs", "prune", "--older-than", "0s"]).status, Some(0));
    assert_eq!(home.finish(&["runs", "import", "run.jsonl"]).status, Some(0));
    assert_eq!(show(&home, &id)["imported"], json!(true));
    let refused = home.finish(&["runs", "resume", &id, "--json"]);
    assert_eq!((refused.status, refused.code().as_str()), (Some(2), "config.usage"), "{refused:?}");
    assert!(refused.stdout.contains("--scope admin"), "{refused:?}");
    assert_eq!(show(&home, &id)["status"], "parked");
    // The timer is over, and the second call is no longer approved.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    let resumed = home.finish(&["runs", "resume", &id, "--scope", "admin", "--json"]);
    assert_eq!(resumed.status, Some(6), "{resumed:?}");
    assert!(resumed.json()["wake"]["for"][0].as_str().unwrap().starts_with("approval:"), "{resumed:?}");
    assert!(resumed.stderr.contains("imported: continued in"), "{resumed:?}");
}
