//! Spaces of the configuration and of callers.

use crate::approvals::support::wait_until;
use crate::mcp::support::eventually;
use crate::rest::client::{id, text};
use crate::rest::server::{REMOVES, RestServer, SLEEPS};
use serde_json::{Value, json};
use std::time::Duration;

/// Returns all pages of a list.
fn pages(api: &crate::rest::client::Api, path: &str) -> Vec<Vec<Value>> {
    let (mut pages, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = api.get(&format!("{path}{cursor}")).with_status(200).json();
        pages.push(page["items"].as_array().unwrap().clone());
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return pages,
        }
        assert!(pages.len() < 100, "the list never ends");
    }
}

#[test]
fn a_space_has_the_capabilities_that_its_maker_asks_for() {
    let served = RestServer::new();
    let api = served.operator();
    let new = json!({ "name": "support-ticket-4812", "capabilities": ["./tools/files.json"] });
    let made = api.post("/v1/spaces", &new).with_status(201);
    let space = made.json();
    let path = format!("/v1/spaces/{}", id(&space));
    assert!(id(&space).starts_with("spc_"), "{space}");
    assert_eq!(made.header("location"), Some(path.as_str()));
    assert_eq!((&space["name"], &space["source"]), (&json!("support-ticket-4812"), &json!("api")));
    let modules: Vec<String> = space["modules"].as_array().unwrap().iter().map(text).collect();
    let has = |name: &str| modules.iter().any(|module| module == name);
    assert!(has("@capabilities/files") && !has("@capabilities/mail"), "{space}");

    let got = api.get(&path).with_status(200);
    assert_eq!((got.json(), got.etag()), (space.clone(), made.etag()));
    assert_eq!(space["etag"], made.etag());

    let allowed = "import { files } from '@capabilities/files'; export default await files.look({ path: 'a' });";
    let run = api.run(&id(&space), allowed);
    assert_eq!((&run["status"], &run["value"]), (&json!("finished"), &json!("saw a")), "{run}");
    let refused = "import { mail } from '@capabilities/mail'; export default await mail.send({ to: 'a' });";
    let refused = api.post(&format!("{path}/runs?wait=30"), &json!({ "source": refused }));
    refused.problem(422, "import.denied");
}

#[test]
fn spaces_are_listed_page_by_page() {
    let served = RestServer::new();
    let api = served.operator();
    let mut made: Vec<String> = (0..7).map(|_| api.new_space()).collect();
    made.reverse();
    let pages = pages(&api, "/v1/spaces?limit=3");
    let listed: Vec<Value> = pages.concat();
    let of = |source: &str| listed.iter().filter(|space| space["source"] == source).map(id).collect::<Vec<_>>();
    assert_eq!(of("api"), made, "newest first, each once");
    let configured: Vec<&Value> = listed.iter().filter(|space| space["source"] == "configuration").collect();
    let names: Vec<String> = configured.iter().map(|space| text(&space["name"])).collect();
    assert_eq!(names, ["global", "reports", "support"]);
    let sizes: Vec<usize> = pages.iter().map(Vec::len).collect();
    assert_eq!(sizes, [3, 3, 3, 1], "a page has at most `limit` items");
    api.get("/v1/spaces?limit=0").problem(400, "request.invalid");
    api.get("/v1/spaces?limit=101").problem(400, "request.invalid");
    api.get("/v1/spaces?cursor=nonsense").problem(400, "request.invalid");
}

#[test]
fn a_change_needs_the_current_etag() {
    let served = RestServer::new();
    let api = served.operator();
    let made = api.post("/v1/spaces", &json!({ "name": "first" })).with_status(201);
    let path = format!("/v1/spaces/{}", id(&made.json()));
    let change = |etag: &str, body: Value| api.send_json("PATCH", &path, &[("if-match", etag)], &body);
    let changed = change(&made.etag(), json!({ "name": "second", "limits": { "calls": 3 }, "ttlSeconds": 600 }));
    let space = changed.json();
    assert_eq!((changed.status, &space["name"], &space["limits"]["calls"]), (200, &json!("second"), &json!(3)));
    assert!(space["expiresAt"].is_string(), "{space}");
    assert_ne!(changed.etag(), made.etag());
    change(&made.etag(), json!({ "name": "third" })).problem(412, "precondition");
    api.send("DELETE", &path, &[("if-match", &made.etag())], b"").problem(412, "precondition");
    change(&changed.etag(), json!({ "limits": { "fuel": 1_000_000_000_001_u64 } })).problem(403, "space.denied");
    change(&changed.etag(), json!({ "name": "" })).problem(400, "request.invalid");
    assert_eq!(api.get(&path).json(), space, "what is refused changes nothing");
}

