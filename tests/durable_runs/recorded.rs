//! Runs that ended: lists, details, events, replay, export and retention.

use crate::durable_runs::{SCRIPT, home, run, show};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_run_is_listed_shown_and_replayed() {
    let home = home(&json!(true), false);
    let (output, id) = run(&home, SCRIPT);
    let value = json!(["removed a", "removed b", true, true]);
    assert_eq!((&output.json()["value"], &output.json()["status"]), (&value, &json!("finished")), "{output:?}");
    let folder = home.path("data/agent-spaces/journal");
    assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);

    let listed = home.finish(&["runs", "list", "--status", "finished", "--json"]).json();
    assert_eq!((&listed[0]["runId"], listed.as_array().unwrap().len()), (&json!(id), 1));
    assert_eq!(home.finish(&["runs", "list", "--status", "parked", "--json"]).json(), json!([]));
    let shown = show(&home, &id[..12]);
    assert_eq!((&shown["status"], &shown["calls"], &shown["inDoubt"]), (&json!("finished"), &json!(2), &json!([])));
    assert_eq!(shown["result"]["ok"], value);
    let text = home.finish(&["runs", "show", &id]).stdout;
    assert!(text.contains("script    script.ts") && text.contains("removed a"), "{text}");

    let events = home.finish(&["runs", "events", &id, "--json"]).lines();
    let types: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    let call = ["callScheduled", "callResult"];
    assert_eq!(types, [&["runStarted", "console"][..], &call[..], &call[..], &["runFinished"][..]].concat());
    assert!(home.finish(&["runs", "events", &id]).stdout.contains("console  level=\"log\" text=\"begin\""));

    let replayed = home.finish(&["replay", &id, "--json"]);
    assert_eq!(replayed.status, Some(0), "{replayed:?}");
    let mut lines = replayed.lines();
    let end = lines.pop().unwrap();
    assert_eq!((&end["ok"], &end["diverged"], &lines), (&json!(true), &Value::Null, &events));
    assert!(home.finish(&["replay", &id]).stdout.contains("to the same result"));
}

#[test]
fn a_space_and_an_option_decide_whether_runs_are_durable() {
    let home = home(&json!(true), false);
    assert_eq!(home.run(SCRIPT, &[]).json()["status"], "finished", "the configuration says so");
    assert_eq!(home.run(SCRIPT, &["--durable=false"]).json()["status"], Value::Null);
    assert_eq!(home.finish(&["runs", "list", "--json"]).json().as_array().unwrap().len(), 1);
}

#[test]
fn a_changed_script_is_compared_with_the_record() {
    let home = home(&json!(false), false);
    let (_, id) = run(&home, SCRIPT);
    home.write("changed.ts", &format!("// Only a comment.\n{SCRIPT}"));
    let same = home.finish(&["replay", &id, "--script", "changed.ts", "--json"]);
    assert_eq!((same.status, &same.json()["matchedCalls"]), (Some(0), &json!(2)), "{same:?}");
    home.write("changed.ts", &SCRIPT.replace("'b'", "'c'"));
    let other = home.finish(&["replay", &id, "--script", "changed.ts", "--json"]);
    let difference = &other.json()["difference"];
    assert_eq!(other.status, Some(1), "{other:?}");
    assert_eq!(difference["expected"]["params"], json!({ "path": "b" }));
    assert_eq!((&difference["seen"]["params"], &difference["seen"]["call"]), (&json!({ "path": "c" }), &json!(2)));
    let text = home.finish(&["replay", &id, "--script", "changed.ts"]).stdout;
    assert!(text.contains("1 of 2 calls") && text.contains("call 2: files.remove({\"path\":\"c\"})"), "{text}");
    home.write("changed.ts", "import { x } from '@capabilities/none'; x");
    assert_eq!(home.finish(&["replay", &id, "--script", "changed.ts", "--json"]).code(), "import.unknown");
}

#[test]
fn an_exported_run_is_pruned_imported_and_replayed() {
    let home = home(&json!(true), false);
    let (_, id) = run(&home, SCRIPT);
    let exported = home.finish(&["runs", "export", &id, "-o", "run.jsonl"]);
    assert_eq!(exported.status, Some(0), "{exported:?}");
    let mode = std::fs::metadata(home.project("run.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let pruned = home.finish(&["runs", "prune", "--older-than", "10ms", "--json"]).json();
    assert_eq!((&pruned["removed"], &pruned["runs"]), (&json!(1), &json!(0)));
    assert_eq!(home.finish(&["runs", "show", &id]).status, Some(2));
    assert_eq!(home.finish(&["runs", "import", "run.jsonl", "--json"]).json()["runId"], json!(id));
    assert_eq!(home.finish(&["replay", &id]).status, Some(0));
    let twice = home.finish(&["runs", "import", "run.jsonl", "--json"]);
    assert_eq!((twice.status, twice.code().as_str()), (Some(2), "config.usage"));
}

#[test]
fn ended_runs_are_removed_after_their_time() {
    let home = home(&json!({ "keepFor": "1ms" }), false);
    let (_, first) = run(&home, SCRIPT);
    std::thread::sleep(std::time::Duration::from_millis(20));
    run(&home, SCRIPT);
    assert_eq!(home.finish(&["runs", "show", &first]).status, Some(2));
}
