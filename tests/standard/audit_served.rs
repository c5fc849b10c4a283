//! Calls of an agent while the audit log cannot be written.

use crate::serve::agent::{Agent, SESSIONS};
use crate::standard::support::Project;
use serde_json::{Value, json};
use std::fs::File;

/// A project with a space whose scripts write files.
fn project(audit: Value) -> Project {
    let space = json!({ "workspace": "./files", "policy": "permissive" });
    Project::new(json!({ "audit": audit, "spaces": { "work": space } }))
}

/// Writes a file; returns `done` or the error code.
fn write(agent: &mut Agent, name: &str) -> Value {
    let result = agent.run(&format!(
        "import {{ fs }} from '@agent-spaces/std';
        let said: string = 'done';
        try {{ await fs.writeFile('{name}', 'x'); }} catch (error: any) {{ said = error.code; }}
        export default said;"
    ));
    result["structuredContent"]["value"].clone()
}

fn lock_log(project: &Project) -> File {
    let lock = File::open(project.home("data/agent-spaces/audit/lock")).unwrap();
    lock.lock().unwrap();
    lock
}

#[test]
fn calls_are_refused_while_they_cannot_be_logged() {
    let project = project(json!(true));
    let mut agent = Agent::start(project.command(&["mcp", "serve", "--space", "work"]), SESSIONS, None);
    assert_eq!(write(&mut agent, "before"), "done");
    let lock = lock_log(&project);
    assert_eq!(write(&mut agent, "meanwhile"), "call.audit_unavailable");
    assert!(!project.path("files/meanwhile").exists());
    drop(lock);
    assert_eq!(write(&mut agent, "after"), "done");
    assert!(project.path("files/before").exists() && project.path("files/after").exists());
    assert_eq!(agent.disconnect(), Some(0));
    let done = project.agent_spaces(&["audit", "verify", "--json"]);
    assert_eq!((done.status, &done.json()["entries"]), (Some(0), &json!(12)), "what waited was written: {done:?}");
}

#[test]
fn best_effort_logging_lets_calls_proceed() {
    let project = project(json!("bestEffort"));
    let mut agent = Agent::start(project.command(&["mcp", "serve", "--space", "work"]), SESSIONS, None);
    assert_eq!(write(&mut agent, "before"), "done");
    let lock = lock_log(&project);
    assert_eq!(write(&mut agent, "meanwhile"), "done");
    assert!(project.path("files/meanwhile").exists());
    drop(lock);
    assert_eq!(agent.disconnect(), Some(0));
    let done = project.agent_spaces(&["audit", "verify", "--json"]);
    assert_eq!((done.status, &done.json()["entries"]), (Some(0), &json!(8)), "{done:?}");
}
