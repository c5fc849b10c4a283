//! Audit log failures, rotation, and forgery with its key.

use crate::standard::audit_log::lines;
use crate::standard::support::{Project, script};
use serde_json::{Value, json};
use std::fs::{self, File};

const HEADS: &str = "data/agent-spaces/audit";

/// Project with these audit settings.
fn project(audit: Value) -> Project {
    let space = json!({ "workspace": "./files", "policy": "permissive" });
    Project::new(json!({ "audit": audit, "spaces": { "work": space } }))
}

/// Locks the log, as another process would.
fn lock_log(project: &Project) -> File {
    let lock = File::open(project.home(HEADS).join("lock")).unwrap();
    lock.lock().unwrap();
    lock
}

/// Returns exit status and report of verifying the log.
fn verify(project: &Project, options: &[&str]) -> (Option<i32>, Value) {
    let done = project.agent_spaces(&[&["audit", "verify", "--json"], options].concat());
    (done.status, done.json())
}

/// The entries of the current file that have this type.
fn entries(project: &Project, kind: &str) -> Vec<Value> {
    let entries = lines(project).into_iter().map(|line| line["entry"].clone());
    entries.filter(|entry| entry["type"] == kind).collect()
}

#[test]
fn a_locked_log_does_not_stop_a_run_and_verify_reports_gaps() {
    let project = project(json!(true));
    project.run(&script("await fs.exists('a'); 1")).value();
    let lock = lock_log(&project);
    let done = project.run(&script("await fs.writeFile('made', 'x'); 2"));
    assert_eq!(done.value(), 2);
    assert!(done.stderr.contains("the audit log cannot be written"), "{done:?}");
    assert!(done.stderr.contains("4 entries were not written to the audit log"), "{done:?}");
    drop(lock);
    let (status, found) = verify(&project, &[]);
    assert_eq!((status, &found["ok"], &found["verdict"]), (Some(3), &json!(false), &json!("gaps")), "{found}");
    assert_eq!((&found["entries"], &found["unwritten"], &found["lost"]), (&json!(4), &json!(4), &json!(0)), "{found}");
    // The next run writes it down, and from then on the log itself says so.
    project.run("3").value();
    let (status, found) = verify(&project, &[]);
    assert_eq!((status, &found["unwritten"], &found["gaps"]), (Some(3), &json!(0), &json!(4)), "{found}");
    let gaps = entries(&project, "gap");
    assert_eq!(gaps.len(), 1);
    assert!(gaps[0]["entries"] == 4 && gaps[0]["why"].as_str().unwrap().contains("ended before"), "{gaps:?}");
    let done = project.agent_spaces(&["audit", "verify"]);
    assert!(done.stdout.contains("no line was changed, but 4 more could not be written"), "{done:?}");
}

#[test]
fn a_run_that_requires_its_log_does_not_start_without_it() {
    let project = project(json!("required"));
    assert_eq!(project.run(&script("await fs.writeFile('before', 'x'); 1")).value(), 1);
    let lock = lock_log(&project);
    let done = project.run(&script("await fs.writeFile('made', 'x'); 2"));
    assert_eq!((done.status, done.error().0.as_str()), (Some(5), "host.audit"), "{done:?}");
    assert_eq!(project.read("files/made"), None);
    drop(lock);
    assert_eq!(project.run(&script("await fs.writeFile('made', 'x'); 3")).value(), 3);
    assert_eq!(verify(&project, &[]).0, Some(0));
}

