//! Callers among themselves: nobody sees, decides or cancels what is another's.

use crate::approvals::support::wait_until;
use crate::rest::client::{Answer, Api, id, text};
use crate::rest::server::{REMOVES, RestServer, callers, config};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const CALLERS: usize = 200;

/// What a caller made.
struct Belongings {
    space: String,
    /// Run that waits for approval.
    run: String,
    approval: String,
    program: String,
}

/// A server with that many callers, all of whom may approve their own runs' calls.
fn server() -> RestServer {
    let mut config = config();
    config["serve"]["callers"] = callers(CALLERS);
    for number in 0..CALLERS {
        config["serve"]["callers"][format!("caller-{number}")]["mayApprove"] = json!(true);
    }
    RestServer::configured(&config)
}

fn belongings(api: &Api, number: usize) -> Belongings {
    let space = id(&api.space(&json!({ "name": format!("space of {number}") })));
    let run = api.start(&space, REMOVES);
    let program = format!("program-{number}");
    api.post("/v1/programs", &json!({ "name": program, "source": format!("export default {number};") }))
        .with_status(201);
    api.put(&format!("/v1/spaces/{space}/files/own.txt"), format!("file of {number}").as_bytes()).with_status(201);
    let approval = wait_until("it asks", || {
        let page = api.get(&format!("/v1/approvals?run={run}")).json();
        page["items"].get(0).map(id)
    });
    Belongings { space, run, approval, program }
}

/// Requests about each of these things: method, path, body.
fn requests(of: &Belongings) -> Vec<(&'static str, String, Value)> {
    let Belongings { space, run, approval, program } = of;
    let none = Value::Null;
    vec![
        ("GET", format!("/v1/spaces/{space}"), none.clone()),
        ("PATCH", format!("/v1/spaces/{space}"), json!({ "name": "stolen" })),
        ("DELETE", format!("/v1/spaces/{space}"), none.clone()),
        ("POST", format!("/v1/spaces/{space}/runs?wait=5"), json!({ "source": "1" })),
        ("POST", format!("/v1/spaces/{space}/check"), json!({ "source": "1" })),
        ("POST", format!("/v1/spaces/{space}/explain"), json!({ "function": "files.look" })),
        ("GET", format!("/v1/spaces/{space}/files"), none.clone()),
        ("GET", format!("/v1/spaces/{space}/files/own.txt"), none.clone()),
        ("PUT", format!("/v1/spaces/{space}/files/own.txt"), json!("stolen")),
        ("DELETE", format!("/v1/spaces/{space}/files/own.txt"), none.clone()),
        ("GET", format!("/v1/capabilities?space={space}"), none.clone()),
        ("GET", format!("/v1/capabilities/search?q=remove&space={space}"), none.clone()),
        ("GET", format!("/v1/runs/{run}"), none.clone()),
        ("GET", format!("/v1/runs/{run}?wait=1"), none.clone()),
        ("GET", format!("/v1/runs/{run}/source"), none.clone()),
        ("POST", format!("/v1/runs/{run}/replay"), json!({})),
        ("POST", format!("/v1/runs/{run}/cancel"), none.clone()),
        ("POST", format!("/v1/runs/{run}/resume"), none.clone()),
        ("POST", format!("/v1/runs/{run}/answers"), json!({ "call": 1, "outcome": "didNotHappen" })),
        ("GET", format!("/v1/runs/{run}/events"), none.clone()),
        ("GET", format!("/v1/events?run={run}"), none.clone()),
        ("GET", format!("/v1/approvals/{approval}"), none.clone()),
        ("POST", format!("/v1/approvals/{approval}/decision"), json!({ "decision": "approve" })),
        ("GET", format!("/v1/programs/{program}"), none.clone()),
        ("GET", format!("/v1/programs/{program}/versions"), none.clone()),
        ("GET", format!("/v1/programs/{program}/versions/1"), none.clone()),
        ("DELETE", format!("/v1/programs/{program}"), none),
    ]
}

