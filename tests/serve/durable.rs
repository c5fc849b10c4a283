//! Durable runs of `mcp serve`: handles that outlive the server.

use crate::mcp::support::{Project, eventually, finish, hostile_logging};
use crate::serve::agent::{Agent, SESSIONS, STATELESS, text};
use crate::serve::approvals::isolated_command;
use agent_spaces::journal::{ApprovalFilter, Decided, Filter, SqliteStore, Status, Store};
use agent_spaces_approvals::{ApproverToken, Decision, Request};
use serde_json::{Value, json};
use std::time::Duration;

const CODE: &str = "import { odd } from '@capabilities/mcp-odd';
    console.log('before');
    export default (await odd.echo({ message: 'pay' })).message;";

const SOON: Duration = Duration::from_secs(20);

/// A project whose runs are durable, and in which `odd.echo` asks for approval; with the token of an approver.
fn project(durable: Value) -> Option<(Project, String)> {
    let server = hostile_logging(&[])?;
    let project = Project::new(json!({
        "mcpServers": { "odd": server },
        "capabilities": { "global": ["mcp:odd"] },
        "policy": { "functions": { "odd.echo": { "decision": "approve" } } },
        "durable": durable,
    }));
    assert_eq!(finish(isolated_command(&project, &["trust"])).status, Some(0));
    // Its tools are known before a test begins.
    start(&project, None).search("echo");
    let made = finish(isolated_command(&project, &["approvals", "token", "--json"]));
    let token = made.json()["token"].as_str().unwrap().to_owned();
    Some((project, token))
}

fn start(project: &Project, person: Option<fn(&Value) -> Value>) -> Agent {
    Agent::start(isolated_command(project, &["mcp", "serve"]), SESSIONS, person)
}

fn approve(_form: &Value) -> Value {
    json!({ "action": "accept", "content": { "decision": "approve" } })
}

