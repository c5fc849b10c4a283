//! Selection of the configuration, enabled and disabled servers, and how `doctor`, `mcp list` and `mcp serve` report
//! them.

use crate::mcp::support::{CommandOutput, Project, finish, hostile, small};
use crate::serve::agent::{Agent, SESSIONS};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The command in a folder of a home of its own.
fn command(project: &Project, folder: &str, arguments: &[&str]) -> Command {
    let home = project.path("home");
    std::fs::create_dir_all(home.join(folder)).unwrap();
    let mut command = project.command(arguments);
    command.env("HOME", &home).env("XDG_CONFIG_HOME", home.join(".config")).current_dir(home.join(folder));
    command
}

fn at_home(project: &Project, folder: &str, arguments: &[&str]) -> CommandOutput {
    finish(command(project, folder, arguments))
}

fn write(project: &Project, name: &str, text: &str) {
    let file = project.path("home").join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

const OWN: &str = ".config/agent-spaces/agent-spaces.config.json";

#[test]
fn a_disabled_server_fails_only_its_importers() {
    let (Some(on), Some(mut off)) = (small("memory"), small("filesystem")) else { return };
    off["enabled"] = false.into();
    let project = Project::with_servers(json!({ "memory": on, "filesystem": off }));
    let done = project.run("export default 1 + 1");
    assert_eq!((done.status, &done.json()["value"]), (Some(0), &json!(2)), "{done:?}");
    let told = "`mcp:filesystem` is granted to all spaces, but switched off at agent-spaces.config.json: \
                $.mcpServers.filesystem";
    assert_eq!(done.stderr.matches(told).count(), 1, "{}", done.stderr);
    let done = project.run("import { filesystem } from '@capabilities/mcp-filesystem';\nexport default filesystem");
    let error = &done.json()["error"];
    assert_eq!((done.status, error["code"].as_str()), (Some(4), Some("import.denied")), "{done:?}");
    assert!(error["hint"].as_str().unwrap().starts_with("it is switched off at "), "{error}");
    assert_eq!(project.read("starts"), "");
}

#[test]
fn mcp_can_be_disabled_entirely() {
    let Some(server) = small("memory") else { return };
    let project = Project::new(json!({
        "mcp": { "client": { "enabled": false } }, "mcpServers": { "memory": server },
        "capabilities": { "global": ["mcp:memory"] },
    }));
    let listed = project.agent_spaces(&["mcp", "list", "--json"]).json();
    assert_eq!((&listed[0]["state"], &listed[0]["enabled"]), (&json!("off"), &json!(false)), "{listed}");
    assert!(
        listed[0]["detail"].as_str().unwrap().ends_with("agent-spaces.config.json: $.mcp.client.enabled"),
        "{listed}"
    );
    let done = project.agent_spaces(&["mcp", "ping", "memory"]);
    assert!(done.status != Some(0) && project.read("starts").is_empty(), "{done:?}");
    for mcp in [json!({ "enabled": false }), json!({ "server": { "enabled": false } })] {
        project.configure(json!({ "mcp": mcp }));
        let done = project.agent_spaces(&["mcp", "serve"]);
        assert_eq!(done.status, Some(2), "{done:?}");
        assert!(done.stderr.contains("serving is disabled"), "{}", done.stderr);
    }
}

#[test]
fn a_foreign_file_that_disables_mcp_starts_nothing() {
    let Some(server) = small("memory") else { return };
    let project = Project::empty();
    let agent = |enabled: bool| {
        let mut server = server.clone();
        server["name"] = "memory".into();
        // JSON is YAML too.
        format!("mcp:\n  enabled: {enabled}\n  client:\n    enabled: true\n    servers: [{server}]\n")
    };
    project.configure(json!({ "mcpServersFrom": ["./agentup.yml"], "capabilities": { "global": ["mcp:memory"] } }));
    for (enabled, status) in [(false, None), (true, Some(0))] {
        project.write("agentup.yml", &agent(enabled));
        project.trust();
        assert_eq!(project.agent_spaces(&["trust", "agentup.yml"]).status, Some(0));
        let done = project.agent_spaces(&["mcp", "ping", "memory", "--json"]);
        assert!(status.is_none_or(|status| done.status == Some(status)), "{done:?}");
        assert_eq!(project.read("starts").is_empty(), !enabled, "{done:?}");
    }
}

#[test]
fn a_yaml_configuration_equals_its_json_form() {
    let Some(server) = small("memory") else { return };
    let project = Project::empty();
    let text = format!(
        "# ours\nmcpServers:\n  memory: {server}\ncapabilities:\n  global: [mcp:memory]\nlimits: {{ time: 9s }}\n"
    );
    project.write("agent-spaces.config.yaml", &text);
    project.trust();
    let done = project
        .run("import { memory } from '@capabilities/mcp-memory';\nexport default Object.keys(memory).length > 0");
    assert_eq!((done.status, &done.json()["value"]), (Some(0), &json!(true)), "{done:?}");
    project.write("agent-spaces.config.yaml", "spaces:\n  main:\n    capabilites: []\n");
    let done = project.agent_spaces(&["spaces", "list"]);
    assert_eq!(done.status, Some(2));
    assert!(
        done.stderr.contains("agent-spaces.config.yaml:3:5: $.spaces.main.capabilites: unknown key"),
        "{}",
        done.stderr
    );
    project.write("agent-spaces.config.yml", "{}");
    let done = project.agent_spaces(&["spaces", "list"]);
    assert!(done.stderr.contains("there are two configurations"), "{}", done.stderr);
}

#[test]
fn the_configuration_of_init_applies_in_the_home_folder_and_below() {
    let Some(server) = small("memory") else { return };
    let project = Project::empty();
    let servers = json!({ "mcpServers": { "memory": server } });
    write(&project, ".cursor/mcp.json", &servers.to_string());
    let done = at_home(&project, "", &["init", "--yes", "--json"]);
    assert_eq!(done.status, Some(0), "{done:?}");
    for folder in ["", "work/deep"] {
        let report = at_home(&project, folder, &["doctor", "--offline", "--json"]).json();
        let said = configuration(&report);
        assert!(
            said[0].contains(OWN)
                && said[1].contains("your own: no configuration or .mcp.json in this folder or its parents"),
            "{folder}: {said:?}"
        );
    }
    write(&project, "work/.mcp.json", &json!({ "mcpServers": { "other": { "command": "x" } } }).to_string());
    let listed = at_home(&project, "work/deep", &["mcp", "list"]);
    assert!(listed.stdout.starts_with("other  inert"), "{listed:?}");
    assert!(
        listed.stderr.contains(
            "work/.mcp.json (no agent-spaces.config file in this folder or its parents; your own configuration, "
        ),
        "{listed:?}"
    );
    assert!(listed.stderr.contains(&format!("{OWN}, is not used)")), "{listed:?}");
    let done = at_home(&project, "work", &["mcp", "serve"]);
    assert!(
        done.stderr.contains("serves .mcp.json (no agent-spaces.config file in this folder or its parents"),
        "{done:?}"
    );
}

fn configuration(report: &Value) -> Vec<&str> {
    let checks = report["checks"].as_array().unwrap().iter();
    checks.filter(|check| check["subject"] == "configuration").map(|check| check["message"].as_str().unwrap()).collect()
}

#[test]
fn the_users_configuration_neither_hides_nor_grants_to_a_folders_definitions() {
    let project = Project::empty();
    let providers = json!({ "@capabilities/weather": { "env": { "KEY": "canary-of-the-user" } } });
    write(
        &project,
        OWN,
        &json!({ "capabilities": { "global": ["./weather.json"] }, "providers": providers }).to_string(),
    );
    let definition = json!({ "name": "get_weather", "parameters": {}, "returns": "string" }).to_string();
    write(&project, ".config/agent-spaces/weather.json", &definition);
    write(&project, "work/capabilities/local.json", &definition.replace("get_weather", "get_local"));
    write(
        &project,
        "work/capabilities/local.ts",
        "export const getLocal = () => { try { return String(process.env.KEY); } catch { return 'nothing'; } };",
    );
    write(
        &project,
        "work/agent.ts",
        "import { getLocal } from '@capabilities/local';\nexport default await getLocal();",
    );
    let done = at_home(&project, "work", &["run", "agent.ts", "--json"]);
    assert_eq!(done.status, Some(0), "{done:?}");
    assert!(!done.stdout.contains("canary"), "{done:?}");
    let listed = at_home(&project, "work", &["capabilities", "list"]);
    assert!(
        listed.stdout.contains("@capabilities/local") && listed.stdout.contains("@capabilities/weather"),
        "{listed:?}"
    );
    assert_eq!(at_home(&project, "work", &["capabilities", "build"]).status, Some(0));
    assert!(project.path("home/work/.agent-spaces/capabilities/local").is_dir());
    let line = ["mcp", "serve", "--config", project.path("home").join(OWN).to_str().unwrap()].map(str::to_owned);
    for folder in ["", "work", "elsewhere"] {
        let serving = command(&project, folder, &line.each_ref().map(String::as_str));
        let agent = Agent::start(serving, SESSIONS, None);
        assert_eq!(agent.greeting["serverInfo"]["name"], "agent-spaces", "{folder}");
    }
}

#[test]
fn we_never_list_ourselves() {
    let project = Project::empty();
    let us = env!("CARGO_BIN_EXE_agent-spaces");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let servers = json!({ "mcpServers": {
        "tools": { "command": us, "args": ["mcp", "serve"] },
        "npx": { "command": "npx", "args": ["-y", "agent-spaces@latest", "mcp", "serve"] },
        "cargo": { "command": "cargo", "args": ["run", "--manifest-path", root, "--", "mcp", "serve"] },
        "files": { "command": "npx", "args": ["-y", "server-filesystem", "/home/me/agent-spaces"] },
    } });
    project.write(".mcp.json", &servers.to_string());
    let listed = project.agent_spaces(&["mcp", "list", "--json"]).json();
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|server| server["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["files"]);
}

#[test]
fn doctor_refuses_what_run_refuses() {
    let project = Project::new(json!({ "spaces": { "main": { "capabilities": ["mcp:gone"] }, "fine": {} } }));
    project.write("script.ts", "1");
    let run = project.agent_spaces(&["run", "script.ts", "--space", "main", "--json"]);
    let done = project.agent_spaces(&["doctor", "--offline", "--json"]);
    assert_eq!((run.status, done.status), (Some(2), Some(2)), "{run:?} {done:?}");
    let report = done.json();
    let broken = report["checks"].as_array().unwrap().iter().find(|check| check["subject"] == "space main").unwrap();
    assert_eq!(broken["message"], run.json()["error"]["message"], "{report}");
}

#[test]
fn proxy_variables_withheld_from_servers_are_named() {
    let (Some(mut given), Some(without)) = (small("memory"), small("filesystem")) else { return };
    given["env"] = json!({ "HTTPS_PROXY": "${HTTPS_PROXY}", "no_proxy": "${no_proxy}" });
    let project = Project::with_servers(json!({ "given": given, "without": without }));
    let doctor = |is_set: bool| {
        let mut command = project.command(&["doctor", "--offline", "--json"]);
        for name in std::env::vars().map(|(name, _)| name) {
            let is_known =
                ["_PROXY", "SSL_CERT", "_CA_", "CAINFO"].iter().any(|part| name.to_uppercase().contains(part));
            if is_known || name == "DENO_CERT" {
                command.env_remove(name);
            }
        }
        if is_set {
            command.env("HTTPS_PROXY", "http://user:canary-password@proxy:1").env("no_proxy", "localhost");
        }
        let done = finish(command);
        assert!(!done.stdout.contains("canary"), "{done:?}");
        let report = done.json();
        let checks = report["checks"].as_array().unwrap();
        checks.iter().find(|check| check["subject"] == "proxy and certificates").cloned()
    };
    assert_eq!(doctor(false), None);
    let check = doctor(true).unwrap();
    assert_eq!(
        check["details"],
        json!({
            "variables": ["HTTPS_PROXY", "no_proxy"], "servers": ["without"],
            "lacking": { "without": ["HTTPS_PROXY", "no_proxy"] },
        }),
        "{check}"
    );
    assert!(check["fix"].as_str().unwrap().contains(r#""env": { "HTTPS_PROXY": "${HTTPS_PROXY}""#), "{check}");
}

#[test]
fn mcp_call_warns_only_of_its_own_rules() {
    let (Some(memory), Some(files)) = (small("memory"), small("filesystem")) else { return };
    let project = Project::new(json!({
        "mcpServers": { "memory": memory, "filesystem": files },
        "capabilities": { "global": ["mcp:memory", "mcp:filesystem"] },
        "policy": { "functions": { "filesystem.*": "approve" } },
    }));
    assert_eq!(project.agent_spaces(&["mcp", "accept"]).status, Some(0));
    let done = project.agent_spaces(&["mcp", "call", "memory", "tell", r#"{"name": "NOTHING"}"#]);
    assert!(done.status == Some(0) && !done.stderr.contains("filesystem"), "{done:?}");
}

#[test]
fn the_trace_works_for_every_command_that_reaches_servers() {
    let Some(server) = hostile(&[]) else { return };
    let project = Project::with_servers(json!({ "good": server }));
    assert_eq!(project.agent_spaces(&["mcp", "accept", "good"]).status, Some(0));
    for arguments in [&["audit", "--diff", "--trace-mcp"][..], &["doctor", "--trace-mcp"]] {
        let done = project.agent_spaces(arguments);
        assert!(done.stderr.contains("[mcp]") && done.stderr.contains("tools/list"), "{arguments:?}: {done:?}");
    }
}
