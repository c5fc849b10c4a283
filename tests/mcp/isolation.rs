//! Isolation between spaces.

use crate::mcp::support::{Project, hostile, published, script};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn two_spaces(servers: &Value) -> Project {
    let given: Vec<String> = servers.as_object().unwrap().keys().map(|name| format!("mcp:{name}")).collect();
    Project::new(json!({
        "mcpServers": servers,
        "spaces": { "north": { "capabilities": given }, "south": { "capabilities": given } },
    }))
}

fn run_in(project: &Project, space: &str, source: &str) -> Value {
    project.run_with(source, &["--space", space, "--json"]).value()
}

/// Two spaces with a server that remembers do not share what it remembers.
#[test]
fn two_spaces_do_not_share_server_state() {
    let Some(servers) = published() else { return };
    let memory = json!({ "memory": {
        "command": servers.join("node_modules/.bin/mcp-server-memory"),
        "env": { "MEMORY_FILE_PATH": "${SPACE_DIR}/memory.jsonl" },
    } });
    let project = two_spaces(&memory);
    let remember = |name: &str| {
        let entity = format!("{{ name: '{name}', entityType: 'person', observations: [] }}");
        script(&["memory"], &format!("export default await memory.createEntities({{ entities: [{entity}] }});"))
    };
    let recall = script(&["memory"], "export default (await memory.readGraph()).entities.map(({ name }) => name);");
    run_in(&project, "north", &remember("Ann"));
    assert_eq!(run_in(&project, "south", &recall), json!([]));
    run_in(&project, "south", &remember("Bob"));
    assert_eq!(run_in(&project, "north", &recall), json!(["Ann"]), "it remembers from run to run");
    assert_eq!(run_in(&project, "south", &recall), json!(["Bob"]));
}

/// `SPACE_DIR` is a folder for one server in one space, and for its user alone.
#[test]
fn each_space_has_its_own_folder_per_server() {
    let Some(mut server) = hostile(&[]) else { return };
    server["env"]["DATA"] = "${SPACE_DIR}".into();
    server["public"] = json!(["DATA"]);
    let project = two_spaces(&json!({ "one": server, "two": server }));
    let source =
        script(&["one", "two"], "export default [await one.env({ name: 'DATA' }), await two.env({ name: 'DATA' })];");
    let mut folders = Vec::new();
    for space in ["north", "south"] {
        for folder in run_in(&project, space, &source).as_array().unwrap() {
            folders.push(serde_json::from_str::<String>(folder.as_str().unwrap()).unwrap());
        }
    }
    let mut different = folders.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 4, "{folders:?}");
    for folder in folders {
        let mode = std::fs::metadata(&folder).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{folder}");
    }
}
