//! Functions of agents, and how deep agents call one another.

use super::model_server::{ModelServer, Reply};
use super::project::{Project, stderr, stdout};
use serde_json::{Value, json};

/// Agents deep at most.
const MAX_DEPTH: usize = 8;

/// An accepted project with these agents, in a space that has them.
fn project(server: &ModelServer, agents: &Value) -> Project {
    let project = Project::unaccepted(server, json!({}));
    let local = json!({ "api": "openai-chat", "baseUrl": server.base_url(), "apiKey": "${MODEL_KEY}" });
    let config = json!({
        "models": { "local": local },
        "agents": agents,
        "spaces": { "planning": { "capabilities": ["@capabilities/agents"] } },
    });
    project.write("agent-spaces.config.json", &config.to_string());
    let trusted = project.run(&["trust", "agent-spaces.config.json"], "");
    assert!(trusted.status.success(), "{}", stderr(&trusted));
    project
}

#[test]
fn a_function_has_parameters_and_a_result_with_types() {
    let code = "import { timetable } from '@capabilities/agents';\n\
                const first = await timetable.firstTrain({ station: 'Central' });\n\
                export default `leaves at ${first.time}`;";
    let server = ModelServer::new(vec![
        Reply::Call("run_code", json!({ "code": code })),
        // Not what the schema allows: the agent is told, and corrects it.
        Reply::Text(vec!["At seven."]),
        Reply::Text(vec!["{\"time\": \"07:00\"}"]),
        Reply::Text(vec!["Take the one at seven."]),
    ]);
    let first_train = json!({
        "description": "The first train of the day",
        "parameters": { "type": "object", "properties": { "station": { "type": "string" } }, "required": ["station"] },
        "result": { "type": "object", "properties": { "time": { "type": "string" } }, "required": ["time"] },
    });
    let project = project(
        &server,
        &json!({
            "planner": { "models": ["local/m"], "tools": "code", "space": "planning" },
            "timetable": { "models": ["local/m"], "tools": "off", "functions": { "firstTrain": first_train } },
        }),
    );
    let output = project.run(&["agent", "planner", "Which train?"], "");
    assert_eq!(stdout(&output), "Take the one at seven.\n", "{}", stderr(&output));
    let requests = server.requests();
    let inner = requests[1].body["messages"].to_string();
    assert!(inner.contains("firstTrain") && inner.contains("Central"), "{inner}");
    let outer = requests.last().unwrap().body["messages"].to_string();
    assert!(outer.contains("leaves at 07:00"), "{outer}");
}

#[test]
fn an_agent_that_calls_itself_comes_to_an_end() {
    let code = "import { mirror } from '@capabilities/agents';\n\
                const { text } = await mirror.ask({ question: 'And you?' });\n\
                export default text;";
    let calls = (0..=MAX_DEPTH).map(|_| Reply::Call("run_code", json!({ "code": code })));
    let texts = (0..=MAX_DEPTH).map(|_| Reply::Text(vec!["Enough."]));
    let server = ModelServer::new(calls.chain(texts).collect());
    let mirror = json!({ "models": ["local/m"], "tools": "code", "space": "planning" });
    let project = project(&server, &json!({ "mirror": mirror }));
    let output = project.run(&["agent", "mirror", "Who are you?"], "");
    assert_eq!(stdout(&output), "Enough.\n", "{}", stderr(&output));
    let requests = server.requests();
    assert_eq!(requests.len(), 2 * (MAX_DEPTH + 1));
    // The deepest is told why it cannot go on.
    let deepest = requests[MAX_DEPTH + 1].body["messages"].to_string();
    assert!(deepest.contains("nested too deep"), "{deepest}");
}

#[test]
fn a_space_is_given_agents_only_by_an_entry() {
    let code = "import { helper } from '@capabilities/agents';\nexport default await helper.ask({ question: 'x' });";
    let server = ModelServer::new(vec![Reply::Call("run_code", json!({ "code": code })), Reply::Text(vec!["No."])]);
    let project = Project::new(&server);
    let output = project.run(&["agent", "helper", "Ask yourself"], "");
    assert_eq!(stdout(&output), "No.\n", "{}", stderr(&output));
    // Nobody but the outer agent was asked.
    assert_eq!(server.requests().len(), 2);
}
