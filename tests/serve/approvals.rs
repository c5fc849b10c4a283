//! Calls of `mcp serve` that require approval.

use crate::mcp::support::{Project, finish, hostile_logging};
use crate::serve::agent::{Agent, SESSIONS, STATELESS, text};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CODE: &str = "import { odd } from '@capabilities/mcp-odd';
    export default (await odd.echo({ message: 'pay' })).message;";

/// A project in which `odd.echo` asks for approval.
pub(super) fn project() -> Option<Project> {
    let server = hostile_logging(&[])?;
    let project = Project::new(json!({
        "mcpServers": { "odd": server },
        "capabilities": { "global": ["mcp:odd"] },
        "policy": { "functions": { "odd.echo": { "decision": "approve" } } },
    }));
    // Its tools are known before a test begins.
    Agent::of(&project, &[]).search("echo");
    Some(project)
}

/// The command with a state folder of its own, so that what is made there holds for no other test.
pub(super) fn isolated_command(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.command(arguments);
    // The audit log lies in one of them, and its head in the other.
    command.env("XDG_STATE_HOME", project.path("state")).env("XDG_DATA_HOME", project.path("data"));
    command
}

fn is_called(project: &Project) -> bool {
    project.lines("log.jsonl").iter().any(|line| line.to_string().contains("tools/call"))
}

fn approve(_form: &Value) -> Value {
    json!({ "action": "accept", "content": { "decision": "approve" } })
}

fn deny(_form: &Value) -> Value {
    json!({ "action": "accept", "content": { "decision": "deny", "reason": "not today" } })
}

fn decline(_form: &Value) -> Value {
    json!({ "action": "decline" })
}

#[test]
fn a_person_decides_at_the_client() {
    let Some(project) = project() else { return };
    let mut agent = Agent::with(&project, &[], SESSIONS, Some(approve));
    let result = agent.run(CODE);
    assert_eq!(result["structuredContent"]["value"], "pay", "{result}");
    let form = agent.forms[0].to_string();
    // The form shows the call.
    assert!(form.contains("odd.echo") && form.contains("pay"), "{form}");
    drop(agent);
    for (person, reason) in [(deny as fn(&Value) -> Value, "not today"), (decline, "was not approved")] {
        let mut agent = Agent::with(&project, &[], SESSIONS, Some(person));
        let result = agent.run(CODE);
        assert_eq!(result["isError"], true, "{result}");
        assert!(text(&result).contains("call.approval_denied") && text(&result).contains(reason), "{result}");
    }
}

#[test]
fn a_stateless_client_sends_the_decision_with_its_next_request() {
    let Some(project) = project() else { return };
    for (person, expected) in [(approve as fn(&Value) -> Value, "pay"), (deny, "not today")] {
        let mut agent = Agent::with(&project, &[], STATELESS, Some(person));
        let arguments = json!({ "code": CODE });
        let asked = agent.call("run_code", arguments.clone());
        assert_eq!(asked["resultType"], "input_required", "{asked}");
        let requests = asked["inputRequests"].as_object().unwrap();
        let answers: serde_json::Map<String, Value> =
            requests.iter().map(|(id, request)| (id.clone(), person(&request["params"]))).collect();
        let params = json!({
            "name": "run_code", "arguments": arguments,
            "inputResponses": answers, "requestState": asked["requestState"],
        });
        let answer = agent.ask("tools/call", params);
        assert!(text(&answer["result"]).contains(expected), "{answer}");
    }
}

#[test]
fn a_dismissed_form_is_not_shown_again_at_once() {
    let Some(project) = project() else { return };
    let mut agent = Agent::with(&project, &[], STATELESS, Some(approve));
    let arguments = json!({ "code": CODE });
    let asked = agent.call("run_code", arguments.clone());
    let id = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let params = json!({
        "name": "run_code", "arguments": arguments,
        "inputResponses": { id: { "action": "cancel" } }, "requestState": asked["requestState"],
    });
    let answer = agent.ask("tools/call", params);
    assert_eq!(answer["result"]["structuredContent"]["status"], "awaiting_approval", "{answer}");
    let resume = answer["result"]["structuredContent"]["resume"].clone();
    let again = agent.call("run_code", json!({ "resume": resume }));
    assert_eq!(again["resultType"], "input_required", "{again}");
    assert!(!is_called(&project));
}

/// Closes the first form, and approves what the second asks.
fn close_once(_form: &Value) -> Value {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    match ASKED.fetch_add(1, Ordering::Relaxed) {
        0 => json!({ "action": "cancel" }),
        _ => json!({ "action": "accept", "content": { "decision": "approve" } }),
    }
}

