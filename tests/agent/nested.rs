//! Agents that call others.

use super::model_server::{ModelServer, Reply};
use super::project::{Project, stderr, stdout};
use serde_json::json;

#[test]
fn an_agent_calls_another_as_a_function() {
    let code = "import { researcher } from '@capabilities/agents';\n\
                const found = await researcher.ask({ question: 'When does the first train leave?' });\n\
                export default found.text;";
    let server = ModelServer::new(vec![
        Reply::Call("run_code", json!({ "code": code })),
        Reply::Text(vec!["At seven."]),
        Reply::Text(vec!["Take the one at seven."]),
    ]);
    let project = Project::unaccepted(&server, json!({}));
    let local = json!({ "api": "openai-chat", "baseUrl": server.base_url(), "apiKey": "${MODEL_KEY}" });
    let config = json!({
        "models": { "local": local },
        "agents": {
            "planner": { "models": ["local/m"], "prompt": "You plan.", "tools": "code", "space": "planning" },
            "researcher": { "models": ["local/m"], "prompt": "You look up.", "tools": "off" },
        },
        "spaces": { "planning": { "capabilities": ["@capabilities/agents"] } },
    });
    project.write("agent-spaces.config.json", &config.to_string());
    assert!(project.run(&["trust", "agent-spaces.config.json"], "").status.success());
    let output = project.run(&["agent", "planner", "Which train?"], "");
    // The inner answer is a result, and not a part of this one.
    assert_eq!(stdout(&output), "Take the one at seven.\n", "{}", stderr(&output));
    let requests = server.requests();
    assert_eq!(requests.len(), 3, "{}", stderr(&output));
    let inner = requests[1].body["messages"].to_string();
    assert!(inner.contains("You look up.") && inner.contains("When does the first train leave?"), "{inner}");
    assert!(!inner.contains("Which train?"), "{inner}");
    let outer = requests[2].body["messages"].to_string();
    assert!(outer.contains("You plan.") && outer.contains("At seven."), "{outer}");
}
