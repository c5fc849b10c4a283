//! Type check of programs before they run.
//!
//! `AGENT_SPACES_TSC` is the path of TypeScript's `tsc.js`.

use crate::mcp::support::{Project, eventually, hostile, hostile_logging};
use crate::serve::agent::{Agent, text};
use serde_json::{Value, json};
use std::time::Duration;

/// A program that would call before it fails.
const WRONG: &str = "import { odd } from '@capabilities/mcp-odd';
await odd.echo({ message: 'first' });
export default await odd.echo({ message: 7 });";

fn project(code_mode: Value) -> Option<Project> {
    let server = hostile_logging(&[])?;
    let project = Project::new(json!({
        "mcpServers": { "odd": server },
        "capabilities": { "global": ["mcp:odd"] },
        "codeMode": code_mode,
    }));
    Agent::of(&project, &[]).search("echo");
    Some(project)
}

fn calls(project: &Project) -> usize {
    project.lines("log.jsonl").iter().filter(|line| line.to_string().contains("tools/call")).count()
}

fn compiler() -> Option<String> {
    let found = std::env::var("AGENT_SPACES_TSC").ok();
    if found.is_none() {
        let text = "skipped: AGENT_SPACES_TSC names no TypeScript compiler";
        assert!(std::env::var_os("AGENT_SPACES_CI").is_none_or(|value| value != "1"), "{text}");
        println!("{text}");
    }
    found
}

#[test]
fn a_type_error_is_found_before_any_call() {
    let Some(compiler) = compiler() else { return };
    let Some(project) = project(json!({ "typescript": compiler })) else { return };
    let mut agent = Agent::of(&project, &[]);
    let result = agent.run(WRONG);
    assert_eq!(result["isError"], true, "{result}");
    assert!(
        text(&result).contains("program.ts:3:") && text(&result).contains("'number' is not assignable"),
        "{result}"
    );
    assert!(text(&result).contains("> 3 | "), "{result}");
    assert_eq!(result["structuredContent"]["diagnostics"][0]["line"], 3, "{result}");
    assert_eq!(calls(&project), 0);
    let right = agent.run(&WRONG.replace('7', "'7'"));
    assert_eq!(right["isError"], false, "{right}");
}

/// Type errors in a program's own values do not refuse it.
#[test]
fn other_type_errors_are_warnings_beside_the_result() {
    let Some(compiler) = compiler() else { return };
    let Some(project) = project(json!({ "typescript": compiler })) else { return };
    let mut agent = Agent::of(&project, &[]);
    let result = agent.run("const name: string = 7;\nawait new Promise((r) => setTimeout(r, 1));\nexport default name");
    assert_eq!(result["structuredContent"]["value"], 7, "{result}");
    assert!(text(&result).contains("warnings:\nprogram.ts:1:7 TS2322"), "{result}");
    assert!(result["structuredContent"]["warnings"].as_str().unwrap().contains("TS2322"), "{result}");
    // Only the first few of many warnings are listed.
    let many = "let n: number;\n".to_owned() + &"n = 'x';\n".repeat(40) + "export default 1";
    let result = agent.run(&many);
    assert_eq!(result["structuredContent"]["value"], 1, "{result}");
    assert!(text(&result).contains("… and 30 more"), "{result}");
}

#[test]
fn in_warn_mode_the_program_runs() {
    let Some(compiler) = compiler() else { return };
    let Some(project) = project(json!({ "typescript": compiler, "typeCheck": "warn" })) else { return };
    let mut agent = Agent::of(&project, &[]);
    let result =
        agent.run("import { odd } from '@capabilities/mcp-odd';\nif (!1) await odd.ecko({});\nexport default 7");
    assert_eq!(result["structuredContent"]["value"], 7, "{result}");
    assert!(text(&result).contains("program.ts:2:19 TS2339"), "{result}");
}

#[test]
fn without_a_compiler_names_are_checked() {
    let Some(project) = project(json!({ "typescript": "there-is-none" })) else { return };
    let mut agent = Agent::of(&project, &[]);
    let code = "import { odd } from '@capabilities/mcp-odd';\nawait odd.echo({});\nexport default await odd.ecko({})";
    let result = agent.run(code);
    assert_eq!(result["isError"], true, "{result}");
    assert!(text(&result).contains("program.ts:3:") && text(&result).contains("`echo`"), "{result}");
    // The compiler's path is for the operator only.
    assert!(!result.to_string().contains("there-is-none"), "{result}");
    assert_eq!(calls(&project), 0);
}

/// A compiler of our own, as a script for a shell.
fn fake(folder: &tempfile::TempDir, script: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let file = folder.path().join("fake-tsc");
    std::fs::write(&file, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    file.to_str().unwrap().to_owned()
}

#[test]
fn a_client_is_notified_of_the_type_check() {
    let folder = tempfile::tempdir().unwrap();
    let compiler = fake(&folder, "sleep 1");
    let project = Project::new(json!({ "codeMode": { "typescript": compiler } }));
    let mut agent = Agent::of(&project, &[]);
    let arguments = json!({ "code": "export default 1 + 1" });
    let params = json!({ "name": "run_code", "arguments": arguments, "_meta": { "progressToken": 7 } });
    let answer = agent.ask("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"]["value"], 2, "{answer}");
    assert_eq!(agent.notifications[0]["params"]["message"], "checking types", "{:?}", agent.notifications);
}

#[test]
fn the_compiler_lookup_is_cached_for_the_servers_lifetime() {
    let Some(server) = hostile(&["--more", "flags"]) else { return };
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    // An unusable compiler is not started again.
    let script = format!("echo x >> '{}'; echo 'error TS5023: Unknown compiler option.'; exit 1", starts.display());
    let project = Project::empty();
    project.write("flags", "--exit-at-start");
    project.configure(json!({
        "mcpServers": { "odd": server }, "capabilities": { "global": ["mcp:odd"] },
        "codeMode": { "typescript": fake(&folder, &script) },
    }));
    project.trust();
    let mut agent = Agent::of(&project, &[]);
    assert_eq!(agent.run("export default 1")["structuredContent"]["value"], 1);
    std::fs::remove_file(project.path("flags")).unwrap();
    // The list of functions changes.
    let is_there = eventually(Duration::from_secs(30), || {
        std::thread::sleep(Duration::from_millis(500));
        agent.search("echo").contains("odd.echo(")
    });
    assert!(is_there);
    assert_eq!(agent.run("export default 2")["structuredContent"]["value"], 2);
    assert_eq!(std::fs::read_to_string(starts).unwrap(), "x\n");
}
