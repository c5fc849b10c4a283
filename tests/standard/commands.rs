//! Programs named by definitions: started only once trusted.

use crate::standard::support::{CommandOutput, Project};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// First command of the program, if it is ever started. Its token is redacted from its answer.
const STARTED: &str = "capabilities/started";

const FILE: &str = "capabilities/tools.json";

fn definition() -> Value {
    let text = json!({ "type": "string" });
    let parameters = json!({ "type": "object", "properties": { "text": text, "mode": text } });
    json!({ "name": "tools", "functions": [
        { "name": "say", "parameters": parameters, "returns": { "type": "string" },
            "command": { "program": "./say.sh", "args": ["{{text}}"], "output": "text", "env": ["TOOL_TOKEN"] } },
        { "name": "act", "parameters": parameters,
            "command": { "program": "./act.sh", "args": ["{{mode}}"], "stdin": "params", "timeout": "2s",
                "exitCodes": { "9": { "message": "the tool is busy", "retryable": true } } } },
    ] })
}

const SAY: &str = "touch started; echo \"$1 with ${TOOL_TOKEN:-no token}\"";

const ACT: &str = "case \"$1\" in
    echo) cat;; fail) echo \"no luck with $TOOL_TOKEN\" >&2; exit 3;; busy) exit 9;; text) echo no json;;
    slow) sleep 1000;; flood) yes;; die) kill -9 $$;;
esac";

/// Untrusted folder.
fn untrusted_project() -> Project {
    let project = Project::empty();
    project.configure(json!({
        "audit": false,
        "capabilities": { "global": ["./capabilities/tools.json"] },
        "providers": { "@capabilities/tools": { "env": { "TOOL_TOKEN": "token-of-the-tool" } } },
    }));
    project.write(FILE, definition().to_string());
    program(&project, "say.sh", SAY);
    program(&project, "act.sh", ACT);
    project
}

