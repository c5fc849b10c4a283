//! What a caller's space cannot be given: more than the configured space that it is made of has.

use crate::rest::client::{Api, id, text};
use crate::rest::server::{RestServer, config};
use serde_json::{Value, json};

/// Names of the configured spaces that a caller sees.
fn configured(api: &Api) -> Vec<String> {
    let page = api.get("/v1/spaces").with_status(200).json();
    let spaces = page["items"].as_array().unwrap().iter();
    spaces.filter(|space| space["source"] == "configuration").map(|space| text(&space["name"])).collect()
}

/// Tries to make a space.
fn make(api: &Api, members: Value) -> crate::rest::client::Answer {
    let mut new = json!({ "name": "more" });
    members.as_object().unwrap().iter().for_each(|(key, value)| new[key] = value.clone());
    api.post("/v1/spaces", &new)
}

#[test]
fn more_than_the_base_has_is_denied_by_name() {
    let mut config = config();
    config["limits"] = json!({ "fuel": 1_000_000_000, "time": "10s" });
    config["policy"] = json!({ "approvals": { "expires": "5m" } });
    let served = RestServer::configured(&config);
    let api = served.operator();
    for (members, named) in [
        (json!({ "capabilities": ["mcp:slack"] }), "mcp:slack"),
        (json!({ "capabilities": ["./tools/files.json", "@company/internal-sdk"] }), "@company/internal-sdk"),
        (json!({ "capabilities": ["../elsewhere.json"] }), "../elsewhere.json"),
        (json!({ "base": "elsewhere" }), "/base"),
        (json!({ "limits": { "fuel": 1_000_000_001 } }), "/limits/fuel"),
        (json!({ "limits": { "timeMs": 10_001 } }), "/limits/timeMs"),
        (json!({ "base": "support", "limits": { "calls": 51 } }), "/limits/calls"),
        (json!({ "policy": { "http": { "enabled": true } } }), "/policy/http/enabled"),
        (json!({ "policy": { "approvals": { "expires": "6m" } } }), "/policy/approvals/expires"),
    ] {
        let detail = make(&api, members.clone()).problem(403, "space.denied");
        assert!(detail.contains(named), "{members}: {detail}");
    }
    assert_eq!(served.workspaces(), [] as [std::path::PathBuf; 0], "what is refused leaves nothing");
}

/// Whether such a policy is refused or has no effect, it loosens nothing.
#[test]
fn a_looser_policy_has_no_effect() {
    let mut config = config();
    let functions = json!({ "files.look": { "decision": "deny" }, "mail.send": { "maxPerRun": 2 } });
    config["policy"] = json!({ "functions": functions });
    let served = RestServer::configured(&config);
    let api = served.operator();
    let policies = [
        json!({ "functions": { "files.look": { "decision": "allow" }, "files.remove": { "decision": "allow" } } }),
        json!({ "functions": { "*": { "decision": "allow", "requiresApproval": false } } }),
        json!({ "functions": { "mail.send": { "maxPerRun": 9 } } }),
        json!({ "preset": "permissive" }),
    ];
    for policy in policies {
        let made = make(&api, json!({ "policy": policy }));
        if made.status != 201 {
            made.problem(403, "space.denied");
            continue;
        }
        let space = id(&made.json());
        let calls = "import { files } from '@capabilities/files';
            import { mail } from '@capabilities/mail';
            const attempt = (work) => work().then(() => 'done', (error) => error.code);
            const said = [await attempt(() => files.look({ path: 'a' })), await attempt(async () => fetch('http://example.com/'))];
            for (let count = 0; count < 3; count += 1) said.push(await attempt(() => mail.send({ to: 'a' })));
            export default said;";
        let run = api.run(&space, calls);
        let said = run["value"].as_array().unwrap_or_else(|| panic!("{policy}: {run}"));
        assert_eq!(said[0], "call.denied", "{policy}: {run}");
        assert_ne!(said[1], "done", "{policy}: {run}");
        assert_eq!((&said[2], &said[3]), (&json!("done"), &json!("done")), "{policy}: {run}");
        assert_ne!(said[4], "done", "{policy}: {run}");
        let asks = format!("/v1/spaces/{space}/runs?wait=1");
        let run = api.post(&asks, &json!({ "source": crate::rest::server::REMOVES })).with_status(202).json();
        assert_eq!(run["status"], "awaiting_approval", "{policy}: {run}");
    }
}

#[test]
fn less_than_the_base_has_is_given() {
    let served = RestServer::new();
    let api = served.operator();
    let policy = json!({ "functions": { "files.look": { "decision": "deny" } } });
    let made = make(&api, json!({ "base": "support", "policy": policy, "limits": { "calls": 2, "timeMs": 5_000 } }));
    let space = made.with_status(201).json();
    assert_eq!((&space["base"], &space["policy"]), (&json!("support"), &policy));
    assert_eq!((&space["limits"]["calls"], &space["limits"]["timeMs"]), (&json!(2), &json!(5_000)));
    let looks = "import { files } from '@capabilities/files';
        let said; try { said = await files.look({ path: 'a' }); } catch (error) { said = error.code; } export default said;";
    assert_eq!(api.run(&id(&space), looks)["value"], "call.denied");
    let sends = "import { mail } from '@capabilities/mail';
        for (let count = 0; count < 3; count += 1) await mail.send({ to: 'a' });";
    let run = api.run(&id(&space), sends);
    assert_eq!((&run["status"], &run["error"]["code"]), (&json!("failed"), &json!("limit.calls")), "{run}");
}

#[test]
fn configured_spaces_cannot_be_changed() {
    let served = RestServer::new();
    let api = served.operator();
    for space in api.get("/v1/spaces").json()["items"].as_array().unwrap() {
        let path = format!("/v1/spaces/{}", id(space));
        assert_eq!(api.get(&path).with_status(200).json(), *space);
        api.send_json("PATCH", &path, &[], &json!({ "name": "mine" })).problem(409, "space.configured");
        api.delete(&path).problem(409, "space.configured");
    }
    let before = api.get("/v1/spaces").json();
    let served = served.killed_and_started();
    assert_eq!(served.operator().get("/v1/spaces").json(), before, "their ids stay");
}

#[test]
fn a_caller_has_the_spaces_of_its_configuration() {
    let served = RestServer::new();
    let (operator, plain, support) = (served.operator(), served.caller(1), served.caller(2));
    assert_eq!(configured(&operator), ["global", "reports", "support"]);
    assert_eq!(configured(&plain), ["global"], "the served space");
    assert_eq!(configured(&support), ["support"]);
    let made = support.space(&json!({ "name": "mine" }));
    assert_eq!((&made["base"], &made["limits"]["calls"]), (&json!("support"), &json!(50)), "the first is the default");
    make(&support, json!({ "base": "reports" })).problem(403, "space.denied");
    make(&plain, json!({ "base": "support" })).problem(403, "space.denied");
    let reports = operator.get("/v1/spaces").json()["items"][1].clone();
    assert_eq!(reports["name"], "reports");
    support.get(&format!("/v1/spaces/{}", id(&reports))).problem(404, "not_found");
    let run = json!({ "source": "1" });
    support.post(&format!("/v1/spaces/{}/runs", id(&reports)), &run).problem(404, "not_found");
}
