//! Confinement of servers and commands (Landlock, seccomp): accesses are refused with a profile and work without one.

use crate::mcp::support::{CommandOutput, Project, ServeClient, kernel_confines, node, reaching, script};
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::PathBuf;

/// A user's key file and a local port, which no server may access.
struct ForbiddenTargets {
    folder: tempfile::TempDir,
    listener: TcpListener,
}

impl ForbiddenTargets {
    fn new() -> ForbiddenTargets {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".ssh")).unwrap();
        std::fs::write(folder.path().join(".ssh/id"), "a key").unwrap();
        ForbiddenTargets { folder, listener: TcpListener::bind("127.0.0.1:0").unwrap() }
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join(".ssh/id")
    }

    fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    /// Script that probes a server's access. `pid` is the host's.
    fn attempts(&self, server: &str) -> String {
        let (key, new) = (json!(self.key()), json!(self.folder.path().join("new")));
        let port = self.port();
        format!(
            "({{
                key: await {server}.read({{ path: {key} }}),
                write: await {server}.write({{ path: {new} }}),
                connect: await {server}.connect({{ port: '{port}' }}),
                unixSocket: await {server}.unixSocket(),
                trace: await {server}.trace(),
                wake: await {server}.wake({{ pid: '' }}),
                environment: await {server}.environment({{ pid: '' }}),
            }})"
        )
    }
}

fn all_done() -> Value {
    json!({
        "key": "a key", "write": "done", "connect": "done", "unixSocket": "done", "trace": "done", "wake": "done",
        "environment": "done",
    })
}

fn all_refused() -> Value {
    json!({
        "key": "EACCES", "write": "EACCES", "connect": "EACCES", "unixSocket": "EPERM", "trace": "EPERM", "wake": "EPERM",
        "environment": environment_refused(),
    })
}

/// Linux lets who may watch performance, as root may, read the variables of other processes without asking Landlock.
fn environment_refused() -> &'static str {
    if rustix::process::geteuid().is_root() { "done" } else { "EACCES" }
}

fn shown(done: &CommandOutput) -> String {
    format!("{}\n{}", done.stdout, done.stderr)
}

/// A project with the program of the server in it.
fn project(config: Value, program: &str) -> Project {
    let project = Project::new(config);
    project.write("reaching.py", program);
    project
}

fn with_servers(servers: Value, program: &str) -> Project {
    let project = Project::with_servers(servers);
    project.write("reaching.py", program);
    project
}

fn with(mut server: Value, confine: Value) -> Value {
    server["confine"] = confine;
    server
}

#[test]
fn a_confined_server_accesses_only_its_profile() {
    let (Some(()), Some((open, program))) = (kernel_confines(), reaching()) else { return };
    let elsewhere = ForbiddenTargets::new();
    let shut = with(open.clone(), json!(true));
    let project = with_servers(json!({ "open": open, "shut": shut }), program);
    project.write("own.txt", "of the project");
    let source = script(
        &["open", "shut"],
        &format!(
            "const home = await shut.variable({{ name: 'HOME' }});
             const temporary = await shut.variable({{ name: 'TMPDIR' }});
             export default {{
                 open: {}, shut: {},
                 project: await shut.read({{ path: 'own.txt' }}),
                 overwrite: await shut.write({{ path: 'own.txt' }}),
                 kept: [await shut.write({{ path: home + '/kept' }}), await shut.read({{ path: home + '/kept' }})],
                 temporary: await shut.write({{ path: temporary + '/x' }}),
                 isOwn: home !== await open.variable({{ name: 'HOME' }}),
             }};",
            elsewhere.attempts("open"),
            elsewhere.attempts("shut")
        ),
    );
    let done = project.run(&source);
    let value = done.value();
    assert_eq!(value["open"], all_done(), "without a profile: {}", shown(&done));
    assert_eq!(value["shut"], all_refused(), "{}", shown(&done));
    // Normal service goes on.
    assert_eq!((&value["project"], &value["overwrite"]), (&json!("of the project"), &json!("EACCES")), "{value}");
    assert_eq!(value["kept"], json!(["done", "written"]), "{value}");
    assert_eq!((&value["temporary"], &value["isOwn"]), (&json!("done"), &json!(true)), "{value}");
}

#[test]
fn a_profile_grants_the_listed_access() {
    let (Some(()), Some((server, program))) = (kernel_confines(), reaching()) else { return };
    let elsewhere = ForbiddenTargets::new();
    let confine = json!({
        "write": [elsewhere.folder.path()], "network": { "connect": [elsewhere.port()] }, "unixSockets": true,
    });
    let project = with_servers(json!({ "shut": with(server, confine) }), program);
    let done = project.run(&script(&["shut"], &format!("export default {}", elsewhere.attempts("shut"))));
    let mut expected = all_done();
    for (name, error) in [("trace", "EPERM"), ("wake", "EPERM"), ("environment", environment_refused())] {
        expected[name] = error.into();
    }
    assert_eq!(done.value(), expected, "{}", shown(&done));
}

