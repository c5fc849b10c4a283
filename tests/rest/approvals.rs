//! Calls that wait for a decision.

use crate::approvals::support::wait_until;
use crate::mcp::support::hostile_logging;
use crate::rest::client::{Api, id, text};
use crate::rest::server::{REMOVES, RestServer, config};
use serde_json::{Value, json};
use std::time::Duration;

/// Script that catches the denial of a call and returns it.
const ECHOES: &str = "import { hostile } from '@capabilities/mcp-hostile';
let said; try { said = await hostile.echo({ message: 'paid' }); } catch (error) { said = [error.code, error.message]; }
export default said;";

/// A server whose `hostile.echo` needs approval and logs its calls; without Python, none.
fn logging() -> Option<RestServer> {
    let mut config = config();
    config["mcpServers"] = json!({ "hostile": hostile_logging(&[])? });
    config["capabilities"]["global"] = json!(["mcp:hostile"]);
    config["policy"] = json!({ "functions": { "hostile.echo": { "decision": "approve" } } });
    let home = crate::rest::server::home(&config);
    // Otherwise the functions appear only some time after startup.
    let built = home.finish(&["capabilities", "build"]);
    assert_eq!(built.status, Some(0), "{built:?}");
    Some(RestServer::start(&home, &[]))
}

/// Returns how often the provider got a call.
fn calls(served: &RestServer) -> usize {
    let log = std::fs::read_to_string(served.home.project("log.jsonl")).unwrap_or_default();
    log.lines().filter(|line| line.contains("\"tools/call\"")).count()
}

/// Starts a run and returns it with the approval that it waits for.
fn ask(api: &Api, source: &str) -> (String, Value) {
    let space = api.new_space();
    let run = api.start(&space, source);
    let approval = wait_until("it asks", || {
        let page = api.get(&format!("/v1/approvals?status=pending&run={run}")).with_status(200).json();
        page["items"].get(0).cloned()
    });
    assert_eq!(approval["spaceId"], space, "{approval}");
    (run, approval)
}

fn decide(api: &Api, approval: &Value, decision: Value) -> crate::rest::client::Answer {
    api.post(&format!("/v1/approvals/{}/decision", id(approval)), &decision)
}

/// Who decided, as the caller says, and the caller.
fn names(decided: &Value) -> (String, String) {
    (text(&decided["decision"]["by"]), text(&decided["decision"]["caller"]))
}

#[test]
fn an_approved_call_is_made_once() {
    let Some(served) = logging() else { return };
    let api = served.operator();
    let (run, approval) = ask(&api, ECHOES);
    assert!(id(&approval).starts_with("apr_"), "{approval}");
    assert_eq!((&approval["runId"], &approval["status"]), (&json!(run), &json!("pending")));
    assert_eq!(approval.get("caller"), None, "the operator has no name");
    assert_eq!((&approval["capability"], &approval["function"]), (&json!("hostile"), &json!("echo")));
    assert_eq!((&approval["params"], &approval["callId"]), (&json!({ "message": "paid" }), &json!(1)));
    wait_until("it waits", || (api.status(&run) == "awaiting_approval").then_some(()));
    let shown = api.get(&format!("/v1/runs/{run}")).json();
    assert_eq!(shown["approvals"], json!([approval]));
    assert_eq!(calls(&served), 0);

    let decision = json!({ "decision": "approve", "reason": "it is due", "by": "Eve" });
    let decided = decide(&api, &approval, decision.clone()).with_status(200).json();
    assert_eq!(decided["status"], "approved", "{decided}");
    assert_eq!(
        (&decided["decision"]["decision"], &decided["decision"]["reason"]),
        (&json!("approve"), &json!("it is due"))
    );
    assert_eq!(names(&decided), ("Eve".to_owned(), "the operator".to_owned()));
    let ended = api.ended(&run);
    assert_eq!(ended["status"], "finished", "{ended}");
    assert!(ended["value"].to_string().contains("paid"), "{ended}");
    assert_eq!(calls(&served), 1);
    for again in [decision, json!({ "decision": "deny" })] {
        decide(&api, &approval, again).problem(409, "approval.decided");
    }
    assert_eq!(api.get(&format!("/v1/approvals/{}", id(&approval))).json(), decided);
    let served = served.killed_and_started();
    assert_eq!(served.operator().ended(&run), ended);
    assert_eq!(calls(&served), 1, "nothing is made again");
}

