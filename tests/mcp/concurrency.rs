//! Concurrent runs that share one session with one server.

use crate::mcp::support::{Project, hostile_logging, script};
use agent_spaces::mcp::McpClients;
use agent_spaces::project::{Equipment, Project as Configured, Surroundings};
use agent_spaces::{Engine, EngineConfig, RunOptions};
use agent_spaces_mcp::Context;
use serde_json::{Value, json};
use std::collections::HashSet;

const RUNS: usize = 50;
const CALLS: usize = 20;

/// 1,000 calls of 50 runs at the same time through one process: none is lost, none gets another's answer.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_calls_from_fifty_runs_are_not_mixed_up() {
    let Some(server) = hostile_logging(&[]) else { return };
    let project = Project::with_servers(json!({ "hostile": server }));
    assert_eq!(project.agent_spaces(&["mcp", "accept"]).status, Some(0));
    std::fs::remove_file(project.path("log.jsonl")).unwrap();

    let engine = Engine::new(EngineConfig { max_runs: 64, ..EngineConfig::default() }).unwrap();
    // A folder of the user's own needs no acceptance.
    let surroundings = Surroundings { user_folder: Some(project.path("")), ..Surroundings::default() };
    let configured = Configured::open_in(&project.path("agent-spaces.config.json"), &engine, &surroundings).unwrap();
    let clients = McpClients::new(Context::default());
    let space = configured.space(None).unwrap().assemble_with(&engine, &Equipment::with_clients(&clients)).unwrap();
    let mut running = Vec::new();
    for run in 0..RUNS {
        let body = format!(
            "const echo = (_, call) => hostile.echo({{ message: `{run}/${{call}}` }});
            const calls = Array.from({{ length: {CALLS} }}, echo);
            export default (await Promise.all(calls)).map(({{ message }}) => message);"
        );
        let program = space.prepare("script.ts", &script(&["hostile"], &body)).unwrap();
        running.push(tokio::spawn(async move { program.run(RunOptions::default()).await }));
    }
    for (run, running) in running.into_iter().enumerate() {
        let value = running.await.unwrap().outcome.unwrap();
        let expected: Vec<String> = (0..CALLS).map(|call| format!("{run}/{call}")).collect();
        assert_eq!(value, json!(expected));
    }
    clients.close().await;

    let log = project.lines("log.jsonl");
    let calls: Vec<&Value> = log.iter().filter(|message| message["method"] == "tools/call").collect();
    assert_eq!(calls.len(), RUNS * CALLS, "each call is sent once");
    let ids: HashSet<String> = calls.iter().map(|call| call["id"].to_string()).collect();
    assert_eq!(ids.len(), calls.len());
    assert_eq!(log.iter().filter(|message| message["method"] == "initialize").count(), 1, "one session");
}
