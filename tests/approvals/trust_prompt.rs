//! Trust prompt at the terminal for files of a project.

use crate::approvals::support::{Home, TerminalUser};
use serde_json::json;

const QUESTION: &str = "Accept this file with all its contents? [y/N]";

/// A project with a configuration that opens something and a definition that names a program, neither accepted.
fn untrusted_project() -> Home {
    let home = Home::new();
    let tool = json!({ "name": "tools", "functions": [{
        "name": "say", "description": "Says it", "parameters": { "text": { "type": "string" } },
        "command": {
            "program": "sh", "args": ["-c", "cat; echo $GREETING"], "stdin": { "text": "hello {{text}} " },
            "output": "text", "env": ["GREETING"],
        },
    }] });
    home.write("tools.json", &tool.to_string());
    let config = json!({
        "capabilities": { "global": ["./tools.json"] },
        "providers": { "@capabilities/tools": { "env": { "GREETING": "friend" }, "public": ["GREETING"] } },
    });
    home.write("agent-spaces.config.json", &config.to_string());
    home
}

const SCRIPT: &str = "import { tools } from '@capabilities/tools';
    export default await tools.say({ text: 'dear' }).catch((error) => error.code);";

#[test]
fn trusting_shows_what_files_want_and_takes_effect_at_once() {
    let home = untrusted_project();
    let person = TerminalUser::starts(&home, SCRIPT, &[]);
    person.waits_for(QUESTION, 1);
    person.types("y\n");
    person.waits_for(QUESTION, 2);
    person.types("y\n");
    let (status, shown) = person.ends();
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("agent-spaces.config.json wants to grant:"), "{shown}");
    assert!(shown.contains("@capabilities/tools: sets GREETING"), "{shown}");
    assert!(shown.contains("tools.json wants to start:"), "{shown}");
    let program = r#"tools.say: runs sh -c "cat; echo $GREETING", which reads "hello {{text}} " (reads GREETING)"#;
    assert!(shown.replace("\r\n", "").contains(program), "{shown}");
    assert!(shown.contains("hello dear friend"), "{shown}");
    assert_eq!(home.run(SCRIPT, &[]).value(), "hello dear friend", "it stays accepted");
}

#[test]
fn untrusted_files_have_no_effect() {
    let home = untrusted_project();
    let person = TerminalUser::starts(&home, SCRIPT, &[]);
    person.waits_for(QUESTION, 1);
    person.types("n\n");
    person.waits_for(QUESTION, 2);
    person.types("\n");
    let (status, shown) = person.ends();
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("call.denied") && !shown.contains("hello dear"), "{shown}");
    assert!(shown.contains("agent-spaces.config.json is not accepted"), "{shown}");
}

#[test]
fn trust_can_be_revoked_for_unreadable_files() {
    let home = untrusted_project();
    assert_eq!(home.finish(&["trust"]).status, Some(0));
    assert_eq!(home.run(SCRIPT, &[]).value(), "hello dear friend");
    let tool = std::fs::read_to_string(home.project("tools.json")).unwrap();
    home.write("tools.json", "{");
    let done = home.finish(&["trust", "--revoke"]);
    assert_eq!(done.status, Some(0), "{done:?}");
    assert!(done.stdout.contains("tools.json  no longer accepted"), "{done:?}");
    home.write("tools.json", &tool);
    assert_eq!(home.finish(&["trust", "agent-spaces.config.json"]).status, Some(0));
    assert_eq!(home.run(SCRIPT, &[]).value(), "call.denied");
}