#[test]
fn a_denied_call_throws() {
    let Some(served) = logging() else { return };
    let api = served.operator();
    let (run, approval) = ask(&api, ECHOES);
    let decided = decide(&api, &approval, json!({ "decision": "deny", "reason": "too much" })).with_status(200).json();
    assert_eq!(decided["status"], "denied", "{decided}");
    let ended = api.ended(&run);
    assert_eq!((&ended["status"], &ended["value"][0]), (&json!("finished"), &json!("call.approval_denied")), "{ended}");
    assert!(text(&ended["value"][1]).contains("too much"), "the script gets the reason: {ended}");
    assert_eq!(calls(&served), 0);
    let denied = api.get("/v1/approvals?status=denied").json();
    assert_eq!(denied["items"][0], decided);
}

#[test]
fn concurrent_decisions_count_once() {
    let served = RestServer::new();
    let api = served.operator();
    let (run, approval) = ask(&api, REMOVES);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let decide = |number| {
            let (api, approval) = (&api, &approval);
            let word = if number % 2 == 0 { "approve" } else { "deny" };
            scope.spawn(move || (word, decide(api, approval, json!({ "decision": word }))))
        };
        let all: Vec<_> = (0..8).map(decide).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let taken: Vec<_> = answers.iter().filter(|(_, answer)| answer.status == 200).collect();
    assert_eq!(taken.len(), 1, "{answers:?}");
    let value = if taken[0].0 == "approve" { "removed a" } else { "call.approval_denied" };
    assert_eq!(api.ended(&run)["value"], value);
    for (_, answer) in answers.iter().filter(|(_, answer)| answer.status != 200) {
        let code = answer.some_problem()["code"].clone();
        assert!(answer.status == 409 && (code == "approval.decided" || code == "run.ended"), "{answer:?}");
    }
}

#[test]
fn a_late_decision_is_refused() {
    let mut config = config();
    config["policy"] = json!({ "approvals": { "expires": "1s" } });
    let served = RestServer::configured(&config);
    let api = served.operator();
    let (run, approval) = ask(&api, REMOVES);
    std::thread::sleep(Duration::from_millis(1_200));
    decide(&api, &approval, json!({ "decision": "approve" })).problem(409, "approval.expired");
    assert_eq!(api.ended(&run)["value"], "call.approval_expired");
    let shown = api.get(&format!("/v1/approvals/{}", id(&approval))).json();
    assert_eq!(shown["status"], "expired", "{shown}");
    assert_eq!(id(&api.get("/v1/approvals?status=expired").json()["items"][0]), id(&approval));
}