#[test]
fn a_change_of_capabilities_and_policy_is_checked_as_a_new_space_is() {
    let served = RestServer::new();
    let api = served.operator();
    let made = api.post("/v1/spaces", &json!({ "name": "first" })).with_status(201);
    let space = id(&made.json());
    let path = format!("/v1/spaces/{space}");
    let change = |etag: &str, body: Value| api.send_json("PATCH", &path, &[("if-match", etag)], &body);
    let waiting = api.start(&space, REMOVES);
    let approval = wait_until("it asks", || api.get("/v1/approvals?status=pending").json()["items"].get(0).map(id));

    let policy = json!({ "functions": { "mail.send": { "decision": "deny" } } });
    let body = json!({ "capabilities": ["./tools/mail.json"], "policy": policy });
    let changed = change(&made.etag(), body).with_status(200);
    let shown = changed.json();
    let modules: Vec<String> = shown["modules"].as_array().unwrap().iter().map(text).collect();
    assert!(modules.iter().any(|module| module == "@capabilities/mail"), "{shown}");
    assert!(!modules.iter().any(|module| module == "@capabilities/files"), "{shown}");
    assert_eq!((&shown["policy"], &shown["name"]), (&policy, &json!("first")));
    let listed = api.get("/v1/spaces?limit=100").json();
    assert!(listed["items"].as_array().unwrap().contains(&shown), "{listed}");

    for (wrong, status, code) in [
        (json!({ "capabilities": ["mcp:slack"] }), 403, "space.denied"),
        (json!({ "policy": { "http": { "enabled": true } } }), 403, "space.denied"),
        (json!({ "policy": { "functions": 1 } }), 400, "request.invalid"),
        (json!({ "capabilities": null }), 400, "request.invalid"),
        (json!({ "policy": null }), 400, "request.invalid"),
    ] {
        change(&changed.etag(), wrong).problem(status, code);
    }
    change(&made.etag(), json!({ "capabilities": [] })).problem(412, "precondition");
    assert_eq!(api.get(&path).json(), shown, "what is refused changes nothing");

    // New runs have what the space has now: no function of `mail`, and nothing of `files`.
    let sends = "import { mail } from '@capabilities/mail'; export default await mail.send({ to: 'a' });";
    for (source, code) in [(sends, "import.unknown"), (REMOVES, "import.denied")] {
        api.post(&format!("{path}/runs"), &json!({ "source": source })).problem(422, code);
    }
    let is_change = |item: &Value| item["entry"]["action"] == "space.changed" && item["entry"]["spaceId"] == *space;
    wait_until("it is recorded", || {
        let entries = api.get("/v1/audit?limit=100").with_status(200).json();
        entries["items"].as_array().unwrap().iter().any(is_change).then_some(())
    });

    // One that waits keeps what it had, also in another process.
    let served = served.killed_and_started();
    let api = served.operator();
    api.post(&format!("/v1/approvals/{approval}/decision"), &json!({ "decision": "approve" })).with_status(200);
    let ended = api.ended(&waiting);
    assert_eq!((&ended["status"], &ended["value"]), (&json!("finished"), &json!("removed a")), "{ended}");
    assert_eq!(api.get(&path).json(), shown);
}

#[test]
fn a_deleted_space_takes_its_runs_and_files_along() {
    let served = RestServer::new();
    let api = served.operator();
    let (space, other) = (api.new_space(), api.new_space());
    let path = format!("/v1/spaces/{space}");
    api.put(&format!("{path}/files/notes.txt"), b"hello").with_status(201);
    let runs = [api.start(&space, SLEEPS), api.start(&space, REMOVES), api.start(&space, "for (;;);")];
    let kept = api.start(&other, SLEEPS);
    let of_server = |space: &str| served.home.state().join("spaces/0123456789abcdef").join(space).join("memory");
    for space in [&space, &other] {
        std::fs::create_dir_all(of_server(space)).unwrap();
        std::fs::write(of_server(space).join("memory.jsonl"), "{}").unwrap();
    }
    assert!(served.workspaces().iter().any(|folder| folder.join("notes.txt").is_file()));
    api.delete(&path).with_status(204);
    for run in &runs {
        let run = api.ended(run);
        assert_eq!((&run["status"], &run["error"]["code"]), (&json!("cancelled"), &json!("run.cancelled")), "{run}");
    }
    assert!(!served.workspaces().iter().any(|folder| folder.ends_with(&space)), "its files are gone");
    assert!(!of_server(&space).exists() && of_server(&other).exists(), "folders of MCP servers are those of one space");
    api.get(&path).problem(404, "not_found");
    api.delete(&path).problem(404, "not_found");
    api.get(&format!("{path}/files/notes.txt")).problem(404, "not_found");
    api.post(&format!("{path}/runs"), &json!({ "source": "1" })).problem(404, "not_found");
    assert!(!["cancelled", "failed"].contains(&&*api.status(&kept)), "runs of other spaces go on");
}