fn send(api: &Api, (method, path, body): &(&'static str, String, Value)) -> Answer {
    match body {
        Value::Null => api.send(method, path, &[], b""),
        body => api.send_json(method, path, &[], body),
    }
}

/// Ids that nobody has, as long as those of others.
fn made_up(of: &Belongings) -> Belongings {
    let other = |id: &str, prefix: &str| format!("{prefix}{}", "0".repeat(id.len() - prefix.len()));
    Belongings {
        space: other(&of.space, "spc_"),
        run: other(&of.run, "run_"),
        approval: other(&of.approval, "apr_"),
        program: of.program.replace(char::is_numeric, "x"),
    }
}

/// Status, headers and body of an answer, without the ids that the request named.
fn anonymous(answer: &Answer, of: &Belongings) -> String {
    let mut text =
        format!("{} {:?} {}", answer.status, answer.header("content-type"), String::from_utf8_lossy(&answer.body));
    for id in [&of.space, &of.run, &of.approval, &of.program] {
        text = text.replace(id.as_str(), "ID");
    }
    format!("{text} {:?} {:?}", answer.header("etag"), answer.header("content-length"))
}

#[test]
fn nobody_sees_or_changes_what_is_anothers() {
    let served = server();
    let apis: Vec<Api> = (0..CALLERS).map(|number| served.caller(number)).collect();
    let all: Vec<Belongings> = std::thread::scope(|scope| {
        let each: Vec<_> = (0..CALLERS).map(|number| (number, &apis[number])).collect();
        let work: Vec<_> = each.into_iter().map(|(number, api)| scope.spawn(move || belongings(api, number))).collect();
        work.into_iter().map(|one| one.join().unwrap()).collect()
    });

    // Each tries everything with the next one's things, all at once.
    std::thread::scope(|scope| {
        for (number, api) in apis.iter().enumerate() {
            let theirs = &all[(number + 1) % CALLERS];
            scope.spawn(move || {
                let nobodys = made_up(theirs);
                for (request, other) in requests(theirs).iter().zip(&requests(&nobodys)) {
                    let (answer, expected) = (send(api, request), send(api, other));
                    assert_eq!(answer.status, 404, "caller {number}: {request:?}: {answer:?}");
                    assert_eq!(anonymous(&answer, theirs), anonymous(&expected, &nobodys), "{request:?}");
                }
                let run = json!({ "program": theirs.program });
                let own = &own_space(api);
                api.post(&format!("/v1/spaces/{own}/runs"), &run).problem(404, "not_found");
            });
        }
    });

    for (number, api) in apis.iter().enumerate() {
        let own = &all[number];
        let ids = |path: &str, key: &str| -> BTreeSet<String> {
            let page = api.get(path).with_status(200).json();
            assert!(page.get("next").is_none(), "{page}");
            let items = page["items"].as_array().unwrap().iter().filter(|item| item["source"] != "configuration");
            items.map(|item| text(&item[key])).collect()
        };
        assert_eq!(ids("/v1/spaces?limit=100", "id"), BTreeSet::from([own.space.clone()]));
        assert_eq!(ids("/v1/runs?limit=100", "id"), BTreeSet::from([own.run.clone()]));
        assert_eq!(ids("/v1/approvals?limit=100", "id"), BTreeSet::from([own.approval.clone()]));
        assert_eq!(ids("/v1/programs?limit=100", "name"), BTreeSet::from([own.program.clone()]));
        let next = &all[(number + 1) % CALLERS];
        for filter in [
            format!("/v1/runs?space={}", next.space),
            format!("/v1/approvals?run={}", next.run),
            format!("/v1/approvals?space={}", next.space),
        ] {
            assert_eq!(api.get(&filter).with_status(200).json(), json!({ "items": [] }), "{filter}");
        }
        let file = api.get(&format!("/v1/spaces/{}/files/own.txt", own.space)).with_status(200);
        assert_eq!(String::from_utf8_lossy(&file.body), format!("file of {number}"));
        assert_eq!(api.get(&format!("/v1/spaces/{}", own.space)).json()["name"], format!("space of {number}"));
        assert_eq!(api.get(&format!("/v1/approvals/{}", own.approval)).json()["status"], "pending");
    }
    let operator = served.operator();
    let (mut seen, mut path) = (0, "/v1/approvals?limit=100".to_owned());
    loop {
        let page = operator.get(&path).json();
        seen += page["items"].as_array().unwrap().len();
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/approvals?limit=100&cursor={next}");
    }
    assert_eq!(seen, CALLERS, "the operator sees all");
}

/// Returns the caller's own space.
fn own_space(api: &Api) -> String {
    let page = api.get("/v1/spaces").json();
    let spaces = page["items"].as_array().unwrap().iter();
    spaces.filter(|space| space["source"] == "api").map(id).next().unwrap()
}

/// Names are free for each caller.
#[test]
fn programs_of_one_name_are_different_programs() {
    let served = RestServer::new();
    for number in 0..2 {
        let api = served.caller(number);
        let new = json!({ "name": "report", "source": format!("export default {number};") });
        assert_eq!(api.post("/v1/programs", &new).with_status(201).json()["version"], 1);
    }
    for number in 0..2 {
        let api = served.caller(number);
        let path = format!("/v1/spaces/{}/runs?wait=30", api.new_space());
        assert_eq!(api.post(&path, &json!({ "program": "report" })).with_status(201).json()["value"], json!(number));
    }
}
