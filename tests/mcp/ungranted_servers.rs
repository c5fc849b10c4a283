//! Configured servers that no space is granted, and rules that match none of their functions.

use crate::mcp::support::{Project, finish, hostile};
use crate::serve::agent::{Agent, text};
use serde_json::{Value, json};

const IMPORT: &str = "import { calcJs } from '@capabilities/mcp-calc-js';
    export default (await calcJs.echo({ message: 'x' })).message;";

#[test]
fn every_command_reports_ungranted_servers() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::new(json!({ "mcpServers": { "calc-js": server } }));
    let doctor = project.agent_spaces(&["doctor", "--offline", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let said = checks.iter().find(|check| check["subject"] == "capabilities").unwrap_or_else(|| panic!("{doctor}"));
    assert_eq!((&said["state"], &said["message"]), (&json!("warning"), &json!("no space is granted `calc-js`")));
    assert!(said["fix"].as_str().unwrap().starts_with("add \"mcp:calc-js\" to `capabilities.global` of "), "{said}");
    let line = "$.capabilities.global: add \"mcp:calc-js\"";
    let listed = project.agent_spaces(&["mcp", "list"]).stdout;
    assert!(listed.contains("not granted to any space: ") && listed.contains(line), "{listed}");
    let ran = project.run_with(IMPORT, &[]);
    assert!(ran.stderr.contains("import.denied") && ran.stderr.contains(line), "{ran:?}");
    let served = project.agent_spaces(&["mcp", "serve"]).stderr;
    assert!(served.contains("no space is granted `calc-js`: add \"mcp:calc-js\" to"), "{served}");
    let found = Agent::of(&project, &[]).search("echo a message");
    assert!(found.contains("1 MCP server is configured, but granted to no space"), "{found}");
    assert!(!found.contains("calc"), "what it is called is for the operator: {found}");
}

#[test]
fn one_entry_grants_all_enabled_servers() {
    let Some(server) = hostile(&[]) else { return };
    let mut off = server.clone();
    off["enabled"] = false.into();
    let servers = json!({ "calc-js": server.clone(), "more": server, "off": off });
    let project = Project::new(json!({ "mcpServers": servers, "spaces": { "work": { "capabilities": ["mcp:*"] } } }));
    let ran = project.run_with(IMPORT, &["--space", "work"]);
    assert_eq!(ran.stdout.trim(), "\"x\"", "{ran:?}");
    assert!(!ran.stderr.contains("switched off"), "{ran:?}");
    let shown = project.agent_spaces(&["spaces", "show", "work"]).stdout;
    assert!(shown.contains("@capabilities/mcp-calc-js"), "{shown}");
    // Deny by default: without the space there is nothing, and nothing says that no space has it.
    let denied = project.run_with(IMPORT, &[]);
    assert!(denied.status == Some(4) && denied.stderr.contains("--space work"), "{denied:?}");
    let served = project.agent_spaces(&["mcp", "serve", "--space", "work"]).stderr;
    assert!(!served.contains("no space is granted"), "{served}");
    let off =
        project.run_with("import { off } from '@capabilities/mcp-off'; export default off;", &["--space", "work"]);
    assert!(off.stderr.contains("the MCP server `off` is switched off"), "{off:?}");
}

#[test]
fn the_reason_of_a_missing_module_is_in_json_output() {
    let (Some(dead), Some(mut off)) = (hostile(&["--exit-at-start"]), hostile(&[])) else { return };
    off["enabled"] = false.into();
    let project = Project::with_servers(json!({ "dead": dead, "off": off }));
    let config = project.path("agent-spaces.config.json");
    let config = config.to_str().unwrap();
    let mut agent = Agent::of(&project, &["--config", config]);
    let found = agent.search("echo");
    assert!(found.contains(&format!("`agent-spaces mcp tools dead --config {config}`")), "{found}");
    let of = |agent: &mut Agent, name: &str| -> String {
        let code = format!("import {{ {name} }} from '@capabilities/mcp-{name}'; export default {name};");
        text(&agent.run(&code)).to_owned()
    };
    let told = of(&mut agent, "dead");
    assert!(told.contains("the MCP server `dead`: it did not start") && !told.contains("not granted"), "{told}");
    let told = of(&mut agent, "off");
    assert!(told.contains("the MCP server `off` is switched off") && !told.contains("hint"), "{told}");
    drop(agent);
    project
        .configure(json!({ "mcpServers": { "dead": { "command": "x" } }, "capabilities": { "global": ["mcp:dead"] } }));
    let found = Agent::of(&project, &["--config", config]).search("echo");
    assert!(found.contains(&format!("run `agent-spaces trust {config}`")), "{found}");
}

#[test]
fn the_end_of_a_servers_stderr_is_reported() {
    let trace = "import sys; sys.stderr.write('Traceback\\n' + '  File x, line 1, in a very long line of code\\n' * 60); \
                 sys.stderr.write('ImportError: no module named tools\\n'); sys.exit(1)";
    let project = Project::with_servers(json!({ "broken": { "command": "python3", "args": ["-c", trace] } }));
    let mut command = project.command(&["mcp", "serve"]);
    command.stderr(std::process::Stdio::from(std::fs::File::create(project.path("stderr")).unwrap()));
    let mut agent = Agent::start_logging(command);
    assert!(agent.search("echo").contains("the tools of broken are unavailable"));
    drop(agent);
    let said = project.read("stderr");
    assert!(said.contains("MCP server broken") && said.contains("ImportError: no module named tools"), "{said}");
}

#[test]
fn a_typo_in_a_rule_is_reported_despite_unknown_servers() {
    let Some(server) = hostile(&[]) else { return };
    let mut off = server.clone();
    off["enabled"] = false.into();
    let project = Project::new(json!({
        "mcpServers": { "commands": server, "gone": { "command": "there-is-no-such-program" }, "off": off },
        "capabilities": { "global": ["mcp:*", "mcp:off"] },
        "policy": { "functions": { "comands.*": "deny", "gone.stop": "deny", "off.*": "deny" } },
    }));
    assert_eq!(project.agent_spaces(&["mcp", "accept", "commands"]).status, Some(0));
    let is_told = |text: &str| {
        assert!(text.contains("no function matches `comands.*`; did you mean `commands.*`?"), "{text}");
        assert!(!text.contains("`gone.stop`") && !text.contains("`off.*`"), "they may have it: {text}");
    };
    is_told(&project.run_with("export default 1;", &[]).stderr);
    is_told(&project.agent_spaces(&["manifest", "script.ts"]).stderr);
    is_told(&project.agent_spaces(&["audit", "-"]).stderr);
    is_told(&finish(project.command(&["doctor", "--offline"])).stdout);
}

#[test]
fn rules_and_approvals_suggest_the_name_in_scripts() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "calc-js": server.clone() }));
    let with = |rule: &str| {
        json!({
            "mcpServers": { "calc-js": server.clone() }, "capabilities": { "global": ["mcp:calc-js"] },
            "policy": { "functions": { rule: "deny" } },
        })
    };
    project.configure(with("calc-js.echo"));
    let refused = project.run_with("export default 1;", &[]);
    assert!(refused.status == Some(2) && refused.stderr.contains("did you mean `calcJs.echo`?"), "{refused:?}");
    project.configure(with("calcjs.*"));
    let told = project.run_with("export default 1;", &[]);
    assert!(told.stderr.contains("did you mean `calcJs.*`?"), "{told:?}");
}

