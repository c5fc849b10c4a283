//! MCP servers: what is seen of them without a start, and acceptance of changed tools.

use crate::mcp::support::{hostile, script};
use crate::rest::client::{Api, text};
use crate::rest::server::{RestServer, config, home};
use serde_json::{Value, json};

/// Script that calls a tool. Its value is the answer, or the error's code.
fn echo() -> String {
    script(
        &["hostile"],
        "let said; try { said = await hostile.echo({ message: 'x' }); } catch (error) { said = error.code; }
export default said;",
    )
}

fn servers(api: &Api) -> Value {
    api.get("/v1/servers").with_status(200).json()["items"].clone()
}

#[test]
fn a_changed_server_is_reviewed_and_accepted() {
    let Some(server) = hostile(&["--more", "flags"]) else { return };
    let mut config = config();
    config["mcpServers"] = json!({ "hostile": server });
    config["spaces"]["reports"] = json!({ "capabilities": ["mcp:hostile"] });
    config["serve"]["callers"]["caller-1"]["spaces"] = json!(["reports"]);
    let home = home(&config);
    assert_eq!(home.finish(&["mcp", "accept"]).status, Some(0));
    let served = RestServer::start(&home, &[]);
    let (operator, caller) = (served.operator(), served.caller(1));

    let idle = servers(&operator)[0].clone();
    assert_eq!(
        (&idle["name"], &idle["status"], &idle["transport"]),
        (&json!("hostile"), &json!("idle"), &json!("stdio"))
    );
    assert!(idle["tools"].as_u64() > Some(0) && idle.get("checkedAt").is_none(), "it is not started: {idle}");
    assert_eq!(servers(&caller)[0]["spaces"].as_array().map(Vec::len), Some(1));
    for other in [served.caller(0), served.caller(2)] {
        assert_eq!(servers(&other), json!([]), "none of their spaces has it");
    }
    let space = text(&servers(&caller)[0]["spaces"][0]);
    assert_eq!(caller.run(&space, &echo())["value"], json!({ "message": "x" }));
    let connected = servers(&caller)[0].clone();
    assert!(connected["status"] == "connected" && connected["checkedAt"].is_string(), "{connected}");

    drop(served);
    home.write("flags", "--schema-version\n2");
    let served = RestServer::start(&home, &[]);
    let (operator, caller) = (served.operator(), served.caller(1));
    assert_eq!(servers(&operator)[0]["status"], "idle", "nothing is known before it is started");
    assert_eq!(caller.run(&space, &echo())["value"], "call.denied");
    let changed = servers(&operator)[0].clone();
    assert_eq!((&changed["status"], &changed["changes"][0]["name"]), (&json!("changed"), &json!("echo")));
    let change = &changed["changes"][0];
    assert_eq!((&change["kind"], &change["breaking"]), (&json!("changed"), &json!(true)));
    assert!(!text(&change["before"]).contains("version_2") && text(&change["after"]).contains("version_2"), "{change}");
    assert!(text(&change["text"]).contains("the schema of the tool `echo` changed"), "{change}");
    let seen = servers(&caller)[0].clone();
    assert_eq!(seen["status"], "changed");
    assert!(seen.get("changes").is_none() && !seen.to_string().contains("version_2"), "nobody accepted it: {seen}");

    let accept = "/v1/servers/hostile/accept";
    caller.post(accept, &json!({})).problem(403, "auth.denied");
    operator.post("/v1/servers/nobody/accept", &json!({})).problem(404, "not_found");
    operator.post(accept, &json!({ "offer": "what was seen before" })).problem(409, "server.changed");
    assert_eq!(servers(&operator)[0]["status"], "changed", "nothing was accepted");
    let accepted = operator.post(accept, &json!({ "offer": changed["offer"] })).with_status(200).json();
    assert!(accepted["status"] != "changed" && accepted.get("changes").is_none(), "{accepted}");
    assert_eq!(caller.run(&space, &echo())["value"], json!({ "message": "x" }));
    let entries = operator.get("/v1/audit?type=server.accepted&order=newest").with_status(200).json();
    let entry = &entries["items"][0]["entry"];
    assert_eq!((&entry["server"], &entry["operator"]), (&json!("hostile"), &json!(true)), "{entries}");
}

#[test]
fn a_server_that_does_not_start_is_not_waited_for() {
    let Some(server) = hostile(&["--exit-at-start"]) else { return };
    let mut config = config();
    config["mcpServers"] = json!({ "hostile": server });
    config["capabilities"]["global"] = json!(["./tools/files.json", "mcp:hostile"]);
    let home = home(&config);
    let file = home.path("project/agent-spaces.config.json");
    let served = RestServer::start(&home, &["--config", file.to_str().unwrap()]);
    let operator = served.operator();
    let failed = crate::approvals::support::wait_until("it fails", || {
        Some(servers(&operator)[0].clone()).filter(|server| server["status"] == "failed")
    });
    assert!(text(&failed["error"]).contains("exited"), "{failed}");
    let seen = servers(&served.caller(0))[0].clone();
    assert!(seen["status"] == "failed" && !text(&seen["error"]).contains("refusing to start"), "{seen}");
    assert!(!text(&seen["error"]).contains("--config"), "where the configuration is, is for the operator: {seen}");
    operator.post("/v1/servers/hostile/accept", &json!({})).with_status(503);
}