#[test]
fn a_confined_command_confines_its_children() {
    let (Some(()), Some((server, program))) = (kernel_confines(), reaching()) else { return };
    let elsewhere = ForbiddenTargets::new();
    let servers = json!({ "plain": server, "open": with(server.clone(), json!(false)) });
    let given = json!({ "global": ["mcp:plain", "mcp:open"] });
    let by_flag = project(json!({ "mcpServers": servers, "capabilities": given }), program);
    let by_config = project(json!({ "mcpServers": servers, "capabilities": given, "confine": true }), program);
    let body =
        format!("export default {{ plain: {}, open: {} }}", elsewhere.attempts("plain"), elsewhere.attempts("open"));
    let source = script(&["plain", "open"], &body);
    let done = by_flag.run_with(&source, &["--json"]);
    assert_eq!(done.value(), json!({ "plain": all_done(), "open": all_done() }), "{}", shown(&done));
    let done = by_config.run_with(&source, &["--json", "--confine=off"]);
    assert_eq!(done.value()["open"], all_done(), "{}", shown(&done));
    // A server that is to have no profile has that of the command: it cannot have more. It shares it with its supervisor.
    let mut of_the_command = all_refused();
    for name in ["connect", "wake", "environment"] {
        of_the_command[name] = "done".into();
    }
    for (project, options) in [(&by_flag, &["--json", "--confine"][..]), (&by_config, &["--json"])] {
        let done = project.run_with(&source, options);
        assert_eq!(done.value(), json!({ "plain": all_refused(), "open": of_the_command }), "{}", shown(&done));
    }
}

#[test]
fn a_confined_command_works_normally() {
    let Some(()) = kernel_confines() else { return };
    let project = Project::new(json!({
        "spaces": { "desk": { "capabilities": ["@agent-spaces/std"], "workspace": "./desk" } },
        "accounting": { "file": "./accounts/calls.jsonl" },
        "policy": "permissive",
    }));
    std::fs::create_dir(project.path("desk")).unwrap();
    let source = "import { fs } from '@agent-spaces/std';
        await fs.writeFile('note.txt', 'kept');
        export default await fs.readFile('note.txt');";
    let done = project.run_with(source, &["--space", "desk", "--json", "--confine"]);
    assert_eq!(done.value(), "kept", "{}", shown(&done));
    assert_eq!(project.read("desk/note.txt"), "kept");
    assert_eq!(project.lines("accounts/calls.jsonl").len(), 2);
    // Only the confined process reads stdin.
    let mut command = project.command(&["run", "-", "--confine"]);
    project.write("input", "40 + 2");
    command.stdin(std::fs::File::open(project.path("input")).unwrap());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "42\n", "{output:?}");
    let done = project.agent_spaces(&["run", "--confine=nonsense", "script.ts"]);
    assert_eq!(done.status, Some(2), "{done:?}");
}

#[test]
fn a_served_project_is_confined_too() {
    let (Some(()), Some((server, program))) = (kernel_confines(), reaching()) else { return };
    let elsewhere = ForbiddenTargets::new();
    let project = with_servers(json!({ "open": with(server, json!(false)) }), program);
    assert_eq!(project.agent_spaces(&["mcp", "accept", "open"]).status, Some(0));
    for (confine, expected) in [("--confine=off", "a key"), ("--confine", "EACCES")] {
        let mut served = ServeClient::new(&project, &[confine, "--mode", "proxy", "--expose", "*"]);
        let tools = served.ask("tools/list", json!({}));
        let names: Vec<&str> =
            tools["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
        let read = names.iter().find(|name| name.ends_with("read")).unwrap_or_else(|| panic!("{names:?}"));
        let answer = served.ask("tools/call", json!({ "name": read, "arguments": { "path": elsewhere.key() } }));
        assert_eq!(answer["content"][0]["text"], expected, "{answer}");
    }
}

#[test]
fn an_invalid_profile_is_refused() {
    let (Some(()), Some((server, program))) = (kernel_confines(), reaching()) else { return };
    for (path, part) in [("/", "would expose the folder of stored logins"), ("./absent", "does not exist")] {
        let project = with_servers(json!({ "shut": with(server.clone(), json!({ "read": [path] })) }), program);
        let done = project.agent_spaces(&["mcp", "tools", "shut"]);
        assert!(done.status != Some(0) && done.stderr.contains(part), "{done:?}");
    }
}

#[test]
fn a_program_outside_its_profile_is_not_started_with_an_explanation() {
    let Some(()) = kernel_confines() else { return };
    let elsewhere = ForbiddenTargets::new();
    let program = elsewhere.folder.path().join("server");
    std::fs::write(&program, format!("#!{}\n", elsewhere.folder.path().join("interpreter").display())).unwrap();
    std::fs::write(elsewhere.folder.path().join("interpreter"), "").unwrap();
    for file in ["server", "interpreter"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(elsewhere.folder.path().join(file), mode).unwrap();
    }
    let project = Project::with_servers(json!({ "shut": { "command": program, "confine": true } }));
    let done = project.agent_spaces(&["mcp", "tools", "shut"]);
    assert!(done.status != Some(0) && done.stderr.contains("`confine.read`"), "{done:?}");
}

/// A package that npx fetches, or has fetched, needs a cache: it is in the server's own home.
#[test]
fn an_npx_server_starts_confined() {
    let (Some(()), Some(())) = (kernel_confines(), node()) else { return };
    let project = Project::with_servers(json!({ "npm": { "command": "npx", "args": ["--version"], "confine": true } }));
    let done = project.agent_spaces(&["mcp", "tools", "npm", "--trace-mcp"]);
    // It prints its version, which is no message of the protocol, and ends well.
    assert!(done.stderr.contains("exit status 0"), "{done:?}");
}

#[test]
fn doctor_reports_confinement() {
    let Some((server, program)) = reaching() else { return };
    let shut = with(server.clone(), json!("best-effort"));
    let project = with_servers(json!({ "open": server, "shut": shut }), program);
    let report = project.agent_spaces(&["doctor", "--offline", "--json"]).json();
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["subject"] == "confinement").unwrap();
    assert_eq!(check["details"]["servers"], json!({ "open": "off", "shut": "best-effort" }), "{check}");
    assert_eq!(check["details"]["commands"], "off");
    assert!(check["details"]["seccomp"].is_boolean(), "{check}");
    let message = check["message"].as_str().unwrap();
    assert!(message.contains("confined servers: shut") && message.contains("unconfined servers: open"), "{message}");
}