#[test]
fn the_default_space_is_reported_as_such() {
    let project = Project::empty();
    let told = project.agent_spaces(&["policy", "explain", "support", "x.y"]);
    assert_eq!(told.status, Some(2), "{told:?}");
    assert!(
        told.stderr.contains("no configuration was found") && told.stderr.contains("agent-spaces init"),
        "{told:?}"
    );
    let served = project.agent_spaces(&["mcp", "serve", "--config", "nofile.json"]);
    assert_eq!(served.status, Some(2), "{served:?}");
    assert!(!served.stderr.contains("serves nofile.json"), "{served:?}");
}

#[test]
fn invalid_tool_arguments_are_explained() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "odd": server }));
    let mut agent = Agent::of(&project, &[]);
    agent.search("echo");
    let described = agent.call("describe_capabilities", json!({ "names": "odd.echo" }));
    assert!(described["isError"] != true && text(&described).contains("echo("), "{described}");
    let told = |agent: &mut Agent, tool: &str, arguments: Value| text(&agent.call(tool, arguments)).to_owned();
    let names = told(&mut agent, "describe_capabilities", json!({ "names": 1 }));
    assert!(names.ends_with("`names` must be a list of strings, not 1"), "{names}");
    let timeout = told(&mut agent, "run_code", json!({ "code": "1", "timeout": "5" }));
    assert!(timeout.ends_with("`timeout` must be a number, not a string"), "{timeout}");
    let files = told(&mut agent, "run_code", json!({ "code": "import fs from 'node:fs'; export default fs;" }));
    assert!(files.contains("this space has no workspace") && !files.contains("`fs` of"), "{files}");
    let script = "import fs from 'node:fs'; export default fs;";
    let ran = project.run_with(script, &[]);
    assert!(ran.stderr.contains("this space has no workspace") && !ran.stderr.contains("`fs` of"), "{ran:?}");
    std::fs::create_dir(project.path("files")).unwrap();
    let ran = project.run_with(script, &["--workspace", "files"]);
    assert!(ran.stderr.contains("`fs` of '@agent-spaces/std'"), "{ran:?}");
}
