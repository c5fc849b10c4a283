//! Approval of `agent-spaces mcp call`, a call without a script. The test server needs Python 3.

use crate::approvals::store::{approvals, pending_ids, token};
use crate::approvals::support::{Home, finish};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Command;

/// A project with a server whose calls ask; none without Python, which is said and with `AGENT_SPACES_CI=1` a failure.
fn home() -> Option<Home> {
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok();
    let Some(python) = python.filter(|output| output.status.success()) else {
        let text = "skipped: there is no python3";
        assert!(std::env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1"), "{text}");
        let _ = writeln!(std::io::stderr(), "{text}");
        return None;
    };
    let python = String::from_utf8_lossy(&python.stdout).trim().to_owned();
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/mcp/servers/hostile");
    let server = json!({ "command": python, "args": ["-B", program, "--log", "log.jsonl"], "timeout": "10s" });
    Some(Home::configured(&json!({
        "mcpServers": { "hostile": server },
        "policy": { "functions": { "hostile.*": "approve" } },
    })))
}

/// The tools that the server was asked to call.
fn called(home: &Home) -> Vec<Value> {
    let log = std::fs::read_to_string(home.project("log.jsonl")).unwrap_or_default();
    let lines = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line.to_string().contains("tools/call")).collect()
}

const CALL: [&str; 5] = ["mcp", "call", "hostile", "echo", r#"{"message":"hello"}"#];

#[test]
fn a_server_call_is_made_only_after_approval() {
    let Some(home) = home() else { return };
    let token = token(&home);
    let denied = home.finish(&[&CALL[..], &["--json"]].concat());
    assert_eq!((denied.code().as_str(), denied.status), ("call.approval_denied", Some(4)), "{denied:?}");
    for (decision, status, calls) in [("deny", Some(4), 0), ("approve", Some(0), 1)] {
        let command = home.command(&[&CALL[..], &["--json", "--approvals", "store"]].concat());
        let run = std::thread::spawn(|| finish(command));
        let id = pending_ids(&home, 1).remove(0);
        assert_eq!(called(&home).len(), 0, "it was made before anybody decided");
        assert_eq!(approvals(&home, Some(&token), &[decision, &id]).status, Some(0));
        let ended = run.join().unwrap();
        assert_eq!(ended.status, status, "{ended:?}");
        assert_eq!(called(&home).len(), calls, "{ended:?}");
        assert_eq!(ended.stdout.contains("hello"), calls == 1, "{ended:?}");
    }
}