#[test]
fn a_space_ends_with_its_time() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.space(&json!({ "name": "short", "ttlSeconds": 1 }));
    assert!(space["expiresAt"].is_string(), "{space}");
    let path = format!("/v1/spaces/{}", id(&space));
    let waiting = api.start(&id(&space), SLEEPS);
    assert!(eventually(Duration::from_secs(5), || api.get(&path).status == 404));
    let ended = api.ended(&waiting);
    assert_eq!(ended["status"], "cancelled", "{ended}");
    assert!(eventually(Duration::from_secs(5), || served.workspaces().is_empty()));
    let listed = api.get("/v1/spaces?limit=100").json();
    assert!(!listed.to_string().contains(&id(&space)), "{listed}");
    for wrong in [json!(0), json!(-1), json!(1.5), json!("1"), json!(u64::MAX)] {
        let refused = api.post("/v1/spaces", &json!({ "name": "short", "ttlSeconds": wrong }));
        refused.problem(400, "request.invalid");
    }
}

/// The time goes on while no server runs.
#[test]
fn a_space_whose_time_ended_without_a_server_is_gone() {
    let served = RestServer::new();
    let space = id(&served.operator().space(&json!({ "name": "short", "ttlSeconds": 2 })));
    let waiting = served.operator().start(&space, SLEEPS);
    let home = served.home.clone();
    served.terminated();
    std::thread::sleep(Duration::from_secs(2));
    let served = RestServer::start(&home, &[]);
    let api = served.operator();
    api.get(&format!("/v1/spaces/{space}")).problem(404, "not_found");
    assert_eq!(api.ended(&waiting)["status"], "cancelled");
}

#[test]
fn a_repeated_request_makes_one_space() {
    let served = RestServer::new();
    let (api, other) = (served.operator(), served.caller(0));
    let make = |api: &crate::rest::client::Api, name: &str| {
        let new = json!({ "name": name, "ttlSeconds": 600 });
        api.send_json("POST", "/v1/spaces", &[("idempotency-key", "ticket-4812")], &new)
    };
    let first = make(&api, "first").with_status(201).json();
    assert_eq!(id(&make(&api, "first").with_status(200).json()), id(&first));
    make(&api, "second").problem(422, "request.idempotency");
    assert_ne!(id(&make(&other, "first").with_status(201).json()), id(&first), "a key is its caller's own");
}

#[test]
fn a_list_makes_no_space() {
    let served = RestServer::new();
    let space = served.operator().space(&json!({ "name": "listed", "capabilities": ["./tools/files.json"] }));
    let folders = served.workspaces();
    assert_eq!(folders.len(), 1);
    let served = served.killed_and_started();
    std::fs::remove_dir_all(&folders[0]).unwrap();
    let api = served.operator();
    let listed = api.get("/v1/spaces?limit=100").with_status(200).json();
    let own = listed["items"].as_array().unwrap().iter().find(|one| id(one) == id(&space)).cloned();
    assert_eq!(served.workspaces().len(), 0, "its folder is made when it is used");
    assert_eq!(own, Some(api.get(&format!("/v1/spaces/{}", id(&space))).with_status(200).json()));
}

/// JSON Schema counts `60.0` as an integer.
#[test]
fn whole_numbers_may_have_a_decimal_point() {
    let served = RestServer::new();
    let api = served.operator();
    let made = api.space(&json!({ "name": "x", "ttlSeconds": 60.0, "limits": { "timeMs": 5_000.0, "calls": 7.0 } }));
    assert_eq!((&made["limits"]["timeMs"], &made["limits"]["calls"]), (&json!(5_000), &json!(7)), "{made}");
    let run = json!({ "source": "export default 1", "limits": { "calls": 3.0 } });
    api.post(&format!("/v1/spaces/{}/runs?wait=30", id(&made)), &run).with_status(201);
    for wrong in [json!(1.5), json!(-1.0), json!("1"), json!(1e300)] {
        let refused = api.post("/v1/spaces", &json!({ "name": "x", "limits": { "calls": wrong } }));
        refused.problem(400, "request.invalid");
        assert_eq!(refused.json()["errors"][0]["pointer"], "/limits/calls", "{refused:?}");
    }
}