#[test]
fn beyond_the_log_limit_calls_are_summarized_by_function_and_outcome() {
    let project = project(json!({ "perRun": { "lines": 20 } }));
    let body = "for (let n = 0; n < 300; n++) { await fs.exists('x' + n); if (n % 3 == 0) await attempt(() => fs.readFile('/etc/passwd')); } await fs.writeFile('last', 'what'); 1";
    assert_eq!(project.run(&script(body)).value(), 1);
    assert!(lines(&project).len() < 80, "{}", lines(&project).len());
    // Many calls of one function do not hide those of another.
    let last = entries(&project, "callScheduled").pop().unwrap();
    assert_eq!(last["params"], json!({ "path": "last", "text": "what" }));
    assert_eq!(entries(&project, "auditBudgetSpent").len(), 1);
    let scheduled = entries(&project, "callScheduled").len() as u64;
    let ended = (entries(&project, "callResult").len() + entries(&project, "callError").len()) as u64;
    assert_eq!(scheduled, ended, "the outcome of a call that is in the log is in the log");
    let summaries = entries(&project, "callsSummarised");
    let functions = || summaries.iter().flat_map(|summary| summary["functions"].as_array().unwrap());
    let sum = |count: fn(&Value) -> u64| functions().map(count).sum::<u64>();
    assert_eq!(scheduled + sum(|function| function["calls"].as_u64().unwrap()), 401);
    let outcomes = sum(|function| function["outcomes"].as_object().unwrap().values().filter_map(Value::as_u64).sum());
    assert_eq!(ended + outcomes, 401);
    let read = functions().find(|function| function["function"] == "readFile").unwrap();
    assert!(read["outcomes"]["call.denied"].as_u64().unwrap() > 50, "{read}");
    let finished = &entries(&project, "runFinished")[0];
    assert!(finished["audit"]["summarised"].as_u64().unwrap() > 700, "{finished}");
    assert_eq!(verify(&project, &[]).0, Some(0));
    // A run within the limit is logged in full.
    assert_eq!(project.run(&script("await fs.exists('a'); 1")).value(), 1);
    let last = entries(&project, "runFinished").pop().unwrap();
    assert!(last.get("audit").is_none(), "{last}");
}

#[test]
fn a_large_log_is_rotated_and_removals_are_recorded() {
    let project = project(json!({ "rotate": { "bytes": "64KiB", "keep": 1 } }));
    for _ in 0..4 {
        let body = "for (let n = 0; n < 40; n++) await fs.exists('x'.repeat(200) + n); await attempt(() => fs.writeFile('f', 'x'.repeat(3000))); 1";
        assert_eq!(project.run(&script(body)).value(), 1);
    }
    let (status, found) = verify(&project, &[]);
    assert_eq!((status, &found["files"], &found["verdict"]), (Some(0), &json!(2), &json!("unchanged")), "{found}");
    assert!(found["removed"].as_u64().unwrap() > 0, "{found}");
    let stated = &entries(&project, "rotated")[0]["removed"][0];
    assert_eq!(
        stated["name"].as_str().map(|name| project.home("state/agent-spaces/audit").join(name).exists()),
        Some(false)
    );
    let kept = entries(&project, "rotated")[0]["previous"]["name"].as_str().unwrap().to_owned();
    fs::remove_file(project.home("state/agent-spaces/audit").join(kept)).unwrap();
    let (status, found) = verify(&project, &[]);
    assert_eq!((status, &found["verdict"]), (Some(1), &json!("changed")), "{found}");
}

#[test]
fn shipped_heads_detect_a_log_forged_with_its_key() {
    let audit = json!({ "heads": { "file": "../elsewhere.jsonl", "command": ["sh", "-c", "cat >> ../given.jsonl"] } });
    let project = project(audit);
    project.run(&script("await fs.writeFile('made', 'x'); 1")).value();
    for name in ["elsewhere.jsonl", "given.jsonl"] {
        let shipped = project.outside(name).display().to_string();
        let (status, found) = verify(&project, &["--shipped", &shipped]);
        assert_eq!((status, &found["shipped"]["agree"]), (Some(0), &json!(1)), "{name}: {found}");
    }
    let shipped = project.outside("elsewhere.jsonl").display().to_string();
    let kept = fs::read(&shipped).unwrap();
    // Somebody who has the key begins anew, with as many lines.
    fs::remove_file(project.home("state/agent-spaces/audit/log.jsonl")).unwrap();
    for name in ["head.json", "live.json"] {
        let _ = fs::remove_file(project.home(HEADS).join(name));
    }
    project.run(&script("await fs.exists('innocent'); 1")).value();
    fs::write(&shipped, kept).unwrap();
    assert_eq!(verify(&project, &[]).0, Some(0));
    let (status, found) = verify(&project, &["--shipped", &shipped]);
    assert_eq!((status, &found["verdict"], &found["line"]), (Some(1), &json!("changed"), &json!(4)), "{found}");
}

#[test]
fn an_untrusted_configuration_neither_ships_heads_nor_disables_the_log() {
    let project = Project::empty();
    let heads = json!({ "file": "../elsewhere.jsonl", "command": ["sh", "-c", "cat >> ../given.jsonl"] });
    project.configure(json!({ "audit": { "mode": "off", "heads": heads }, "spaces": { "work": {} } }));
    assert_eq!(project.run("1").value(), 1);
    assert_eq!(lines(&project).len(), 2);
    assert!(!project.outside("elsewhere.jsonl").exists() && !project.outside("given.jsonl").exists());
    project.trust();
    project.run("1").value();
    assert_eq!(lines(&project).len(), 2, "now it is off");
}