#[test]
fn a_dismissed_form_is_shown_again_when_the_agent_returns() {
    let Some(project) = project() else { return };
    let mut agent = Agent::with(&project, &[], SESSIONS, Some(close_once));
    let begun = Instant::now();
    let paused = agent.run(CODE);
    assert_eq!(paused["structuredContent"]["status"], "awaiting_approval", "{paused}");
    assert!(begun.elapsed() < Duration::from_secs(20), "nobody was asked any more: {:?}", begun.elapsed());
    // Nobody has the token that this would need.
    assert!(text(&paused).contains("keep asking") && !text(&paused).contains("agent-spaces approvals"), "{paused}");
    assert!(!is_called(&project));
    let result = agent.call("run_code", json!({ "resume": paused["structuredContent"]["resume"] }));
    assert_eq!(result["structuredContent"]["value"], "pay", "{result}");
    assert_eq!(agent.forms.len(), 2);
}

#[test]
fn without_an_approver_the_call_is_not_made() {
    let Some(project) = project() else { return };
    let mut agent = Agent::of(&project, &[]);
    let before = project.lines("log.jsonl").len();
    let result = agent.run(CODE);
    assert_eq!(result["isError"], true, "{result}");
    assert!(text(&result).contains("agent-spaces approvals token"), "{result}");
    // A request that does not wait gets no promise of approval either.
    let result = agent.call("run_code", json!({ "code": CODE, "wait": 0 }));
    assert!(!text(&result).contains("agent-spaces approvals approve"), "{result}");
    assert_eq!(project.lines("log.jsonl").len(), before, "the server was reached");
    assert!(!is_called(&project));
}

#[test]
fn an_external_decision_resumes_the_run_and_the_agent_cannot_decide() {
    let Some(project) = project() else { return };
    assert_eq!(finish(isolated_command(&project, &["trust"])).status, Some(0));
    let made = finish(isolated_command(&project, &["approvals", "token"]));
    let token = made.stdout.lines().map(str::trim).find(|line| line.starts_with("ast_")).map(str::to_owned);
    let token = token.unwrap_or_else(|| panic!("{made:?}"));
    let mut agent = Agent::start(isolated_command(&project, &["mcp", "serve"]), SESSIONS, None);
    let paused = agent.run(CODE);
    let structured = &paused["structuredContent"];
    assert_eq!(structured["status"], "awaiting_approval", "{paused}");
    assert!(
        text(&paused).contains("agent-spaces approvals approve") && !text(&paused).contains("keep asking"),
        "{paused}"
    );
    let (handle, id) = (structured["resume"].clone(), structured["approvals"][0]["id"].as_str().unwrap().to_owned());
    for attempt in [
        json!({ "resume": handle, "decision": "approve" }),
        json!({ "resume": handle, "approve": true }),
        json!({ "resume": handle, "approvals": [{ "id": id, "decision": "approve" }] }),
    ] {
        assert_eq!(agent.call("run_code", attempt.clone())["isError"], true, "{attempt}");
    }
    let again = agent.call("run_code", json!({ "resume": handle, "wait": 1 }));
    assert_eq!(again["structuredContent"]["status"], "awaiting_approval", "{again}");
    assert!(!is_called(&project));

    let mut command = isolated_command(&project, &["approvals", "approve", &id]);
    command.env("AGENT_SPACES_APPROVER_TOKEN", token);
    let approved = finish(command);
    assert_eq!(approved.status, Some(0), "{approved:?}");
    let result = agent.call("run_code", json!({ "resume": handle }));
    assert_eq!(result["structuredContent"]["value"], "pay", "{result}");
}

#[test]
fn a_token_created_while_serving_counts_and_calls_have_script_names() {
    let Some(server) = hostile_logging(&[]) else { return };
    let project = Project::new(json!({
        "mcpServers": { "odd-js": server },
        "capabilities": { "global": ["mcp:odd-js"] },
        "policy": { "functions": { "oddJs.echo": "approve" } },
    }));
    assert_eq!(finish(isolated_command(&project, &["trust"])).status, Some(0));
    let code = "import { oddJs } from '@capabilities/mcp-odd-js';
        export default (await oddJs.echo({ message: 'pay' })).message;";
    let mut agent = Agent::start(isolated_command(&project, &["mcp", "serve"]), SESSIONS, None);
    agent.search("echo");
    let refused = agent.run(code);
    assert!(text(&refused).contains("agent-spaces approvals token"), "{refused}");
    let made = finish(isolated_command(&project, &["approvals", "token", "--json"]));
    let token = made.json()["token"].as_str().unwrap().to_owned();
    let paused = agent.run(code);
    let structured = &paused["structuredContent"];
    assert_eq!(structured["status"], "awaiting_approval", "{paused}");
    assert!(text(&paused).contains("oddJs.echo") && !text(&paused).contains("odd-js.echo"), "{paused}");
    let listed = finish(isolated_command(&project, &["approvals", "list"])).stdout;
    assert!(listed.contains("oddJs.echo") && !listed.contains("odd-js.echo"), "{listed}");
    let id = structured["approvals"][0]["id"].as_str().unwrap();
    let mut command = isolated_command(&project, &["approvals", "approve", id]);
    command.env("AGENT_SPACES_APPROVER_TOKEN", token);
    assert_eq!(finish(command).status, Some(0));
    let result = agent.call("run_code", json!({ "resume": structured["resume"] }));
    assert_eq!(result["structuredContent"]["value"], "pay", "{result}");
}
