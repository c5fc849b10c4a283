//! Trust: files of a project start nothing until their user accepts them.

use crate::mcp::support::{Project, hostile, script};
use serde_json::{Value, json};

/// First command of the server, if it is ever started.
const STARTED: &str = "started";

/// A server that leaves a mark as soon as it is started, and works.
fn marking() -> Option<Value> {
    let server = hostile(&[])?;
    let mut words = vec![server["command"].as_str().unwrap().to_owned()];
    words.extend(server["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_owned()));
    let line = format!("touch {STARTED}; exec '{}'", words.join("' '"));
    Some(json!({ "command": "sh", "args": ["-c", line] }))
}

/// Every command that could have a reason to look at a server.
const COMMANDS: [&[&str]; 18] = [
    &["run", "script.ts"],
    &["run", "script.ts", "--json"],
    &["run", "script.ts", "--events", "--trace-mcp"],
    &["run", "plain.ts"],
    &["compile", "script.ts", "-o", "out.wasm"],
    &["mcp", "list"],
    &["mcp", "list", "--check"],
    &["mcp", "tools", "evil"],
    &["mcp", "ping"],
    &["mcp", "ping", "evil", "--json"],
    &["mcp", "call", "evil", "echo", "{}"],
    &["mcp", "accept"],
    &["mcp", "accept", "evil"],
    &["audit", "--diff"],
    &["capabilities", "build"],
    &["capabilities", "list"],
    &["capabilities", "show", "mcp-evil"],
    &["spaces", "list"],
];

fn assert_starts_nothing(project: &Project, what: &str) {
    for command in COMMANDS {
        let done = project.agent_spaces(command);
        assert!(!project.path(STARTED).exists(), "{what}: {command:?} started it: {done:?}");
    }
    let refused = project.agent_spaces(&["run", "script.ts", "--json"]);
    assert_ne!(refused.status, Some(0), "{what}: {refused:?}");
    let listed = project.agent_spaces(&["mcp", "list", "--json"]).json();
    assert_eq!(listed[0]["state"], "inert", "{what}: {listed}");
    assert!(listed[0]["detail"].as_str().unwrap().contains("agent-spaces trust"), "{what}: {listed}");
}

fn assert_works(project: &Project, what: &str) {
    let done = project.agent_spaces(&["run", "script.ts", "--json"]);
    assert_eq!(done.value(), json!({ "message": "trusted" }), "{what}");
    std::fs::remove_file(project.path(STARTED)).unwrap();
}

/// Untrusted folder: a script, and one file that configures a server.
fn untrusted_project(file: &str, config: &Value) -> Project {
    let project = Project::empty();
    let source = script(&["evil"], "export default await evil.echo({ message: 'trusted' });");
    project.write("script.ts", &source);
    project.write("plain.ts", "export default 1;");
    if let Some(folder) = project.path(file).parent() {
        std::fs::create_dir_all(folder).unwrap();
    }
    project.write(file, &config.to_string());
    project
}

fn inert_then_accepted_then_inert(file: &str, make: impl Fn(&Project, Value) -> Value) {
    let Some(server) = marking() else { return };
    let project = untrusted_project(file, &json!({}));
    let mut servers = json!({ "evil": server });
    project.mark(&mut servers);
    let mut config = make(&project, servers);
    project.write(file, &config.to_string());
    assert_starts_nothing(&project, "as it came");
    project.trust();
    assert_works(&project, "accepted");
    assert!(project.path("capabilities.lock").is_file());
    // Its tools are known from here on, which must not help it.
    config["$schema"] = "changed".into();
    project.write(file, &config.to_string());
    assert_starts_nothing(&project, "changed");
    project.trust();
    assert_works(&project, "accepted again");
    let revoked = project.agent_spaces(&["trust", "--revoke", file]);
    assert_eq!(revoked.status, Some(0), "{revoked:?}");
    assert_starts_nothing(&project, "no longer accepted");
}

#[test]
fn a_claude_code_project_file_is_inert_until_trusted() {
    inert_then_accepted_then_inert(".mcp.json", |_, servers| json!({ "mcpServers": servers }));
}

#[test]
fn a_configuration_is_inert_until_trusted() {
    inert_then_accepted_then_inert(
        "agent-spaces.config.json",
        |_, servers| json!({ "mcpServers": servers, "capabilities": { "global": ["mcp:evil"] } }),
    );
}

/// A lock file in an untrusted folder makes tools known, but starts nothing.
#[test]
fn a_foreign_lock_file_does_not_grant_trust() {
    let Some(server) = marking() else { return };
    let config = json!({ "mcpServers": { "evil": server }, "capabilities": { "global": ["mcp:evil"] } });
    let author = untrusted_project("agent-spaces.config.json", &config);
    author.trust();
    assert_works(&author, "at its author's");
    let victim = untrusted_project("agent-spaces.config.json", &config);
    victim.write("capabilities.lock", &author.read("capabilities.lock"));
    assert_starts_nothing(&victim, "with a lock");
    let done = victim.agent_spaces(&["run", "script.ts", "--json"]);
    assert!(done.stdout.contains("call.denied") || done.stdout.contains("import.denied"), "{done:?}");
}

/// Files of editors, programs that print tokens, and files that a configuration names are no way around it.
#[test]
fn other_ways_to_start_programs_are_inert_too() {
    let Some(server) = marking() else { return };
    let token = json!({ "type": "bearer", "command": ["touch", STARTED] });
    let remote = json!({ "url": "http://127.0.0.1:9/mcp", "auth": token });
    let given = json!({ "global": ["mcp:evil"] });
    for (file, config) in [
        (".cursor/mcp.json", json!({ "mcpServers": { "evil": server } })),
        (".vscode/mcp.json", json!({ "servers": { "evil": server } })),
        (".ai-agent.json", json!({ "providers": {}, "mcpServers": { "evil": server } })),
        ("agent-spaces.config.json", json!({ "mcpServers": { "evil": remote }, "capabilities": given })),
        ("agent-spaces.config.json", json!({ "mcpServersFrom": ["./servers.json"], "capabilities": given })),
    ] {
        let project = untrusted_project(file, &config);
        project.write("servers.json", &json!({ "mcpServers": { "evil": server } }).to_string());
        assert_starts_nothing(&project, &format!("{file}: {config}"));
    }
}

/// A file that an accepted configuration names is accepted by itself, and again after each change.
#[test]
fn a_referenced_file_needs_its_own_trust() {
    let Some(server) = marking() else { return };
    let config = json!({ "mcpServersFrom": ["./servers.json"], "capabilities": { "global": ["mcp:evil"] } });
    let project = untrusted_project("agent-spaces.config.json", &config);
    let mut named = json!({ "mcpServers": { "evil": server } });
    project.mark(&mut named["mcpServers"]);
    project.write("servers.json", &named.to_string());
    project.trust();
    assert_starts_nothing(&project, "the configuration alone is accepted");
    let accept = || assert_eq!(project.agent_spaces(&["trust", "servers.json"]).status, Some(0));
    accept();
    assert_works(&project, "both are accepted");
    named["changed"] = true.into();
    project.write("servers.json", &named.to_string());
    assert_starts_nothing(&project, "the named file changed");
    accept();
    assert_works(&project, "accepted again");
}

/// Trust of one folder must not start programs of another.
#[test]
fn a_symlink_to_a_trusted_file_starts_nothing() {
    let Some(server) = marking() else { return };
    let author = untrusted_project(".mcp.json", &json!({ "mcpServers": { "evil": server } }));
    author.trust();
    assert_works(&author, "at its author's");
    let victim = untrusted_project("plain.ts", &json!(1));
    std::os::unix::fs::symlink(author.path(".mcp.json"), victim.path(".mcp.json")).unwrap();
    victim.write("capabilities.lock", &author.read("capabilities.lock"));
    for command in COMMANDS {
        let done = victim.agent_spaces(command);
        let is_started = victim.path(STARTED).exists() || author.path(STARTED).exists();
        assert!(!is_started, "{command:?} started it: {done:?}");
    }
    let listed = victim.agent_spaces(&["mcp", "list", "--json"]);
    assert_eq!(listed.json(), json!([]), "{listed:?}");
    assert!(listed.stderr.contains("is a symbolic link and is not read"), "{listed:?}");
}

/// A configuration that was not accepted writes nothing where it likes, and reads no variable.
#[test]
fn an_untrusted_configuration_creates_no_file() {
    let Some(server) = marking() else { return };
    // Beside the project's folder, and of this test alone.
    let outside = tempfile::tempdir().unwrap();
    let name = outside.path().file_name().unwrap().display();
    let config = json!({
        "mcpServers": { "evil": server }, "capabilities": { "global": ["mcp:evil"] },
        "accounting": { "file": format!("../{name}/made/accounting.jsonl") },
    });
    let project = untrusted_project("agent-spaces.config.json", &config);
    let made = outside.path().join("made");
    for command in COMMANDS {
        let _ = project.agent_spaces(command);
        assert!(!made.exists(), "{command:?} made {}", made.display());
    }
    project.trust();
    assert_works(&project, "accepted");
    assert!(made.join("accounting.jsonl").is_file(), "only acceptance was missing");
}