/// Starts a run that waits for approval. Returns its handle and the id of the request.
fn paused(agent: &mut Agent) -> (String, String) {
    let paused = agent.run(CODE);
    let structured = &paused["structuredContent"];
    assert_eq!(structured["status"], "awaiting_approval", "{paused}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&structured["resume"]), text(&structured["approvals"][0]["id"]))
}

fn resume(agent: &mut Agent, handle: &str, wait: u32) -> Value {
    agent.call("run_code", json!({ "resume": handle, "wait": wait }))
}

/// Calls that reached the server behind.
fn calls(project: &Project) -> usize {
    project.lines("log.jsonl").iter().filter(|line| line.to_string().contains("tools/call")).count()
}

/// Does something with the journal.
fn with_journal<T>(project: &Project, work: impl AsyncFnOnce(&dyn Store) -> T) -> T {
    let folder = project.path("data").join("agent-spaces").join("journal");
    let store = SqliteStore::open(&folder, Default::default()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work(&store))
}

/// Approves the pending request, as another process does.
fn approve_in_journal(project: &Project, token: &str) {
    let token: ApproverToken = token.parse().unwrap();
    with_journal(project, async |store| {
        let asked = store.approvals(ApprovalFilter::default()).await.unwrap().remove(0);
        let request: Request = serde_json::from_str(&asked.request).unwrap();
        let decision = token.sign_decision(&request, Decision::approve("ann"));
        assert_eq!(store.decide(&asked.id, &decision).await.unwrap(), Decided::Recorded);
    });
}

fn status(project: &Project) -> Status {
    with_journal(project, async |store| store.list(Filter::default()).await.unwrap()[0].status)
}

#[test]
fn a_handle_outlives_the_server_and_the_call_is_made_once() {
    let Some((project, token)) = project(json!(true)) else { return };
    let mut agent = start(&project, None);
    let (handle, id) = paused(&mut agent);
    agent.kill();

    let mut agent = start(&project, None);
    let again = resume(&mut agent, &handle, 10);
    assert_eq!(again["structuredContent"]["status"], "awaiting_approval", "{again}");
    assert_eq!(again["structuredContent"]["approvals"][0]["id"], id, "the person is asked for the same: {again}");
    assert_eq!(calls(&project), 0);
    let mut command = isolated_command(&project, &["approvals", "approve", &id]);
    command.env("AGENT_SPACES_APPROVER_TOKEN", token);
    let approved = finish(command);
    assert_eq!(approved.status, Some(0), "{approved:?}");
    let result = resume(&mut agent, &handle, 45);
    assert_eq!(result["structuredContent"]["value"], "pay", "{result}");
    assert_eq!(calls(&project), 1);
    agent.kill();

    let mut agent = start(&project, None);
    let result = resume(&mut agent, &handle, 45);
    let structured = &result["structuredContent"];
    assert_eq!((&structured["status"], &structured["value"]), (&json!("done"), &json!("pay")), "{result}");
    assert_eq!(structured["console"], json!(["before"]), "{result}");
    assert_eq!(structured["usage"]["calls"], 1, "{result}");
    assert_eq!(calls(&project), 1);
    let part = resume(&mut agent, &format!("{handle}/2"), 0);
    assert!(text(&part).contains("out of range"), "{part}");
    let unknown = resume(&mut agent, "run_00000000000000000000000000", 0);
    assert!(text(&unknown).contains("you have no run"), "{unknown}");
}

#[test]
fn a_parked_run_is_woken_by_its_decision_in_another_server() {
    let Some((project, token)) = project(json!({ "parkAfter": "2s" })) else { return };
    let mut agent = start(&project, None);
    let (handle, _) = paused(&mut agent);
    assert!(eventually(SOON, || status(&project) == Status::Parked), "it stays in memory");
    let parked = resume(&mut agent, &handle, 1);
    assert_eq!(parked["structuredContent"]["status"], "awaiting_approval", "{parked}");
    assert!(text(&parked).contains("agent-spaces approvals approve"), "{parked}");
    assert_eq!(agent.disconnect(), Some(0));

    approve_in_journal(&project, &token);
    let mut agent = start(&project, None);
    let result = resume(&mut agent, &handle, 45);
    assert_eq!(result["structuredContent"]["value"], "pay", "{result}");
    assert_eq!(calls(&project), 1);
}

#[test]
fn a_person_at_the_next_client_is_asked_about_a_parked_run() {
    let Some((project, _)) = project(json!({ "parkAfter": "2s" })) else { return };
    for version in [SESSIONS, STATELESS] {
        let mut agent = start(&project, None);
        let (handle, _) = paused(&mut agent);
        assert!(eventually(SOON, || status(&project) == Status::Parked), "it stays in memory");
        agent.kill();

        let mut agent = Agent::start(isolated_command(&project, &["mcp", "serve"]), version, Some(approve));
        let mut result = resume(&mut agent, &handle, 45);
        assert_eq!(result["resultType"] == "input_required", version == STATELESS, "{result}");
        // It may have left memory before it was decided.
        while result["resultType"] == "input_required" {
            let requests = result["inputRequests"].as_object().unwrap();
            let answers: serde_json::Map<String, Value> =
                requests.iter().map(|(id, request)| (id.clone(), approve(&request["params"]))).collect();
            let params = json!({
                "name": "run_code", "arguments": { "resume": handle },
                "inputResponses": answers, "requestState": result["requestState"],
            });
            result = agent.ask("tools/call", params)["result"].take();
        }
        assert_eq!(result["structuredContent"]["value"], "pay", "{result}");
    }
    assert_eq!(calls(&project), 2);
}

#[test]
fn a_run_whose_client_never_got_a_handle_ends_with_the_client() {
    let Some((project, _)) = project(json!(true)) else { return };
    let mut agent = start(&project, None);
    let code = "export default await new Promise((done) => setTimeout(done, 60_000));";
    agent.begin("tools/call", json!({ "name": "run_code", "arguments": { "code": code } }));
    assert!(eventually(SOON, || status_of_any(&project).is_some()), "it does not start");
    assert_eq!(agent.disconnect(), Some(0));
    assert_eq!(status_of_any(&project), Some(Status::Cancelled));
}

/// Status of the newest run, if there is one.
fn status_of_any(project: &Project) -> Option<Status> {
    with_journal(project, async |store| store.list(Filter::default()).await.unwrap().first().map(|run| run.status))
}
