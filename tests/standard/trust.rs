//! Access that a configuration grants once trusted.

use crate::standard::support::{Project, Site, script};
use serde_json::{Value, json};

fn config() -> Value {
    let http = json!({ "domains": ["localhost"], "private": ["localhost"] });
    json!({ "audit": false, "spaces": { "work": { "workspace": "./files", "policy": { "http": http } } } })
}

/// Access that a script has: a file, the network, `fetch`.
fn open(project: &Project, site: &Site) -> Value {
    let body = format!(
        "const file = await attempt(() => fs.readFile('data')), page = await attempt(() => http.get({:?}));
        [file.value ?? file.message, page.value?.status ?? page.message, typeof fetch]",
        site.url("/")
    );
    project.run(&script(&body)).value()
}

#[test]
fn files_and_network_are_available_while_trusted() {
    let site = Site::echo();
    let project = Project::empty();
    project.write("files/data", "inside");
    project.configure(config());
    let closed = json!(["This space has no workspace: fs has no files", "Network access is disabled", "undefined"]);
    let wide = json!(["inside", 200, "function"]);
    assert_eq!(open(&project, &site), closed);
    assert!(site.asked().is_empty());
    project.trust();
    assert_eq!(open(&project, &site), wide);
    // Another byte, and it waits again; as it was, it is the accepted one.
    project.write("agent-spaces.config.json", format!("{}\n", config()));
    assert_eq!(open(&project, &site), closed);
    project.configure(config());
    assert_eq!(open(&project, &site), wide);
    let done = project.agent_spaces(&["trust", "--revoke"]);
    assert_eq!(done.status, Some(0), "{done:?}");
    assert_eq!(open(&project, &site), closed);
    assert_eq!(site.asked().len(), 2);
}

/// A policy that is looser than the default needs trust; a stricter one applies at once.
#[test]
fn an_untrusted_configuration_can_only_tighten() {
    let project = Project::empty();
    project.configure(json!({ "spaces": { "work": { "policy": { "functions": { "json.parse": "deny" } } } } }));
    let done = project.run("import { json } from '@agent-spaces/std'; export default json.parse('1');");
    assert_eq!((done.error().0.as_str(), done.status), ("call.denied", Some(4)));
}

#[test]
fn only_a_trusted_configuration_disables_the_audit_log() {
    let project = Project::empty();
    project.configure(json!({ "audit": false, "spaces": { "work": {} } }));
    let log = project.home("state/agent-spaces/audit/log.jsonl");
    let lines = || std::fs::read_to_string(&log).unwrap_or_default().lines().count();
    assert_eq!(project.run("1").value(), 1);
    assert_eq!(lines(), 2, "it cannot switch the log off yet");
    project.trust();
    assert_eq!(project.run("1").value(), 1);
    assert_eq!(lines(), 2, "nothing is written once it is accepted");
    project.configure(json!({ "audit": false, "spaces": { "work": {}, "more": {} } }));
    assert_eq!(project.run("1").value(), 1);
    assert_eq!(lines(), 4, "it changed");
}

/// A workspace on the command line is the user's own word, and needs no file to be accepted.
#[test]
fn a_workspace_on_the_command_line_needs_no_trust() {
    let _site = Site::echo();
    let project = Project::empty();
    project.configure(config());
    project.write("own/data", "of the user");
    let source = "import { fs } from '@agent-spaces/std'; export default await fs.readFile('data');";
    let done = project.run_with(source, &["--space", "work", "--workspace", "own", "--json"]);
    assert_eq!(done.value(), "of the user");
}
