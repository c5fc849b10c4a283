//! `agent-spaces agent`: the command against a provider that answers with a script.

mod files;
mod functions;
mod interactive;
mod mcp_tool;
pub(crate) mod model_server;
mod nested;
mod project;
mod sessions;
mod terminal;

use model_server::{ModelServer, Reply};
use project::{KEY, Project, stderr, stdout};
use serde_json::{Value, json};

#[test]
fn the_answer_is_on_stdout_and_nothing_else() {
    let server = ModelServer::new(vec![Reply::Text(vec!["Hello", " there", "."])]);
    let project = Project::with(&server, json!({ "tools": "off" }));
    let output = project.run(&["agent", "helper", "Say hello"], "");
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("Hello there.\n", Some(0)), "{}", stderr(&output));
    let requests = server.requests();
    let [request] = &requests[..] else { panic!("one request") };
    assert!(request.head.contains(&format!("Bearer {KEY}")), "{}", request.head);
    assert_eq!(request.body["stream"], true);
    let messages = request.body["messages"].as_array().unwrap();
    assert_eq!((&messages[0]["role"], &messages[0]["content"]), (&json!("system"), &json!("You help.")));
    assert!(messages.last().unwrap().to_string().contains("Say hello"));
    assert!(request.body.get("tools").is_none_or(|tools| tools.as_array().is_some_and(Vec::is_empty)));
}

#[test]
fn a_program_runs_in_the_space_and_its_result_goes_back() {
    let code = "import { trainSchedule } from '@capabilities/train-schedule';\n\
                const trips = await trainSchedule.getSchedule({ station: 'Central' });\n\
                export default { count: trips.length, product: 6 * 7 };";
    let server =
        ModelServer::new(vec![Reply::Call("run_code", json!({ "code": code })), Reply::Text(vec!["It is 42."])]);
    let project = Project::new(&server);
    let output = project.run(&["agent", "helper", "What is six times seven?"], "");
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("It is 42.\n", Some(0)), "{}", stderr(&output));
    assert!(stderr(&output).contains("run_code"), "{}", stderr(&output));
    let requests = server.requests();
    let names: Vec<&Value> =
        requests[0].body["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert!(names.contains(&&json!("run_code")) && names.contains(&&json!("search_capabilities")), "{names:?}");
    let messages = requests[1].body["messages"].as_array().unwrap();
    let result = messages.iter().find(|message| message["role"] == "tool").expect("a result");
    assert_eq!(result["tool_call_id"], "call_1");
    assert!(result["content"].to_string().contains("42"), "{result}");
}

#[test]
fn functions_are_tools_of_their_own_in_direct_mode() {
    let server = ModelServer::new(vec![Reply::Text(vec!["None."])]);
    let project = Project::new(&server);
    let output = project.run(&["agent", "helper", "--tools", "direct", "How much is there?"], "");
    assert!(output.status.success(), "{}", stderr(&output));
    let tools = server.requests()[0].body["tools"].to_string();
    assert!(tools.contains("balance"), "{tools}");
    assert!(!tools.contains("run_code"), "{tools}");
}

#[test]
fn json_is_one_object() {
    let server = ModelServer::new(vec![Reply::Text(vec!["{\"n\"", ": 1}"])]);
    let project = Project::with(&server, json!({ "tools": "off" }));
    project.write("n.json", r#"{"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}"#);
    let output = project.run(&["agent", "helper", "-", "--json", "--schema", "n.json"], "Give me a number");
    let object: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(
        (&object["ok"], &object["value"], &object["ending"]),
        (&json!(true), &json!({ "n": 1 }), &json!("done"))
    );
    assert_eq!((&object["model"], &object["turns"]), (&json!("local/m"), &json!(1)));
    assert_eq!(object["usage"]["inputTokens"], 100);
    assert!(object["session"].as_str().unwrap().starts_with("ses_"), "{object}");
    assert!(server.requests()[0].body["messages"].to_string().contains("Give me a number"));
}

#[test]
fn endings_have_their_exit_status() {
    let wrong =
        json!({ "error": { "message": format!("Incorrect API key provided: {KEY}"), "code": "invalid_api_key" } });
    let server = ModelServer::new(vec![Reply::Refusal(401, wrong)]);
    let project = Project::with(&server, json!({ "tools": "off" }));
    let output = project.run(&["agent", "helper", "Hello"], "");
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("", Some(5)), "{}", stderr(&output));
    assert!(stderr(&output).contains("local/m") && !stderr(&output).contains(KEY), "{}", stderr(&output));
    assert_eq!(server.requests().len(), 1, "a refused key is not tried again");

    let text = ["Not", " JSON"].to_vec();
    let server = ModelServer::new((0..3).map(|_| Reply::Text(text.clone())).collect());
    let project = Project::with(&server, json!({ "tools": "off", "output": { "schema": { "type": "object" } } }));
    let output = project.run(&["agent", "helper", "Hello"], "");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));

    let server = ModelServer::new(vec![Reply::Text(vec!["All of it."])]);
    let project = Project::with(&server, json!({ "tools": "off", "budgets": { "session": { "tokens": 1 } } }));
    assert_eq!(project.run(&["agent", "helper", "Hello"], "").status.code(), Some(0));
    let output = project.run(&["agent", "--resume", "last", "More"], "");
    assert_eq!((output.status.code(), server.requests().len()), (Some(3), 1), "{}", stderr(&output));
}

#[test]
fn bad_usage_is_told() {
    let server = ModelServer::new(Vec::new());
    let project = Project::with(&server, json!({ "tools": "off" }));
    let cases: [(&[&str], &str); 6] = [
        (&["agent", "planner", "Hello"], "planner"),
        (&["agent", "helper", "--model", "elsewhere/x", "Hello"], "elsewhere"),
        (&["agent"], "no question"),
        (&["agent", "helper", ""], "empty"),
        (&["agent", "--resume", "ses_0", "Hello"], "ses_0"),
        (&["agent", "helper", "Hello", "--approvals", "pipe"], "stdin"),
    ];
    for (arguments, why) in cases {
        let output = project.run(arguments, "");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_cut_answer_is_asked_for_again_and_the_next_model_answers() {
    let server = ModelServer::new(vec![Reply::Cut("Half of an"), Reply::Text(vec!["Whole."])]);
    let limits = json!({ "attempts": 1 });
    let models = json!(["local/m", "local/second"]);
    let project = Project::with(&server, json!({ "tools": "off", "limits": limits, "models": models }));
    let output = project.run(&["agent", "helper", "--no-stream", "Hello"], "");
    assert_eq!((stdout(&output).as_str(), output.status.code()), ("Whole.\n", Some(0)), "{}", stderr(&output));
    assert!(stderr(&output).contains("local/second"), "{}", stderr(&output));
    let requests = server.requests();
    assert_eq!((&requests[0].body["model"], &requests[1].body["model"]), (&json!("m"), &json!("second")));
    assert_eq!(requests[0].body["messages"], requests[1].body["messages"]);
}

#[test]
fn traffic_is_shown_without_the_key() {
    let server = ModelServer::new(vec![Reply::Text(vec!["Hello."])]);
    let project = Project::with(&server, json!({ "tools": "off" }));
    let output = project.run(&["agent", "helper", "--trace-llm", "--no-session", "Hello"], "");
    let trace = stderr(&output);
    assert!(trace.contains("POST http://127.0.0.1") && trace.contains("You help."), "{trace}");
    assert!(!trace.contains(KEY), "{trace}");
    assert_eq!(stdout(&output), "Hello.\n");
}
