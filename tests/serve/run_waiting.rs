//! Requests that wait for a run: timeouts, reasons and messages.

use crate::mcp::support::{Project, finish};
use crate::serve::agent::{Agent, SESSIONS, STATELESS, text};
use crate::serve::approvals::{isolated_command, project};
use serde_json::{Map, Value, json};
use std::time::{Duration, Instant};

/// Three calls that need the same approval.
const THREE: &str = "import { odd } from '@capabilities/mcp-odd';
    const said = await Promise.all(['a', 'b', 'c'].map(async (message) => (await odd.echo({ message })).message));
    export default said.join('+');";

/// Makes an approver's token there.
fn token(project: &Project) -> String {
    assert_eq!(finish(isolated_command(project, &["trust"])).status, Some(0));
    let made = finish(isolated_command(project, &["approvals", "token"]));
    let token = made.stdout.lines().map(str::trim).find(|line| line.starts_with("ast_")).map(str::to_owned);
    token.unwrap_or_else(|| panic!("{made:?}"))
}

fn for_the_run(_form: &Value) -> Value {
    json!({ "action": "accept", "content": { "decision": "approve", "lasts": "run" } })
}

fn once(_form: &Value) -> Value {
    json!({ "action": "accept", "content": { "decision": "approve" } })
}

fn deny(_form: &Value) -> Value {
    json!({ "action": "accept", "content": { "decision": "deny", "reason": "not today" } })
}

#[test]
fn a_resuming_request_waits_for_the_decision() {
    let Some(project) = project() else { return };
    let token = token(&project);
    let mut agent = Agent::start(isolated_command(&project, &["mcp", "serve"]), SESSIONS, None);
    let paused = agent.run(THREE);
    let structured = &paused["structuredContent"];
    assert_eq!(
        (&structured["status"], &structured["returned"]),
        (&json!("awaiting_approval"), &json!("approval_needed"))
    );
    let ids: Vec<String> = structured["approvals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|each| each["id"].as_str().unwrap().to_owned())
        .collect();
    let handle = structured["resume"].clone();

    // Nothing changes: it waits as long as it was asked to, and says so.
    let begun = Instant::now();
    let again = agent.call("run_code", json!({ "resume": handle, "wait": 2 }));
    assert!(begun.elapsed() >= Duration::from_secs(2), "{:?}: {again}", begun.elapsed());
    assert_eq!(again["structuredContent"]["returned"], "time_over", "{again}");
    assert!(again["structuredContent"]["waited"].as_f64().unwrap() >= 2.0, "{again}");
    assert!(text(&again).contains("Waited 2.") && text(&again).contains("no decision yet"), "{again}");

    // A decision during the wait is reported, with the calls that are still pending.
    let waits = agent.begin("tools/call", json!({ "name": "run_code", "arguments": { "resume": handle, "wait": 40 } }));
    let approve = |id: &str, lasts: &str| {
        let mut command = isolated_command(&project, &["approvals", "approve", id, "--for", lasts]);
        command.env("AGENT_SPACES_APPROVER_TOKEN", &token);
        assert_eq!(finish(command).status, Some(0));
    };
    approve(&ids[0], "once");
    let told = agent.answer(waits)["result"].take();
    assert_eq!(told["structuredContent"]["returned"], "approval_needed", "{told}");
    assert_eq!(told["structuredContent"]["approvals"].as_array().unwrap().len(), 2, "{told}");

    // An approval for the run covers all pending calls, and the request returns the value.
    let waits = agent.begin("tools/call", json!({ "name": "run_code", "arguments": { "resume": handle, "wait": 40 } }));
    approve(&ids[1], "run");
    let done = agent.answer(waits)["result"].take();
    assert_eq!(done["structuredContent"]["value"], "a+b+c", "{done}");
}

#[test]
fn a_wait_reports_its_duration_and_has_a_maximum() {
    let project = Project::with_servers(json!({}));
    let mut agent = Agent::of(&project, &[]);
    let code = "await new Promise((resolve) => setTimeout(resolve, 4000)); export default 'slept'";
    let going = agent.call("run_code", json!({ "code": code, "wait": 1 }));
    let structured = &going["structuredContent"];
    assert_eq!((&structured["status"], &structured["returned"]), (&json!("running"), &json!("time_over")), "{going}");
    assert!(structured["waited"].as_f64().is_some_and(|waited| (1.0..4.0).contains(&waited)), "{going}");
    assert!(text(&going).contains("Waited 1."), "{going}");
    let handle = structured["resume"].clone();
    for wrong in [json!(-1), json!("long")] {
        let refused = agent.call("run_code", json!({ "resume": handle, "wait": wrong }));
        assert_eq!(refused["isError"], true, "{refused}");
    }
    let done = agent.call("run_code", json!({ "resume": handle, "wait": 100 }));
    assert_eq!(done["structuredContent"]["value"], "slept", "{done}");
    let tools = agent.ask("tools/list", json!({}))["result"]["tools"].take();
    assert_eq!(tools[2]["inputSchema"]["properties"]["wait"]["maximum"], 45, "{tools}");
}

#[test]
fn calls_with_the_same_approval_share_a_form() {
    let Some(project) = project() else { return };
    for (person, expected) in [(once as fn(&Value) -> Value, "a+b+c"), (for_the_run, "a+b+c"), (deny, "not today")] {
        let mut agent = Agent::with(&project, &[], SESSIONS, Some(person));
        let result = agent.run(THREE);
        assert!(text(&result).contains(expected), "{result}");
        assert_eq!(agent.forms.len(), 1, "{:?}", agent.forms);
        let message = agent.forms[0]["message"].as_str().unwrap();
        assert!(message.contains("make 3 calls of odd.echo") && message.contains("\"message\": \"c\""), "{message}");
        // The definition says nothing about approvals, and so it is not quoted.
        assert!(!message.contains("says"), "{message}");
    }
}

#[test]
fn a_stateless_client_gets_one_form_whose_answer_decides_its_calls() {
    let Some(project) = project() else { return };
    let mut agent = Agent::with(&project, &[], STATELESS, Some(once));
    let arguments = json!({ "code": THREE });
    let asked = agent.call("run_code", arguments.clone());
    let requests = asked["inputRequests"].as_object().unwrap();
    assert_eq!(requests.len(), 1, "{asked}");
    let answer = |answers: Map<String, Value>| {
        json!({
            "name": "run_code", "arguments": arguments, "inputResponses": answers, "requestState": asked["requestState"],
        })
    };
    // A form that was never given decides nothing.
    let forged = Map::from_iter([("apr_0".to_owned(), once(&Value::Null))]);
    let still = agent.ask("tools/call", answer(forged))["result"].take();
    assert_eq!(still["resultType"], "input_required", "{still}");
    let given = requests.keys().map(|form| (form.clone(), once(&Value::Null))).collect();
    let done = agent.ask("tools/call", answer(given))["result"].take();
    assert!(text(&done).contains("a+b+c"), "{done}");
}
