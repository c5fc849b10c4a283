//! Serve settings of a configuration: name, mode and concurrency.

use crate::mcp::support::{Project, hostile};
use crate::serve::agent::Agent;
use serde_json::{Value, json};

const DEFINITION: &str = r#"{"name": "clock", "description": "Time", "functions": [
    {"name": "wait", "description": "Waits", "parameters": {"type": "object", "properties": {}}}]}"#;

fn project(config: Value) -> Project {
    let project = Project::empty();
    project.write("clock.json", DEFINITION);
    project.write("clock.ts", "export const wait = () => new Promise((done) => setTimeout(() => done('done'), 400));");
    project.configure(config);
    project
}

fn tools(agent: &mut Agent) -> Vec<String> {
    let listed = agent.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn name_and_exposed_functions_apply_once_trusted() {
    let project = project(json!({
        "capabilities": { "global": ["./clock.json"] },
        "mcp": { "enabled": true, "server": { "enabled": true, "name": "my-agent-mcp-server", "expose_handlers": true } },
    }));
    let mut agent = Agent::of(&project, &[]);
    assert_eq!(agent.greeting["serverInfo"]["name"], "agent-spaces");
    assert!(tools(&mut agent).contains(&"run_code".to_owned()));
    drop(agent);
    project.trust();
    let mut agent = Agent::of(&project, &[]);
    assert_eq!(agent.greeting["serverInfo"]["name"], "my-agent-mcp-server");
    let named = tools(&mut agent);
    assert!(named.iter().any(|name| name.contains("wait")) && !named.contains(&"run_code".to_owned()), "{named:?}");
    drop(agent);
    let mut agent = Agent::of(&project, &["--mode", "code"]);
    assert!(tools(&mut agent).contains(&"run_code".to_owned()));
}

/// Makes concurrent calls of one tool; returns the total time, in units of one call.
fn waves(project: &Project, arguments: &[&str], calls: usize) -> u128 {
    let mut agent = Agent::of(project, arguments);
    let tool = tools(&mut agent).into_iter().find(|name| name.contains("wait")).unwrap();
    let call = json!({ "name": tool, "arguments": {} });
    // The first call compiles what the others share.
    agent.ask("tools/call", call.clone());
    let begun = std::time::Instant::now();
    let ids: Vec<u64> = (0..calls).map(|_| agent.begin("tools/call", call.clone())).collect();
    for id in ids {
        let answer = agent.answer(id);
        assert!(answer["result"]["isError"] != true, "{answer}");
    }
    begun.elapsed().as_millis() / 400
}

#[test]
fn calls_in_proxy_mode_are_limited_in_concurrency() {
    let config = |serve: Value| json!({ "capabilities": { "global": ["./clock.json"] }, "serve": serve });
    let project = project(config(json!({ "expose": ["clock"], "concurrency": { "proxy": 2 } })));
    project.trust();
    assert!(waves(&project, &["--mode", "proxy"], 6) >= 3, "two at a time by the configuration");
    assert!(waves(&project, &["--mode", "proxy", "--concurrency", "1"], 4) >= 4, "one at a time by the flag");
    project.configure(config(json!({ "expose": ["clock"] })));
    project.trust();
    assert!(waves(&project, &["--mode", "proxy"], 11) >= 2, "ten at a time when nothing is said");
    let done = project.agent_spaces(&["mcp", "serve", "--concurrency", "0"]);
    assert_eq!(done.status, Some(2), "{done:?}");
}

#[test]
fn messages_to_servers_are_traced_while_serving() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "good": server }));
    let mut command = project.command(&["mcp", "serve", "--trace-mcp"]);
    let log = std::fs::File::create(project.path("stderr.txt")).unwrap();
    command.stderr(log);
    let mut agent = Agent::start_logging(command);
    let answer = agent.ask("tools/call", json!({ "name": "search_capabilities", "arguments": { "query": "echo" } }));
    assert!(answer["result"].is_object(), "{answer}");
    drop(agent);
    let said = project.read("stderr.txt");
    assert!(said.contains("serves agent-spaces.config.json (it is in this folder)"), "{said}");
    assert!(said.contains("[mcp]") && said.contains("tools/list"), "{said}");
}
