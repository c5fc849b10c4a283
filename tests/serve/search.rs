//! Search and instructions for agents.

use crate::mcp::support::{Project, hostile};
use crate::serve::agent::{Agent, text};
use serde_json::{Value, json};

#[test]
fn an_agent_always_has_three_tools() {
    let project = Project::with_servers(json!({}));
    let mut agent = Agent::of(&project, &[]);
    let listed = agent.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["search_capabilities", "describe_capabilities", "run_code"]);
    for tool in tools {
        for part in ["title", "description", "inputSchema", "outputSchema", "annotations"] {
            assert!(!tool[part].is_null(), "{part} of {tool}");
        }
    }
    // A token of such text has about four characters; three are assumed.
    let taught = listed["result"].to_string() + agent.greeting["instructions"].as_str().unwrap();
    assert!(taught.chars().count() < 1_500 * 3, "{} characters", taught.chars().count());
}

#[test]
fn instructions_stay_short_for_any_number_of_servers() {
    let tool =
        |name: String| json!({ "name": name, "description": "x".repeat(3_000), "inputSchema": { "type": "object" } });
    let tools: Vec<Value> = (0..50).map(|number| tool(format!("tool_{number}_{}", "y".repeat(60)))).collect();
    let project = Project::empty();
    project.write("tools.json", &json!({ "tools": tools }).to_string());
    let name = |number: usize| format!("server-{number}-with-a-name-of-no-small-length-at-all");
    let servers: serde_json::Map<String, Value> =
        (0..60).map(|number| (name(number), json!({ "command": "no-such-program", "tools": "tools.json" }))).collect();
    let given: Vec<String> = servers.keys().map(|name| format!("mcp:{name}")).collect();
    project.configure(json!({ "mcpServers": servers, "capabilities": { "global": given } }));
    project.trust();
    let mut agent = Agent::of(&project, &[]);
    let found = agent.search("tool 7");
    assert!(found.lines().count() == 10 && found.contains("tool7"), "{found}");
    drop(agent);
    let mut agent = Agent::of(&project, &[]);
    let instructions = agent.greeting["instructions"].as_str().unwrap().to_owned();
    assert!(instructions.contains("3020 functions") || instructions.contains("still loading"), "{instructions}");
    let taught = agent.ask("tools/list", json!({}))["result"].to_string() + &instructions;
    assert!(taught.chars().count() < 1_500 * 3, "{} characters", taught.chars().count());
}

#[test]
fn a_long_description_is_paged() {
    let property =
        |number: usize| (format!("field_{number}"), json!({ "type": "string", "description": "x".repeat(150) }));
    let properties: serde_json::Map<String, Value> = (0..200).map(property).collect();
    let tool = json!({ "name": "wide", "inputSchema": { "type": "object", "properties": properties } });
    let project = Project::empty();
    project.write("tools.json", &json!({ "tools": [tool] }).to_string());
    let servers = json!({ "odd": { "command": "no-such-program", "tools": "tools.json" } });
    project.configure(json!({ "mcpServers": servers, "capabilities": { "global": ["mcp:odd"] } }));
    project.trust();
    let mut agent = Agent::of(&project, &[]);
    let (mut read, mut part) = (String::new(), 1);
    loop {
        let described = agent.call("describe_capabilities", json!({ "names": ["odd.wide"], "part": part }));
        read += described["structuredContent"]["declarations"].as_str().unwrap();
        part += 1;
        if !text(&described).contains(&format!("{{\"part\": {part}}}")) {
            break;
        }
    }
    assert!(part > 2 && read.chars().count() > 30_000, "{part}");
    assert!((0..200).all(|number| read.contains(&format!("field_{number}"))) && read.ends_with("}\n"), "{read}");
    for none in [0, part] {
        let described = agent.call("describe_capabilities", json!({ "names": ["odd.wide"], "part": none }));
        assert_eq!(described["isError"], true, "{described}");
    }
}

#[test]
fn functions_are_found_with_readable_declarations() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    let found = agent.call("search_capabilities", json!({ "query": "echo a message", "limit": 3 }));
    let first = &found["structuredContent"]["functions"][0];
    assert_eq!(first["name"], "odd.echo", "{found}");
    assert!(text(&found).starts_with("odd.echo(params"), "{found}");

    let described = agent.call("describe_capabilities", json!({ "names": ["odd.echo"] }));
    let declared = text(&described);
    assert!(declared.starts_with("import { odd } from '@capabilities/mcp-odd';"), "{declared}");
    assert!(declared.contains("echo(params") && !declared.contains("sleep("), "{declared}");

    let unknown = agent.call("describe_capabilities", json!({ "names": ["odd.ecko"] }));
    assert_eq!(unknown["isError"], true);
    assert!(text(&unknown).contains("did you mean `odd.echo`?"), "{unknown}");

    let listed = agent.ask("resources/list", json!({}));
    let uris: Vec<&str> =
        listed["result"]["resources"].as_array().unwrap().iter().map(|each| each["uri"].as_str().unwrap()).collect();
    assert!(uris.contains(&"agent-spaces:///capabilities/mcp-odd/index.d.ts"), "{uris:?}");
    for (uri, expected) in [
        ("agent-spaces:///capabilities/mcp-odd/index.d.ts", "echo(params"),
        ("agent-spaces:///capabilities/mcp-odd/mcp-odd.wit", "interface odd"),
        ("agent-spaces:///agent-spaces/std/index.d.ts", "export const json"),
    ] {
        let read = agent.ask("resources/read", json!({ "uri": uri }));
        assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains(expected), "{uri}: {read}");
    }
    let none = agent.ask("resources/read", json!({ "uri": "agent-spaces:///../../etc/passwd/index.d.ts" }));
    assert!(none.get("error").is_some(), "{none}");
}

#[test]
fn hidden_functions_do_not_appear() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::new(json!({
        "mcpServers": { "odd": server },
        "capabilities": { "global": ["mcp:odd"] },
        "policy": { "functions": { "odd.sleep": { "decision": "deny" }, "odd.echo": { "scopes": ["echoing"] } } },
    }));
    let mut agent = Agent::of(&project, &[]);
    for hidden in ["odd.sleep", "odd.echo"] {
        let found = agent.search(hidden);
        assert!(!found.contains(&format!("{hidden}(")), "{found}");
        let described = agent.call("describe_capabilities", json!({ "names": [hidden] }));
        assert_eq!(described["isError"], true, "{described}");
        let text = text(&described).replacen(hidden, "", 1);
        assert!(!text.contains("odd.sleep") && !text.contains("odd.echo`"), "{described}");
    }
    // Not in the words of an error either.
    let unknown = agent.run("import { odd } from '@capabilities/mcp-odd';\nexport default await odd.slep({})");
    assert!(text(&unknown).contains("odd") && !text(&unknown).contains("sleep"), "{unknown}");
    let none = agent.call("describe_capabilities", json!({ "names": [] }));
    assert!(none["isError"] == true && none.get("structuredContent").is_none(), "{none}");
    for file in ["index.d.ts", "mcp-odd.wit"] {
        let uri = format!("agent-spaces:///capabilities/mcp-odd/{file}");
        let read = agent.ask("resources/read", json!({ "uri": uri }))["result"].to_string();
        let has = |name: &str| [":", "("].iter().any(|after| read.contains(&format!(" {name}{after}")));
        assert!(has("image") && !has("sleep") && !has("echo"), "{read}");
    }
    drop(agent);
    let mut agent = Agent::of(&project, &["--scope", "echoing"]);
    assert!(agent.search("odd.echo").contains("odd.echo("));
}