#[test]
fn only_callers_who_may_approve_decide() {
    let served = RestServer::new();
    let (operator, may, may_not) = (served.operator(), served.caller(0), served.caller(1));
    let (run, approval) = ask(&may_not, REMOVES);
    // The operator sees whose run it is.
    let seen = operator.get(&format!("/v1/approvals/{}", id(&approval))).with_status(200).json();
    let started = operator.get(&format!("/v1/runs/{run}")).with_status(200).json();
    assert_eq!((&seen["caller"], &started["caller"]), (&json!("caller-1"), &json!("caller-1")), "{seen} {started}");
    decide(&may_not, &approval, json!({ "decision": "approve" })).problem(403, "auth.denied");
    decide(&may_not, &approval, json!({ "decision": "deny" })).problem(403, "auth.denied");
    decide(&may, &approval, json!({ "decision": "approve" })).problem(404, "not_found");
    let decided = decide(&operator, &approval, json!({ "decision": "approve" })).with_status(200).json();
    assert_eq!(names(&decided), ("the operator".to_owned(), "the operator".to_owned()));
    assert_eq!(may_not.ended(&run)["value"], "removed a");
    let (run, approval) = ask(&may, REMOVES);
    let decided = decide(&may, &approval, json!({ "decision": "approve", "by": "Eve" })).with_status(200).json();
    assert_eq!(names(&decided), ("Eve".to_owned(), "caller-0".to_owned()));
    assert_eq!(may.ended(&run)["value"], "removed a");
    // The events of the run name both.
    let events = may.get(&format!("/v1/runs/{run}/events")).json()["items"].clone();
    let event = events.as_array().unwrap().iter().find(|event| event["type"] == "approvalDecided").unwrap();
    assert_eq!(event["by"], "Eve (through caller-0)", "{event}");
}

#[test]
fn approvals_are_listed_in_both_orders() {
    let served = RestServer::new();
    let api = served.operator();
    let asked: Vec<String> = (0..3).map(|_| id(&ask(&api, REMOVES).1)).collect();
    let list = |order: &str| {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = api.get(&format!("/v1/approvals?limit=2{order}{cursor}")).with_status(200).json();
            seen.extend(page["items"].as_array().unwrap().iter().map(id));
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return (seen, cursor),
            }
        }
    };
    let newest: Vec<String> = asked.iter().rev().cloned().collect();
    assert_eq!((list("").0, list("&order=oldest").0), (asked.clone(), asked));
    let (seen, cursor) = list("&order=newest");
    assert_eq!(seen, newest);
    for order in ["", "&order=oldest"] {
        api.get(&format!("/v1/approvals?limit=2{order}{cursor}")).problem(400, "request.invalid");
    }
    api.get("/v1/approvals?order=up").problem(400, "request.invalid");
}

/// An approved call could be in doubt after a crash; a denied one is never made.
#[test]
fn a_decision_survives_a_crash() {
    let served = RestServer::new();
    let (run, approval) = ask(&served.operator(), REMOVES);
    let decided = decide(&served.operator(), &approval, json!({ "decision": "deny" })).with_status(200).json();
    let served = served.killed_and_started();
    let api = served.operator();
    assert_eq!(api.ended(&run)["value"], "call.approval_denied");
    assert_eq!(api.get(&format!("/v1/approvals/{}", id(&approval))).json(), decided);
    decide(&api, &approval, json!({ "decision": "approve" })).problem(409, "approval.decided");
}

/// Nobody decided before the server was killed.
#[test]
fn a_question_survives_a_crash() {
    let served = RestServer::new();
    let (run, approval) = ask(&served.operator(), REMOVES);
    let served = served.killed_and_started();
    let api = served.operator();
    assert_eq!(api.get(&format!("/v1/approvals/{}", id(&approval))).with_status(200).json(), approval);
    decide(&api, &approval, json!({ "decision": "approve" })).with_status(200);
    assert_eq!(api.ended(&run)["value"], "removed a");
}

#[test]
fn wrong_decisions_are_refused() {
    let served = RestServer::new();
    let api = served.operator();
    let (_, approval) = ask(&api, REMOVES);
    for wrong in [
        json!({}),
        json!({ "decision": "yes" }),
        json!({ "decision": true }),
        json!({ "decision": "approve", "by": "" }),
        json!({ "decision": "approve", "by": null }),
        json!({ "decision": "approve", "reason": "r".repeat(501) }),
        json!({ "decision": "approve", "for": "ever" }),
        json!({ "decision": "approve", "forever": true }),
    ] {
        decide(&api, &approval, wrong).problem(400, "request.invalid");
    }
    assert_eq!(api.get(&format!("/v1/approvals/{}", id(&approval))).json()["status"], "pending");
}
