//! Process cleanup: no server process is left, however the command ends.

use crate::mcp::support::{Project, eventually, hostile, node, published, script, signal};
use serde_json::json;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Starts a script that never ends, waits until this is among the arguments of what runs for it, sends the command a
/// signal, and sees that all is gone within three seconds.
fn ends_with_everything(project: &Project, source: &str, sign: &str, name: &str) {
    assert_eq!(project.agent_spaces(&["mcp", "accept"]).status, Some(0));
    project.assert_nothing_left();
    project.write("script.ts", source);
    let mut command = project.command(&["run", "script.ts"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let is_up = || project.processes().iter().any(|(_, arguments)| arguments.contains(sign));
    assert!(eventually(Duration::from_secs(30), is_up), "it did not start: {:?}", project.processes());
    let all = project.processes();
    assert!(all.len() >= 2, "a supervisor and the server at least: {all:?}");
    let begun = Instant::now();
    signal(child.id(), name);
    let ended = child.wait().unwrap();
    assert!(!ended.success(), "{name}: {ended}");
    let is_gone = eventually(Duration::from_secs(3), || project.processes().is_empty());
    assert!(is_gone, "{name}: after {:?}: {:?}", begun.elapsed(), project.processes());
}

/// A grandchild in a session of its own is found too.
#[test]
fn no_process_is_left_of_a_server_that_daemonizes() {
    for name in ["KILL", "INT", "TERM"] {
        let Some(server) = hostile(&[]) else { return };
        let project = Project::with_servers(json!({ "hostile": server }));
        let body =
            "await hostile.spawn({ keep_stdout: true }); await new Promise((resolve) => setTimeout(resolve, 25_000));";
        ends_with_everything(&project, &script(&["hostile"], body), "time.sleep(1000)", name);
    }
}

/// `npx -y package`: a chain of npm, a shell and node.
#[test]
fn no_process_is_left_of_npx() {
    let (Some(servers), Some(())) = (published(), node()) else { return };
    for name in ["KILL", "INT", "TERM"] {
        let project = Project::with_servers(json!({ "memory": {
            "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"], "cwd": servers,
            "env": { "MEMORY_FILE_PATH": "${SPACE_DIR}/memory.jsonl" },
        } }));
        let body = "await memory.readGraph(); await new Promise((resolve) => setTimeout(resolve, 25_000));";
        ends_with_everything(&project, &script(&["memory"], body), ".bin/mcp-server-memory", name);
    }
}

/// Every way in which a run ends by itself.
#[test]
fn no_process_is_left_after_a_normal_run() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    for (body, options, status) in [
        ("export default (await hostile.spawn({})).child > 0;", &["--json"][..], 0),
        ("await hostile.spawn({}); throw new Error('no');", &["--json"], 1),
        ("await hostile.spawn({}); while (true) {}", &["--json", "--fuel", "300M"], 3),
        ("await hostile.spawn({}); await hostile.hang();", &["--json", "--timeout", "3s"], 3),
    ] {
        let done = project.run_with(&script(&["hostile"], body), options);
        assert_eq!(done.status, Some(status), "{body}: {done:?}");
        project.assert_nothing_left();
    }
}

/// With `--json` the one object is printed too, where a server that was started says nothing.
#[test]
fn a_signal_during_server_startup_ends_the_run_with_one_json_object() {
    let project = Project::with_servers(json!({ "slow": { "command": "sleep", "args": ["1000"] } }));
    project.write("script.ts", &script(&["slow"], "export default typeof slow;"));
    let mut command = project.command(&["run", "script.ts", "--json"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let is_up = || project.processes().iter().any(|(_, arguments)| arguments.contains("sleep 1000"));
    assert!(eventually(Duration::from_secs(30), is_up), "it did not start: {:?}", project.processes());
    signal(child.id(), "TERM");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["ok"], &report["error"]["code"]), (&json!(false), &json!("run.cancelled")), "{report}");
    project.assert_nothing_left();
}
