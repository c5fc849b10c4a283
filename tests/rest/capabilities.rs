//! Capabilities of spaces: list, declarations, search.

use crate::rest::client::text;
use crate::rest::server::RestServer;
use serde_json::{Value, json};

#[test]
fn a_space_shows_its_capabilities() {
    let served = RestServer::new();
    let api = served.operator();
    let narrow = text(&api.space(&json!({ "name": "narrow", "capabilities": ["./tools/mail.json"] }))["id"]);
    let names = |path: &str| -> Vec<String> {
        let page = api.get(path).with_status(200).json();
        page["items"].as_array().unwrap().iter().map(|item| text(&item["name"])).collect()
    };
    let all = names("/v1/capabilities?limit=100");
    assert!(all.contains(&"files".to_owned()) && all.contains(&"mail".to_owned()), "{all:?}");
    let own = names(&format!("/v1/capabilities?limit=100&space={narrow}"));
    assert!(!own.contains(&"files".to_owned()) && own.contains(&"mail".to_owned()), "{own:?}");

    let mail = api.get("/v1/capabilities/mail").with_status(200).json();
    let has = |member: &str, part: &str| mail[member].to_string().contains(part);
    assert!(has("functions", "send") && has("declarations", "send") && has("wit", "send"), "{mail}");
    // Its entry makes a space that has this capability, and the standard library, alone.
    assert_eq!(mail["entry"], "@capabilities/mail", "{mail}");
    let made = api.space(&json!({ "name": "mail", "capabilities": [mail["entry"]] }));
    let listed = made["capabilities"].as_array().unwrap();
    assert!(listed.contains(&mail["entry"]) && !listed.contains(&json!("@capabilities/files")), "{made}");
    let items = api.get("/v1/capabilities?limit=100").json()["items"].clone();
    assert!(items.as_array().unwrap().iter().all(|item| item["entry"].is_string()), "{items}");
    api.get(&format!("/v1/capabilities/files?space={narrow}")).problem(404, "not_found");
    api.get("/v1/capabilities/nothing").problem(404, "not_found");
}

#[test]
fn functions_have_schemas_and_decisions() {
    let served = RestServer::new();
    let api = served.caller(1);
    let functions =
        |name: &str| api.get(&format!("/v1/capabilities/{name}")).with_status(200).json()["functions"].clone();
    let send = &functions("mail")[0];
    assert_eq!(send["parameters"]["properties"]["to"]["type"], "string", "{send}");
    assert_eq!((&send["returns"]["type"], &send["decision"]), (&json!("string"), &json!("allow")), "{send}");
    let files = functions("files");
    let remove = files.as_array().unwrap().iter().find(|one| one["name"] == "files.remove").unwrap();
    assert_eq!(remove["decision"], "approval", "{remove}");
    // The standard library has declarations alone.
    let standard = functions("json");
    assert!(standard[0].get("parameters").is_none() && standard[0]["decision"] == "allow", "{standard}");
    let listed = api.get("/v1/capabilities?limit=100").json()["items"].to_string();
    assert!(!listed.contains("\"parameters\"") && !listed.contains("\"decision\""), "{listed}");
}

#[test]
fn search_finds_functions_of_the_space() {
    let served = RestServer::new();
    let api = served.operator();
    let narrow = text(&api.space(&json!({ "name": "narrow", "capabilities": ["./tools/mail.json"] }))["id"]);
    let found = |query: &str| -> Value { api.get(&format!("/v1/capabilities/search?{query}")).with_status(200).json() };
    let first = &found("q=remove%20files")["items"][0];
    assert_eq!((&first["name"], &first["module"]), (&json!("files.remove"), &json!("@capabilities/files")), "{first}");
    assert!(first["signature"].is_string(), "{first}");
    let others = found(&format!("q=remove%20files&space={narrow}"));
    assert!(!others.to_string().contains("@capabilities/files"), "{others}");
    for wrong in ["", "q=", "q=a&q=b", "q=a&limit=0", &format!("q={}", "x".repeat(9_000))] {
        api.get(&format!("/v1/capabilities/search?{wrong}")).problem(400, "request.invalid");
    }
}