fn program(project: &Project, name: &str, script: &str) {
    let name = format!("capabilities/{name}");
    project.write(&name, format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(project.path(&name), fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(project: &Project, body: &str) -> CommandOutput {
    let source = format!(
        "import {{ tools }} from '@capabilities/tools';
        const attempt = async (work) => {{
            try {{ return {{ value: await work() }}; }}
            catch (error) {{
                const {{ code, message, details = null, retryable = false }} = error;
                return {{ code, message, details, retryable }};
            }}
        }};
        {body}"
    );
    project.run_with(&source, &["--json"])
}

fn say(project: &Project) -> CommandOutput {
    run(project, "export default await attempt(() => tools.say({ text: 'hello' }))")
}

/// Every command that could have a reason to look at a definition.
const COMMANDS: [&[&str]; 9] = [
    &["run", "script.ts"],
    &["run", "script.ts", "--capabilities", "capabilities"],
    &["manifest", "script.ts"],
    &["compile", "script.ts", "-o", "out.wasm"],
    &["capabilities", "build"],
    &["capabilities", "list"],
    &["capabilities", "show", "tools"],
    &["policy", "explain", "tools.say"],
    &["trust", "--list"],
];

#[track_caller]
fn assert_starts_nothing(project: &Project, what: &str) {
    let done = say(project);
    assert_eq!(done.value()["code"], "call.denied", "{what}: {done:?}");
    assert!(!done.stdout.contains("agent-spaces trust"), "that is the operator's: {done:?}");
    assert!(done.stderr.contains(&format!("agent-spaces trust {}", shown(project))), "{what}: {done:?}");
    for command in COMMANDS {
        let done = project.agent_spaces(command);
        assert!(!project.path(STARTED).exists(), "{what}: {command:?} started it: {done:?}");
    }
}

/// The file as messages name it.
fn shown(project: &Project) -> String {
    let done = project.agent_spaces(&["capabilities", "list", "--json"]);
    let listed = done.json();
    let first = listed["capabilities"].as_object().and_then(|all| all.values().next());
    first.and_then(|entry| entry["file"].as_str()).unwrap_or(FILE).to_owned()
}

#[track_caller]
fn assert_works(project: &Project, expected: &str) {
    let done = say(project);
    assert_eq!(done.value(), json!({ "value": expected }), "{done:?}");
    fs::remove_file(project.path(STARTED)).unwrap();
}

#[test]
fn a_definition_starts_nothing_until_trusted_or_after_a_change() {
    let project = untrusted_project();
    assert_starts_nothing(&project, "as it came");
    // The configuration alone is not enough.
    assert_eq!(project.agent_spaces(&["trust", "agent-spaces.config.json"]).status, Some(0));
    assert_starts_nothing(&project, "with an accepted configuration");
    let accepted = project.agent_spaces(&["trust", FILE]);
    assert_eq!(accepted.status, Some(0), "{accepted:?}");
    assert!(accepted.stderr.contains("tools.say: runs ./say.sh {{text}} (reads TOOL_TOKEN)"), "{accepted:?}");
    assert_works(&project, "hello with [redacted]");
    let mut changed = definition();
    changed["functions"][0]["command"]["args"][0] = "{{text}}!".into();
    project.write(FILE, changed.to_string());
    assert_starts_nothing(&project, "changed");
    project.write(FILE, definition().to_string());
    assert_works(&project, "hello with [redacted]");
    assert_eq!(project.agent_spaces(&["trust", "--revoke", FILE]).status, Some(0));
    assert_starts_nothing(&project, "no longer accepted");
}

#[test]
fn a_folder_is_trusted_as_a_whole() {
    let project = untrusted_project();
    let accepted = project.agent_spaces(&["trust"]);
    assert!(
        accepted.stdout.contains("agent-spaces.config.json") && accepted.stdout.contains("tools.json"),
        "{accepted:?}"
    );
    assert!(accepted.stderr.contains("tools.act: runs ./act.sh {{mode}}"), "{accepted:?}");
    assert_works(&project, "hello with [redacted]");
    assert_eq!(project.agent_spaces(&["trust", "--revoke"]).status, Some(0));
    assert_starts_nothing(&project, "no longer accepted");
}

#[test]
fn without_a_configuration_the_definitions_folder_is_trusted() {
    let project = untrusted_project();
    fs::remove_file(project.path("agent-spaces.config.json")).unwrap();
    assert_eq!(say(&project).value()["code"], "call.denied");
    let accepted = project.agent_spaces(&["trust"]);
    assert!(accepted.stdout.contains("tools.json"), "{accepted:?}");
    // Without the configuration no token is passed.
    assert_works(&project, "hello with no token");
}

/// A file that was accepted in one place starts nothing of another.
#[test]
fn a_symlink_to_a_trusted_definition_starts_the_trusted_program() {
    let (accepted, other) = (untrusted_project(), untrusted_project());
    let file = accepted.path(FILE).display().to_string();
    assert_eq!(other.agent_spaces(&["trust", &file]).status, Some(0));
    program(&other, "say.sh", "touch started; echo evil");
    fs::remove_file(other.path(FILE)).unwrap();
    std::os::unix::fs::symlink(accepted.path(FILE), other.path(FILE)).unwrap();
    let done = say(&other);
    assert!(!other.path(STARTED).exists(), "{done:?}");
    // The other folder's configuration is not accepted, so that there is no token.
    assert_eq!(done.value(), json!({ "value": "hello with no token" }), "{done:?}");
    assert!(accepted.path(STARTED).exists());
}

#[test]
fn program_failures_are_reported_exactly() {
    let project = untrusted_project();
    project.trust();
    let body = "const act = (mode) => attempt(() => tools.act({ mode, text: '$(touch pwned)' }));
        const modes = ['echo', 'fail', 'busy', 'text', 'slow', 'flood', 'die', '--help'];
        export default await Promise.all(modes.map(act));";
    let done = run(&project, body);
    let answers = done.value();
    assert_eq!(answers[0], json!({ "value": { "mode": "echo", "text": "$(touch pwned)" } }));
    let codes: Vec<&str> =
        answers.as_array().unwrap()[1..].iter().map(|answer| answer["code"].as_str().unwrap()).collect();
    assert_eq!(
        codes,
        ["call.failed", "call.failed", "call.protocol", "call.timeout", "call.protocol", "call.failed", "call.invalid"]
    );
    assert_eq!(answers[1]["details"]["exitCode"], 3);
    assert!(answers[1]["details"]["stderr"].as_str().unwrap().starts_with("no luck with"), "{}", answers[1]);
    assert_eq!((&answers[2]["message"], &answers[2]["retryable"]), (&json!("the tool is busy"), &json!(true)));
    assert_eq!(answers[4]["details"]["afterMs"], 2000);
    assert_eq!(answers[6]["details"]["exitCode"], 137);
    assert!(!done.stdout.contains("token-of-the-tool") && !done.stderr.contains("token-of-the-tool"), "{done:?}");
    assert!(!project.path("capabilities/pwned").exists());
}

#[test]
fn a_missing_program_is_unavailable_and_the_operator_learns_why() {
    let project = untrusted_project();
    project.trust();
    fs::remove_file(project.path("capabilities/say.sh")).unwrap();
    let done = say(&project);
    assert_eq!(done.value()["code"], "call.unavailable");
    assert!(!done.stdout.contains("say.sh") && done.stderr.contains("no such file"), "{done:?}");
}

#[test]
fn a_manifest_lists_started_programs() {
    let project = untrusted_project();
    project.write("script.ts", "import { tools } from '@capabilities/tools'; export default await tools.say({});");
    let manifest = project.agent_spaces(&["manifest", "script.ts", "--json"]).json().to_string();
    assert!(manifest.contains("\"kind\":\"command\""), "{manifest}");
    assert!(manifest.contains("starts ./say.sh {{text}} for each call"), "{manifest}");
}

/// A script that can write its program can do what it likes.
#[test]
fn a_workspace_cannot_contain_a_program() {
    let project = untrusted_project();
    let mut changed = definition();
    changed["functions"][0]["command"]["program"] = "../files/say.sh".into();
    project.write(FILE, changed.to_string());
    project.write("files/say.sh", "");
    project.trust();
    project.write("script.ts", "export default 1;");
    let refused = project.agent_spaces(&["run", "script.ts", "--workspace", "files", "--json"]);
    assert!(refused.stdout.contains("overlap"), "{refused:?}");
}
