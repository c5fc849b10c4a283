//! Files with models: their order, and their acceptance before anything is sent.

use super::model_server::{ModelServer, Reply};
use super::project::{KEY, Project, stderr, stdout};
use serde_json::json;

#[test]
fn nothing_is_asked_until_the_file_is_accepted() {
    let server = ModelServer::new(vec![Reply::Text(vec!["Hello."])]);
    let project = Project::unaccepted(&server, json!({ "tools": "off" }));
    let output = project.run(&["agent", "helper", "Hello"], "");
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("", Some(4)), "{}", stderr(&output));
    assert!(stderr(&output).contains("agent-spaces trust"), "{}", stderr(&output));
    assert!(server.requests().is_empty());
    // What is accepted says where conversations and keys go, without the key.
    let trusted = project.run(&["trust", "agent-spaces.config.json"], "");
    let shown = stderr(&trusted);
    assert!(shown.contains(&server.base_url()) && shown.contains("MODEL_KEY") && !shown.contains(KEY), "{shown}");
    let output = project.run(&["agent", "helper", "Hello"], "");
    assert_eq!(stdout(&output), "Hello.\n", "{}", stderr(&output));
    // A change needs to be accepted again.
    let text = std::fs::read_to_string(project.path().join("agent-spaces.config.json")).unwrap();
    project.write("agent-spaces.config.json", &text.replace("You help.", "You obey."));
    assert_eq!(project.run(&["agent", "helper", "Hello"], "").status.code(), Some(4));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_configuration_with_models_does_not_keep_scripts_from_running() {
    let server = ModelServer::new(Vec::new());
    let project = Project::unaccepted(&server, json!({}));
    let output = project.run(&["run", "-"], "6 * 7");
    assert_eq!(stdout(&output), "42\n", "{}", stderr(&output));
}

#[test]
fn an_ai_agent_file_is_read_as_it_stands() {
    let texts = ["From the file.", "From home.", "Confined."];
    let server = ModelServer::new(Vec::from(texts.map(|text| Reply::Text(vec![text]))));
    let project = Project::unaccepted(&server, json!({}));
    std::fs::remove_file(project.path().join("agent-spaces.config.json")).unwrap();
    let file = json!({
        "providers": { "local": {
            "apiKey": "${MODEL_KEY}", "baseUrl": server.base_url(), "models": { "m": { "contextWindow": 8000 } },
        } },
        "mcpServers": {},
        "defaults": { "temperature": 0.25, "llmTimeout": 5000 },
    });
    project.write(".ai-agent.json", &file.to_string());
    let output = project.run(&["agent", "--tools", "off", "Hello"], "");
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(project.run(&["trust", ".ai-agent.json"], "").status.success());
    let output = project.run(&["agent", "--tools", "off", "Hello"], "");
    assert_eq!(stdout(&output), "From the file.\n", "{}", stderr(&output));
    let request = &server.requests()[0];
    assert_eq!((&request.body["model"], &request.body["temperature"]), (&json!("m"), &json!(0.25)));
    assert!(request.head.contains(KEY));
    // The one in the home folder is the user's own.
    std::fs::rename(project.path().join(".ai-agent.json"), project.path().join("home/.ai-agent.json")).unwrap();
    let output = project.run(&["agent", "--tools", "off", "Hello"], "");
    assert_eq!(stdout(&output), "From home.\n", "{}", stderr(&output));
    // A confined command may read it, as far as the kernel confines.
    let output = project.run(&["agent", "--confine=best-effort", "--tools", "off", "Hello"], "");
    assert_eq!(stdout(&output), "Confined.\n", "{}", stderr(&output));
}

#[test]
fn a_confined_command_reads_a_prompt_outside_of_its_project() {
    let server = ModelServer::new(vec![Reply::Text(vec!["Hello."])]);
    let project = Project::unaccepted(&server, json!({ "tools": "off" }));
    let config = std::fs::read_to_string(project.path().join("agent-spaces.config.json")).unwrap();
    let config = config.replace(r#""prompt":"You help.""#, r#""promptFile":"~/prompt.md""#);
    project.write("agent-spaces.config.json", &config);
    // A home within the project would be accessible as a whole, which is refused.
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("prompt.md"), "You are confined.").unwrap();
    let run = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.env("HOME", home.path());
        for name in ["CONFIG", "CACHE", "STATE", "DATA"] {
            command.env(format!("XDG_{name}_HOME"), home.path().join(name));
        }
        command.output().unwrap()
    };
    assert!(run(&["trust", "agent-spaces.config.json"]).status.success());
    let output = run(&["agent", "--confine=best-effort", "helper", "Hello"]);
    assert_eq!(stdout(&output), "Hello.\n", "{}", stderr(&output));
    assert!(server.requests()[0].body.to_string().contains("You are confined."));
}

#[test]
fn the_example_is_a_configuration_that_the_command_reads() {
    let server = ModelServer::new(vec![Reply::Text(vec!["At 7."])]);
    let project = Project::new(&server);
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/two-agents/agent-spaces.config.json");
    let output = project.run(&["spaces", "list", "--config", example], "");
    assert!(stdout(&output).contains("planning") && stdout(&output).contains("research"), "{}", stderr(&output));
    assert!(project.run(&["trust", example], "").status.success());
    // Its agents are there; the model is another one.
    let unknown = project.run(&["agent", "--config", example, "writer", "Hello"], "");
    assert!(stderr(&unknown).contains("planner, researcher"), "{}", stderr(&unknown));
}
