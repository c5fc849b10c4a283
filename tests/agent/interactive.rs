//! Interactive mode: lines are edited, and kept for the next session.

use super::model_server::{ModelServer, Reply};
use super::project::Project;
use super::terminal::Terminal;
use serde_json::json;
use std::os::unix::fs::PermissionsExt as _;

const LEFT: &str = "\x1b[D";
const UP: &str = "\x1b[A";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

/// Returns the last question of a request.
fn asked(server: &ModelServer, request: usize) -> String {
    let requests = server.requests();
    requests[request].body["messages"].as_array().unwrap().last().unwrap()["content"].to_string()
}

#[test]
fn lines_are_edited_and_kept_for_the_next_session() {
    let server = ModelServer::new((0..4).map(|_| Reply::Text(vec!["Answered."])).collect());
    let project = Project::with(&server, json!({ "tools": "off" }));
    let mut terminal = Terminal::start(&project, &["agent", "helper"]);
    terminal.types(&format!("Say helo{LEFT}l\r"));
    terminal.types(&format!("discarded{CTRL_C}"));
    terminal.types("Second question\r");
    terminal.types(" Hidden question\r");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), Some(0));
    assert!(asked(&server, 0).contains("Say hello"), "{}", asked(&server, 0));
    assert!(asked(&server, 1).contains("Second question"), "{}", asked(&server, 1));
    assert!(!asked(&server, 1).contains("discarded"), "{}", asked(&server, 1));
    assert!(asked(&server, 2).contains("Hidden question"), "{}", asked(&server, 2));

    let file = project.state().join("agent-history");
    let kept = std::fs::read_to_string(&file).unwrap();
    assert_eq!(kept, "#V2\nSay hello\nSecond question\n");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);

    let mut terminal = Terminal::start(&project, &["agent", "helper"]);
    terminal.types(&format!("{UP}\r"));
    terminal.types("/history\r");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), Some(0));
    assert!(asked(&server, 3).contains("Second question"), "{}", asked(&server, 3));
    terminal.shows("   1  Say hello");
}

#[test]
fn a_signal_at_the_prompt_leaves_the_terminal_as_it_was() {
    let server = ModelServer::new(Vec::new());
    let project = Project::with(&server, json!({ "tools": "off" }));
    let mut terminal = Terminal::start(&project, &["agent", "helper", "--no-session"]);
    terminal.types("half a line");
    terminal.shows("half a line");
    assert!(!terminal.is_cooked(), "the line editor reads keys");
    let killed = std::process::Command::new("kill").arg(terminal.pid().to_string()).status().unwrap();
    assert!(killed.success());
    assert_eq!(terminal.ends(), Some(130));
    assert!(terminal.is_cooked());
    assert!(!project.state().join("agent-history").exists(), "without a session nothing is kept");
}
