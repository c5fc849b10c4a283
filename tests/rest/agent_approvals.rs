//! Calls of agents in the list of approvals.

use crate::agent::model_server::{ModelServer, Reply};
use crate::approvals::support::wait_until;
use crate::rest::changes::Changes;
use crate::rest::client::{Answer, Api, id};
use crate::rest::server::{REMOVES, RestServer, config};
use serde_json::{Value, json};
use std::thread::JoinHandle;

/// Program of the agent. Its call waits for approval.
const CODE: &str = "import { files } from '@capabilities/files';
export default await files.remove({ path: 'a' });";

/// A server whose agent runs the program and then says that it is done, and the server of its model.
fn served() -> (RestServer, ModelServer) {
    let models =
        ModelServer::new(vec![Reply::Call("run_code", json!({ "code": CODE })), Reply::Text(vec!["It is done."])]);
    let mut config = config();
    config.as_object_mut().unwrap().remove("durable");
    config["models"] = json!({ "local": { "api": "openai-chat", "baseUrl": models.base_url() } });
    config["agents"] = json!({ "helper": { "models": ["local/m"], "prompt": "You help.", "tools": "code" } });
    (RestServer::configured(&config), models)
}

fn question() -> Value {
    json!({ "question": "Remove it", "session": "none" })
}

fn ask(api: &Api) -> JoinHandle<Answer> {
    let api = api.clone();
    std::thread::spawn(move || api.post("/v1/helper", &question()))
}

/// Waits until a list has an item, and returns it.
fn first(api: &Api, query: &str) -> Value {
    wait_until("it asks", || {
        let page = api.get(&format!("/v1/approvals?{query}")).with_status(200).json();
        page["items"].get(0).cloned()
    })
}

/// Returns the ids of a list, from pages of one item.
fn ids(api: &Api, query: &str) -> Vec<String> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/v1/approvals?limit=1&{query}&cursor={cursor}");
        let page = api.get(&path).with_status(200).json();
        found.extend(page["items"].as_array().unwrap().iter().map(id));
        match page["next"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => return found,
        }
    }
}

fn decision(approval: &str) -> String {
    format!("/v1/approvals/{approval}/decision")
}

#[test]
fn a_call_of_an_agent_is_listed_and_decided_with_those_of_runs() {
    let (served, models) = served();
    let (operator, ann, bob) = (served.operator(), served.caller(0), served.caller(1));
    let mut streams = [Changes::follow(&operator), Changes::follow(&ann)];
    let mut others = Changes::follow(&bob);
    let run = ann.start(&ann.new_space(), REMOVES);
    let of_run = id(&first(&ann, &format!("run={run}")));
    let asking = ask(&ann);
    let call = first(&ann, "status=pending&agent=helper");
    let approval = id(&call);
    assert_eq!((&call["agent"], &call["caller"]), (&json!("helper"), &json!("caller-0")), "{call}");
    assert_eq!((&call["capability"], &call["function"]), (&json!("files"), &json!("remove")), "{call}");
    assert_eq!((&call["params"], &call["status"]), (&json!({ "path": "a" }), &json!("pending")), "{call}");
    assert!(call.get("runId").is_none() && call.get("spaceId").is_none(), "{call}");
    for api in [&operator, &ann] {
        assert_eq!(ids(api, "status=pending"), [of_run.as_str(), &approval]);
        assert_eq!(ids(api, "order=newest"), [approval.as_str(), &of_run]);
        assert_eq!((ids(api, "agent=helper"), ids(api, "agent=other")), (vec![approval.clone()], vec![]));
        assert_eq!(ids(api, &format!("run={run}")), [of_run.as_str()]);
    }
    for stream in &mut streams {
        assert_eq!(stream.until("approval", &approval, "pending")["agent"], "helper");
    }
    // It does not exist for others.
    assert!(ids(&bob, "status=pending").is_empty());
    bob.get(&format!("/v1/approvals/{approval}")).problem(404, "not_found");
    bob.post(&decision(&approval), &json!({ "decision": "approve" })).problem(404, "not_found");
    ann.post(&decision(&approval), &json!({ "decision": "approve", "for": "run" })).problem(400, "request.invalid");

    let approve = json!({ "decision": "approve", "by": "Eve" });
    let decided = operator.post(&decision(&approval), &approve).with_status(200).json();
    assert_eq!((&decided["status"], &decided["decision"]["by"]), (&json!("approved"), &json!("Eve")), "{decided}");
    assert_eq!(decided["decision"]["caller"], "the operator");
    assert_eq!(asking.join().unwrap().with_status(200).json()["text"], "It is done.");
    assert!(models.requests()[1].body.to_string().contains("removed a"));
    ann.post(&decision(&approval), &json!({ "decision": "deny" })).problem(409, "approval.decided");
    assert_eq!(ann.get(&format!("/v1/approvals/{approval}")).with_status(200).json(), decided);
    assert_eq!((ids(&ann, "status=pending"), ids(&ann, "status=approved")), (vec![of_run], vec![approval.clone()]));
    for stream in &mut streams {
        stream.until("approval", &approval, "approved");
    }
    let own = id(&bob.run(&bob.new_space(), "export default 1;"));
    others.until("run", &own, "finished");
    assert!(others.events().iter().all(|event| event.name != "approval"), "{:?}", others.events());
}

#[test]
fn a_denial_reaches_the_agent_and_needs_the_right_to_approve() {
    let (served, models) = served();
    let bob = served.caller(1);
    let asking = ask(&bob);
    let approval = id(&first(&bob, "status=pending"));
    let deny = json!({ "decision": "deny", "reason": "not today" });
    bob.post(&decision(&approval), &deny).problem(403, "auth.denied");
    let decided = served.operator().post(&decision(&approval), &deny).with_status(200).json();
    assert_eq!((&decided["status"], &decided["decision"]["reason"]), (&json!("denied"), &json!("not today")));
    asking.join().unwrap().with_status(200);
    assert!(models.requests()[1].body.to_string().contains("not today"));
}

#[test]
fn a_question_that_ends_takes_its_call_with_it() {
    let (served, _models) = served();
    let ann = served.caller(0);
    let headers = [("content-type", "application/json")];
    let asking = ann.open("POST", "/v1/helper", &headers, question().to_string().as_bytes());
    let approval = id(&first(&ann, "status=pending"));
    drop(asking);
    wait_until("it is over", || ids(&ann, "status=pending").is_empty().then_some(()));
    let over = ann.get(&format!("/v1/approvals/{approval}")).with_status(200).json();
    assert_eq!(over["status"], "expired", "{over}");
    ann.post(&decision(&approval), &json!({ "decision": "approve" })).problem(409, "approval.expired");
}
