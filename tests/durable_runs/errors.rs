//! Errors of the commands: unknown and ambiguous runs, projects that are gone, journals of other versions.

use crate::approvals::support::{RunOutput, finish};
use crate::durable_runs::{SCRIPT, home, run};
use serde_json::json;

fn assert_refused(output: &RunOutput, status: i32, code: &str, says: &str) {
    assert_eq!((output.status, output.code().as_str()), (Some(status), code), "{output:?}");
    assert!(output.stdout.contains(says), "{says}: {output:?}");
}

#[test]
fn an_unknown_or_ambiguous_run_is_refused() {
    let home = home(&json!(true), false);
    let (first, second) = (run(&home, SCRIPT).1, run(&home, SCRIPT).1);
    for arguments in [
        &["runs", "show", "run_none"][..],
        &["runs", "resume", "run_none"],
        &["runs", "cancel", "run_none"],
        &["runs", "answer", "run_none", "1", "--give-up"],
        &["runs", "events", "run_none"],
        &["replay", "run_none"],
    ] {
        let output = home.finish(&[arguments, &["--json"]].concat());
        assert_refused(&output, 2, "config.unknown", "there is no run run_none");
    }
    assert_refused(&home.finish(&["runs", "show", "", "--json"]), 2, "config.usage", "the id of the run is empty");
    let ambiguous = home.finish(&["runs", "show", "run_", "--json"]);
    assert_refused(&ambiguous, 2, "config.unknown", &first);
    assert!(ambiguous.stdout.contains(&second), "{ambiguous:?}");
}

#[test]
fn a_run_of_a_project_that_is_gone_is_kept() {
    let home = home(&json!(false), true);
    crate::approvals::store::token(&home);
    let other = home.path("other");
    let copied = |name: &str| {
        let to = other.join(name);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(home.project(name), to).unwrap();
    };
    for name in ["tools/files.json", "tools/files.ts"] {
        copied(name);
    }
    let config = r#"{"capabilities": {"global": ["./tools/files.json"]}, "durable": {"parkAfter": "50ms"}}"#;
    std::fs::write(other.join("agent-spaces.config.json"), config).unwrap();
    std::fs::write(other.join("script.ts"), SCRIPT).unwrap();
    let mut command = home.command(&["run", "script.ts", "--durable", "--json"]);
    command.current_dir(&other);
    let parked = finish(command);
    assert_eq!(parked.status, Some(6), "{parked:?}");
    let id = parked.json()["runId"].as_str().unwrap().to_owned();
    std::fs::remove_dir_all(&other).unwrap();
    let output = home.finish(&["runs", "resume", &id, "--json"]);
    assert_refused(&output, 2, "config.file", "belongs to the project in");
    assert_eq!(home.finish(&["runs", "show", &id, "--json"]).json()["status"], "parked");
    assert_eq!(home.finish(&["runs", "cancel", &id]).status, Some(0), "it needs no project");
}

#[test]
fn a_journal_of_a_newer_version_is_refused() {
    let home = home(&json!(true), false);
    run(&home, SCRIPT);
    let file = home.path("data/agent-spaces/journal/journal.sqlite");
    let mut bytes = std::fs::read(&file).unwrap();
    // The `user_version` of the SQLite header.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    std::fs::write(&file, bytes).unwrap();
    for arguments in [&["runs", "list", "--json"][..], &["run", "script.ts", "--durable", "--json"]] {
        assert_refused(&home.finish(arguments), 5, "host.journal", "use a newer program");
    }
    let listed = home.finish(&["approvals", "list", "--json"]);
    assert_eq!((listed.status, listed.json()), (Some(0), json!([])));
    assert!(listed.stderr.contains("requests of durable runs are not listed"), "{listed:?}");
}

#[test]
fn bad_usage_is_refused_with_the_expected_syntax() {
    let home = home(&json!(true), false);
    for (arguments, expected) in [
        (&["runs", "list", "--status", "asleep"][..], "expected one of ready, running, parked"),
        (&["runs", "answer", "x", "1"], "--happened"),
        (&["runs", "answer", "x", "1", "--give-up", "--did-not-happen"], "cannot be used with"),
        (&["runs", "resume"], "RUN"),
        (&["runs", "resume", "x", "--watch"], "cannot be used with"),
        (&["runs", "prune", "--older-than", "soon"], "expected a duration"),
    ] {
        let output = home.finish(arguments);
        assert_eq!(output.status, Some(2), "{arguments:?}");
        assert!(output.stderr.contains(expected), "{arguments:?}: {output:?}");
    }
}
