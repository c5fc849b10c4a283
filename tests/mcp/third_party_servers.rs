//! Third-party servers from npm and PyPI: every tool of each, called from a script.

use crate::mcp::support::{Project, Site, browser, published, script};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;

const CALLS: &str = include_str!("servers/calls.json");

/// One pixel.
const DOT: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1, 8, 6,
    0, 0, 0, 0x1f, 0x15, 0xc4, 0x89, 0, 0, 0, 13, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xf0,
    0x1f, 0, 5, 0, 1, 0xff, 0x89, 0x99, 0x3d, 0x1d, 0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
];

/// Planned calls of a server, with placeholders filled in.
pub(crate) struct Plan {
    name: &'static str,
    server: Value,
    pub(crate) calls: Vec<Value>,
}

impl Plan {
    pub(crate) fn of(name: &'static str, servers: &Path, folder: &Path, site: Option<&Site>) -> Plan {
        let plans: Value = serde_json::from_str(CALLS).unwrap();
        let mut text = plans["servers"][name].to_string();
        for (placeholder, value) in [
            ("$SERVERS", servers.display().to_string()),
            ("$DIR", folder.join("work").display().to_string()),
            ("$REPO", folder.join("repository").display().to_string()),
            ("$URL", site.map(Site::url).unwrap_or_default()),
        ] {
            text = text.replace(placeholder, &value);
        }
        let plan: Value = serde_json::from_str(&text).unwrap();
        let env = plan.get("env").cloned().unwrap_or_else(|| json!({}));
        let server = json!({ "command": plan["command"], "env": env, "cwd": folder.join("work"), "timeout": "60s" });
        Plan { name, server, calls: plan["calls"].as_array().unwrap().clone() }
    }
}

/// A project with one server, and the folders that its calls need.
fn project(name: &'static str, servers: &Path, site: Option<&Site>) -> (Project, Plan) {
    let project = Project::empty();
    let work = project.path("work");
    std::fs::create_dir_all(&work).unwrap();
    std::fs::write(work.join("dot.png"), DOT).unwrap();
    std::fs::write(work.join("upload.txt"), "up").unwrap();
    let mut plan = Plan::of(name, servers, &project.path(""), site);
    // A browser keeps its profile where this says.
    plan.server["env"]["TMPDIR"] = project.path("work").display().to_string().into();
    let mut servers = Map::new();
    servers.insert(name.to_owned(), plan.server.clone());
    project.configure(json!({ "mcpServers": servers, "capabilities": { "global": [format!("mcp:{name}")] } }));
    project.trust();
    (project, plan)
}

/// A repository with one commit of `a.txt`, which was changed since.
fn make_repository(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=T", "-c", "user.email=t@example.com"];
        let done = Command::new("git").args(identity).args(arguments).current_dir(folder).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q", "-b", "main"]);
    git(&["config", "user.name", "T"]);
    git(&["config", "user.email", "t@example.com"]);
    std::fs::write(folder.join("a.txt"), "a\n").unwrap();
    git(&["add", "a.txt"]);
    git(&["commit", "-qm", "first"]);
    std::fs::write(folder.join("a.txt"), "b\n").unwrap();
}

/// Every tool of the server with its function, as the module's specification says.
fn functions(project: &Project, name: &str) -> Map<String, Value> {
    let specification = project.agent_spaces(&["capabilities", "show", &format!("mcp-{name}"), "--schema"]);
    let specification: Value = serde_json::from_str(&specification.stdout).unwrap();
    let functions = specification["capabilities"][0]["functions"].as_array().unwrap().clone();
    functions.into_iter().map(|function| (function["name"].as_str().unwrap().to_owned(), function)).collect()
}

/// Returns the results of the planned calls, made in one run of one script.
pub(crate) fn call_all(project: &Project, name: &str, calls: &[Value]) -> Vec<Value> {
    let accepted = project.agent_spaces(&["mcp", "accept", name]);
    assert_eq!(accepted.status, Some(0), "{accepted:?}");
    let functions = functions(project, name);
    let mut lines = String::new();
    for call in calls {
        let tool = call["tool"].as_str().unwrap();
        let function = functions.get(tool).unwrap_or_else(|| panic!("no {tool}: {:?}", functions.keys()));
        let takes_nothing = function["parameters"]["properties"].as_object().is_none_or(Map::is_empty);
        let arguments = if takes_nothing { String::new() } else { call["arguments"].to_string() };
        let function = function["jsName"].as_str().unwrap();
        lines.push_str(&format!("ended.push(await attempt(() => {name}.{function}({arguments})));\n"));
    }
    let source = script(&[name], &format!("const ended = [];\n{lines}\nexport default ended;"));
    let done = project.run_with(&source, &["--json", "--timeout", "95s"]);
    let ended = done.value().as_array().unwrap().clone();
    assert_eq!(ended.len(), calls.len(), "{ended:?}");
    ended
}

/// Compares a value with the expected one, ignoring extra members.
fn fits(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Object(value), Value::Object(expected)) => {
            expected.iter().all(|(name, expected)| value.get(name).is_some_and(|value| fits(value, expected)))
        }
        (Value::Array(value), Value::Array(expected)) => {
            value.len() == expected.len() && value.iter().zip(expected).all(|(value, expected)| fits(value, expected))
        }
        (value, expected) => value == expected,
    }
}

