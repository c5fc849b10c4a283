//! Checks of programs, explanations of decisions, and the caller itself.

use crate::rest::client::{Api, text};
use crate::rest::server::RestServer;
use serde_json::{Value, json};

const LOOKS: &str = "import { files } from '@capabilities/files';
export default await files.look({ path: 'a' });";

fn check(api: &Api, space: &str, source: &str) -> Value {
    api.post(&format!("/v1/spaces/{space}/check"), &json!({ "source": source })).with_status(200).json()
}

fn explain(api: &Api, space: &str, body: &Value) -> Value {
    api.post(&format!("/v1/spaces/{space}/explain"), body).with_status(200).json()
}

#[test]
fn a_caller_is_told_who_it_is() {
    let served = RestServer::new();
    let me = |api: &Api| api.get("/v1/me").with_status(200).json();
    let operator = me(&served.operator());
    let version = env!("CARGO_PKG_VERSION");
    let expected = json!({ "name": "the operator", "operator": true, "mayApprove": true, "version": version });
    assert_eq!(operator, expected);
    for (number, may_approve) in [(0, true), (1, false)] {
        let caller = me(&served.caller(number));
        assert_eq!((&caller["name"], &caller["operator"]), (&json!(format!("caller-{number}")), &json!(false)));
        assert_eq!(caller["mayApprove"], may_approve);
    }
}

#[test]
fn a_program_that_is_right_shows_what_it_can_reach() {
    let served = RestServer::new();
    let api = served.operator();
    let space = api.new_space();
    let found = check(&api, &space, LOOKS);
    assert_eq!((&found["diagnostics"], &found["more"]), (&json!([]), &json!(0)), "{found}");
    assert!(found["types"]["checked"] == true || found["types"]["reason"].is_string(), "{found}");
    let manifest = &found["manifest"];
    let functions = manifest["interfaces"][0]["functions"].as_array().unwrap();
    let look = functions.iter().find(|function| function["function"] == "files.look").unwrap();
    assert_eq!((&look["decision"], &look["namedAt"][0]["line"]), (&json!("allow"), &json!(2)), "{manifest}");
    assert!(look["because"].is_string() && manifest["limits"]["fuel"].is_u64(), "{manifest}");
    assert_eq!(api.get("/v1/runs").json()["items"], json!([]), "nothing ran");

    // Rules and providers are for the operator.
    let caller = served.caller(1);
    let shown = check(&caller, &caller.new_space(), LOOKS)["manifest"].to_string();
    assert!(shown.contains("files.look"), "{shown}");
    for hidden in ["because", "terms", "description", "workspace"] {
        assert!(!shown.contains(&format!("\"{hidden}\"")), "{hidden}: {shown}");
    }
}

#[test]
fn mistakes_have_their_place() {
    let served = RestServer::new();
    let api = served.caller(1);
    let space = api.new_space();
    let unknown = "\nimport { x } from '@capabilities/nothing'; export default x;";
    for (source, code, line) in [("1;\nconst x = ;", "script.syntax", 2), (unknown, "import.unknown", 2)] {
        let found = check(&api, &space, source);
        let first = &found["diagnostics"][0];
        assert_eq!((&first["code"], &first["line"]), (&json!(code), &json!(line)), "{found}");
        assert_eq!((&first["severity"], &found["types"]["checked"]), (&json!("error"), &json!(false)), "{found}");
        assert!(found.get("manifest").is_none(), "{found}");
    }
    // With and without a compiler.
    let found = check(&api, &space, &LOOKS.replace("files.look", "files.nothing"));
    let first = &found["diagnostics"][0];
    assert_eq!((&first["severity"], &first["line"]), (&json!("error"), &json!(2)), "{found}");
    assert!(text(&first["message"]).contains("nothing"), "{found}");
    let path = format!("/v1/spaces/{space}/check");
    api.post(&path, &json!({ "source": "1", "name": "a/b" })).problem(400, "request.invalid");
    served.caller(0).post(&path, &json!({ "source": "1" })).problem(404, "not_found");
}

#[test]
fn a_decision_is_explained() {
    let served = RestServer::new();
    let api = served.operator();
    let policy = json!({ "functions": { "mail.send": "deny" } });
    let space = text(&api.space(&json!({ "name": "careful", "policy": policy }))["id"]);
    let decision = |function: &str| explain(&api, &space, &json!({ "function": function }))["decision"].clone();
    assert_eq!(decision("files.look"), "allow");
    assert_eq!(decision("files.remove"), "approval");
    assert_eq!(decision("mail.send"), "deny");
    let files = api.get(&format!("/v1/capabilities/files?space={space}")).json();
    let remove = files["functions"].as_array().unwrap().iter().find(|one| one["name"] == "files.remove").unwrap();
    assert_eq!(decision(&text(&remove["id"])), "approval");
    let denied = explain(&api, &space, &json!({ "function": "mail.send" }));
    assert!(denied["because"].is_string() && text(&denied["text"]).contains("mail.send: deny"), "{denied}");

    let call = |params: Value| explain(&api, &space, &json!({ "function": "files.look", "params": params }));
    assert_eq!(call(json!({ "path": "a" }))["decision"], "allow");
    let wrong = call(json!({ "path": 5 }));
    assert_eq!((&wrong["decision"], &wrong["rules"][0]["passes"]), (&json!("deny"), &json!(false)), "{wrong}");
    let path = format!("/v1/spaces/{space}/explain");
    api.post(&path, &json!({ "function": "files.nothing" })).problem(404, "not_found");
    api.post(&path, &json!({ "function": "" })).problem(400, "request.invalid");
}

/// Rules over functions allow `fs` and `http`; without files and network their calls fail all the same.
#[test]
fn what_a_space_has_no_files_or_network_for_is_denied() {
    let served = RestServer::new();
    let api = served.operator();
    let of = |policy: Value, function: &str| {
        let space = text(&api.space(&json!({ "name": "reach", "policy": policy }))["id"]);
        explain(&api, &space, &json!({ "function": function }))
    };
    let fetches = of(json!({}), "http.get");
    assert_eq!(fetches["decision"], "deny", "{fetches}");
    assert!(text(&fetches["text"]).contains("fails: programs must have a network"), "{fetches}");
    for (policy, reads, writes) in [
        (json!({}), "allow", "allow"),
        (json!({ "fs": { "write": false } }), "allow", "deny"),
        (json!({ "fs": { "read": false, "write": false } }), "deny", "deny"),
    ] {
        let read = of(policy.clone(), "fs.readFile");
        assert_eq!(read["decision"], reads, "{policy}: {read}");
        let write = of(policy.clone(), "fs.writeFile");
        assert_eq!(write["decision"], writes, "{policy}: {write}");
    }
}

/// Like everywhere else, a function that a caller may not call does not exist for it.
#[test]
fn callers_learn_nothing_of_what_is_denied() {
    let served = RestServer::new();
    let api = served.caller(1);
    let policy = json!({ "functions": { "mail.send": "deny" } });
    let space = text(&api.space(&json!({ "name": "careful", "policy": policy }))["id"]);
    let path = format!("/v1/spaces/{space}/explain");
    let denied = api.post(&path, &json!({ "function": "mail.send" }));
    let unknown = api.post(&path, &json!({ "function": "mail.nothing" }));
    assert_eq!((denied.status, &denied.body), (404, &unknown.body));
    let removes = explain(&api, &space, &json!({ "function": "files.remove" }));
    assert_eq!((&removes["decision"], removes.get("because")), (&json!("approval"), None), "{removes}");
}
