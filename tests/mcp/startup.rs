//! Server startup: slow, hanging and failing servers.

use crate::mcp::support::{Project, hostile};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn ping(server: Value) -> (Value, Option<i32>, Project) {
    let project = Project::with_servers(json!({ "hostile": server }));
    let done = project.agent_spaces(&["mcp", "ping", "hostile", "--json"]);
    (done.json()[0].clone(), done.status, project)
}

/// The message that the server cannot be reached with.
fn failure(server: Value) -> String {
    let (answer, status, _project) = ping(server);
    assert_eq!((answer["ok"].as_bool(), status), (Some(false), Some(5)), "{answer}");
    assert_eq!(answer["error"]["code"], "host.mcp", "{answer}");
    answer["error"]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_slow_start_is_waited_for() {
    let Some(server) = hostile(&["--slow-start", "1500"]) else { return };
    let (answer, status, _project) = ping(server);
    assert_eq!((answer["ok"].as_bool(), status), (Some(true), Some(0)), "{answer}");
}

/// More than half of its time, so that another start would come too late.
#[test]
fn a_starting_program_is_not_started_twice() {
    for way in ["error", "silent"] {
        let Some(mut server) = hostile(&["--slow-start", "13000", "--discover", way]) else { return };
        server["connectTimeout"] = "24s".into();
        let project = Project::with_servers(json!({ "hostile": server }));
        let done = project.agent_spaces(&["mcp", "ping", "hostile", "--json"]);
        assert_eq!((done.json()[0]["ok"].as_bool(), done.status), (Some(true), Some(0)), "{way}: {done:?}");
        assert!(done.stderr.contains("still starting after 10s"), "{}", done.stderr);
    }
}

#[test]
fn a_server_that_never_answers_times_out() {
    let Some(mut server) = hostile(&["--no-start", "--discover", "silent"]) else { return };
    server["connectTimeout"] = "2s".into();
    let begun = Instant::now();
    assert_eq!(failure(server), "MCP server hostile: it did not answer within 2s");
    assert!(begun.elapsed() < Duration::from_secs(12), "{:?}", begun.elapsed());
}

/// Its stderr is the best explanation.
#[test]
fn the_error_of_an_exiting_server_has_its_stderr() {
    let Some(server) = hostile(&["--exit-at-start"]) else { return };
    assert_eq!(
        failure(server),
        "MCP server hostile: its process exited (exit status 3) before it answered; last stderr output: \
         hostile: refusing to start"
    );
}

#[test]
fn a_missing_program_is_named() {
    let message = failure(json!({ "command": "no-such-program-of-agent-spaces" }));
    assert!(message.starts_with("MCP server hostile: cannot start `no-such-program-of-agent-spaces`: "), "{message}");
}

/// A missing variable is named with its place, and nothing is started.
#[test]
fn a_missing_variable_is_reported_with_its_location() {
    let Some(mut server) = hostile(&["--log", "log.jsonl"]) else { return };
    server["env"]["API_TOKEN"] = "${NO_SUCH_VARIABLE_OF_AGENT_SPACES}".into();
    let project = Project::with_servers(json!({ "hostile": server }));
    let done = project.agent_spaces(&["mcp", "ping", "hostile", "--json"]);
    let message = done.json()[0]["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("$.mcpServers.hostile.env.API_TOKEN: "), "{message}");
    assert!(message.contains("NO_SUCH_VARIABLE_OF_AGENT_SPACES"), "{message}");
    assert!(!project.path("log.jsonl").exists());
}

/// However `server/discover` ends at a server that does not know it, a session is opened.
#[test]
fn an_older_server_is_reached_however_it_answers_discover() {
    for way in ["error", "exit", "empty", "invalid"] {
        let Some(server) = hostile(&["--discover", way]) else { return };
        let (answer, status, _project) = ping(server);
        assert_eq!((answer["ok"].as_bool(), status), (Some(true), Some(0)), "{way}: {answer}");
    }
}

/// Versions that the server names are taken where they are known, and refused in words where not.
#[test]
fn the_servers_protocol_version_is_used() {
    for version in ["2025-06-18", "2025-03-26", "2024-11-05"] {
        let Some(server) = hostile(&["--protocol", version]) else { return };
        let project = Project::with_servers(json!({ "hostile": server }));
        let listed = project.agent_spaces(&["mcp", "tools", "hostile", "--json"]).json();
        assert_eq!(listed["protocolVersion"], version, "{listed}");
    }
}

/// A banner on stdout warns and stops nothing.
#[test]
fn noise_on_stdout_is_warned_about() {
    let Some(server) = hostile(&["--noise"]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    let done = project.agent_spaces(&["mcp", "ping", "hostile", "--json"]);
    assert_eq!(done.json()[0]["ok"], true);
    let warning = "it writes output that is not JSON-RPC to stdout: Hostile server 1.0";
    assert!(done.stderr.contains(warning), "{}", done.stderr);
}
