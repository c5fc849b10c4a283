//! Sessions: kept, gone on with, also after the process was killed.

use super::model_server::{ModelServer, Reply};
use super::project::{Project, stderr, stdout};
use serde_json::{Value, json};

#[test]
fn a_session_goes_on_with_its_conversation() {
    let server = ModelServer::new(vec![Reply::Text(vec!["Ada."]), Reply::Text(vec!["You are Ada."])]);
    let project = Project::with(&server, json!({ "tools": "off" }));
    let first = project.run(&["agent", "helper", "My name is Ada", "--json"], "");
    let first: Value = serde_json::from_str(&stdout(&first)).unwrap();
    let id = first["session"].as_str().unwrap();
    let second = project.run(&["agent", "--resume", id, "Who am I?"], "");
    assert_eq!(stdout(&second), "You are Ada.\n", "{}", stderr(&second));
    let messages = server.requests()[1].body["messages"].to_string();
    assert!(messages.contains("My name is Ada") && messages.contains("Who am I?"), "{messages}");
    let listed = project.run(&["agent", "--sessions", "--json"], "");
    let listed: Value = serde_json::from_str(&stdout(&listed)).unwrap();
    assert_eq!((&listed[0]["session"], &listed[0]["agent"]), (&json!(id), &json!("helper")));
    assert!(listed[0]["title"].as_str().unwrap().contains("My name is Ada"));
    // Finished: there is nothing to go on with.
    assert_eq!(project.run(&["agent", "--resume", "last"], "").status.code(), Some(2));
    let replayed = project.run(&["agent", "--replay", id], "");
    assert_eq!(stdout(&replayed), "2 questions, 6 records as before, 0 differences\n", "{}", stderr(&replayed));
    assert_eq!((replayed.status.code(), server.requests().len()), (Some(0), 2), "no model is asked");
}

#[test]
fn without_a_session_nothing_is_kept() {
    let server = ModelServer::new(vec![Reply::Text(vec!["Hello."])]);
    let project = Project::with(&server, json!({ "tools": "off" }));
    assert_eq!(stdout(&project.run(&["agent", "helper", "--no-session", "Hello"], "")), "Hello.\n");
    assert_eq!(stdout(&project.run(&["agent", "--sessions", "--json"], "")).trim(), "[]");
}

/// The process dies after a call was made and before the model has seen its result.
#[test]
fn a_question_survives_its_process_and_repeats_no_call() {
    let code = "console.log('effect'); export default 42;";
    let server = ModelServer::new(vec![Reply::Call("run_code", json!({ "code": code })), Reply::Silence]);
    let project = Project::new(&server);
    let mut child = project.spawn(&["agent", "helper", "What is the answer?"]);
    server.wait_for(2);
    // SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap();
    server.add(Reply::Text(vec!["It is 42."]));
    let output = project.run(&["agent", "--resume", "last"], "");
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("It is 42.\n", Some(0)), "{}", stderr(&output));
    assert!(!stderr(&output).contains("→"), "no call is made again: {}", stderr(&output));
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert_eq!(requests[2].body["messages"], requests[1].body["messages"], "the same request");
}
