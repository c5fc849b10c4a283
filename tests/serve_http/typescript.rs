//! Client of the official TypeScript SDK, which most agents use.

use crate::mcp::support::{Project, eventually, finish, published};
use crate::serve_http::server::{ANN, HttpServer, project};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/serve_http/typescript.mjs");

/// Node with the script, as far as the SDK.
fn node() -> Option<Command> {
    let servers = published()?;
    let node = std::env::var_os("AGENT_SPACES_NODE").map_or_else(|| PathBuf::from("node"), PathBuf::from);
    let mut command = Command::new(node);
    command.arg(SCRIPT).arg(servers.join("node_modules/@modelcontextprotocol/sdk"));
    Some(command)
}

/// Expected observations of the client.
fn check(project: &Project, command: Command) {
    let done = finish(command);
    assert_eq!(done.status, Some(0), "{done:?}");
    let seen: Value = done.json();
    let has = |member: &str, part: &str| seen[member].as_str().is_some_and(|text| text.contains(part));
    assert_eq!(seen["server"], "agent-spaces");
    assert_eq!(seen["tools"], json!(["search_capabilities", "describe_capabilities", "run_code"]));
    assert!(has("search", "@capabilities/mcp-hostile"), "{seen}");
    assert!(has("describe", "echo"), "{seen}");
    assert!(has("run", "hello") && has("resume", "hello"), "{seen}");
    assert!(seen["resources"].as_u64() > Some(0) && seen["read"].as_u64() > Some(0), "{seen}");
    assert!(has("slow", "slept") && seen["progress"].as_u64() > Some(0), "{seen}");
    assert_eq!(seen["cancelled"], true);
    assert!(has("after", "after"), "{seen}");
    let is_told = |message: &Value| message["method"] == "notifications/cancelled";
    let is_cancelled = eventually(Duration::from_secs(10), || project.lines("log.jsonl").iter().any(is_told));
    assert!(is_cancelled, "the server behind is told too");
}

#[test]
fn the_typescript_client_uses_every_tool_over_http() {
    let (Some(mut command), Some(served)) = (node(), HttpServer::with_callers()) else { return };
    command.args(["http", &served.url, ANN]);
    check(&served.project, command);
}

#[test]
fn the_typescript_client_uses_every_tool_over_stdio() {
    let (Some(mut command), Some(project)) = (node(), project()) else { return };
    // The client starts the server, in the project's folder and home.
    let serve = project.command(&["mcp", "serve"]);
    command.arg("stdio").arg(serve.get_program()).args(serve.get_args());
    command.current_dir(serve.get_current_dir().unwrap());
    command.envs(serve.get_envs().filter_map(|(name, value)| Some((name, value?))));
    check(&project, command);
}