fn check(call: &Value, ended: &Value) {
    let is_value = ended.get("value").is_some();
    assert_eq!(is_value, call["expect"] == "value", "{call} gave {ended}");
    if !is_value {
        assert!(["call.failed", "call.protocol"].contains(&ended["code"].as_str().unwrap()), "{call} gave {ended}");
    }
    if let Some(expected) = call.get("gives") {
        assert!(fits(&ended["value"], expected), "{call} gave {ended}");
    }
    if let Some(text) = call.get("says").and_then(Value::as_str) {
        assert!(
            ended.to_string().contains(text) || ended["message"].as_str().is_some_and(|said| said.contains(text)),
            "{call} gave {ended}"
        );
    }
}

/// Every tool that the server lists is in the plan, and every call of the plan ends as expected.
fn every_tool_is_callable(name: &'static str, servers: &Path, site: Option<&Site>) {
    let (project, plan) = project(name, servers, site);
    make_repository(&project.path("repository"));
    let ended = call_all(&project, name, &plan.calls);
    let listed = functions(&project, name);
    assert!(!listed.is_empty(), "{name} lists no tools");
    for tool in listed.keys() {
        assert!(plan.calls.iter().any(|call| call["tool"] == **tool), "{name} has {tool}, and nothing calls it");
    }
    for (call, ended) in plan.calls.iter().zip(&ended) {
        check(call, ended);
    }
    assert_eq!(plan.name, name);
}

#[test]
fn every_tool_of_server_everything_is_callable() {
    let Some(servers) = published() else { return };
    every_tool_is_callable("everything", &servers, None);
}

#[test]
fn every_tool_of_server_filesystem_is_callable() {
    let Some(servers) = published() else { return };
    every_tool_is_callable("filesystem", &servers, None);
}

#[test]
fn every_tool_of_server_memory_is_callable() {
    let Some(servers) = published() else { return };
    every_tool_is_callable("memory", &servers, None);
}

/// This server speaks 2026-07-28.
#[test]
fn every_tool_of_server_git_is_callable() {
    let Some(servers) = published() else { return };
    every_tool_is_callable("git", &servers, None);
}

/// This server speaks 2026-07-28.
#[test]
fn every_tool_of_server_time_is_callable() {
    let Some(servers) = published() else { return };
    every_tool_is_callable("time", &servers, None);
}

#[test]
fn every_tool_of_playwright_is_callable() {
    let (Some(servers), Some(_)) = (published(), browser()) else { return };
    let site = Site::open();
    every_tool_is_callable("playwright", &servers, Some(&site));
}

/// One script, three servers, their data composed; two of them have a tool of the same name.
#[test]
fn a_script_composes_three_servers() {
    let Some(servers) = published() else { return };
    let project = Project::empty();
    make_repository(&project.path("repository"));
    std::fs::create_dir(project.path("work")).unwrap();
    let mut configured = Map::new();
    for name in ["filesystem", "git", "memory", "time"] {
        configured.insert(name.to_owned(), Plan::of(name, &servers, &project.path(""), None).server);
    }
    let given = ["mcp:filesystem", "mcp:git", "mcp:memory", "mcp:time"];
    project.configure(json!({ "mcpServers": configured, "capabilities": { "global": given } }));
    project.trust();
    let (work, repository) = (project.path("work"), project.path("repository"));
    let body = format!(
        "const repo_path = {repository};
        const [log, zone] = await Promise.all([
            git.log({{ repo_path, max_count: 1 }}),
            time.convertTime({{ source_timezone: 'Etc/UTC', time: '12:00', target_timezone: 'Asia/Tokyo' }}),
        ]);
        const subject = /Message: *'?([a-z]+)/.exec(typeof log === 'string' ? log : JSON.stringify(log))[1];
        const path = {work} + '/report.txt';
        await filesystem.writeFile({{ path, content: `${{subject}} at ${{zone.time_difference}}` }});
        const {{ content }} = await filesystem.readTextFile({{ path }});
        const report = {{ name: content, entityType: 'report', observations: [subject] }};
        await memory.createEntities({{ entities: [report] }});
        const graph = await memory.readGraph();
        export default graph.entities[0];",
        repository = json!(repository),
        work = json!(work),
    );
    let value = project.run(&script(&["filesystem", "git", "memory", "time"], &body)).value();
    assert_eq!(value["name"], "first at +9.0h", "{value}");
    assert_eq!(value["observations"], json!(["first"]));
}

/// A server that prints its environment has none of our variables.
#[test]
fn get_env_of_server_everything_shows_none_of_our_variables() {
    let Some(servers) = published() else { return };
    let (project, _) = project("everything", &servers, None);
    project.write("script.ts", &script(&["everything"], "export default await everything.getEnv();"));
    let mut command = project.command(&["run", "script.ts", "--json"]);
    command.env("CANARY_OF_TEST", "sings");
    let value = crate::mcp::support::finish(command).value();
    assert!(value["PATH"].is_string() && !value.to_string().contains("CANARY_OF_TEST"), "{value}");
    assert!(!value.to_string().contains("XDG_STATE_HOME"), "{value}");
}
