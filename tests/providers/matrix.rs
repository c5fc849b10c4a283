//! Provider matrix: one capability, implemented by every kind of provider, with the same answers, errors, events,
//! accounts, rules and approvals.
//!
//! `python3` runs the command and the MCP server. Without it these two are skipped with a message; with
//! `AGENT_SPACES_CI=1` they fail.

use crate::providers::native;
use crate::standard::support::{Project, Reply, Site};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const KINDS: [&str; 7] = ["native", "typescript", "mcp", "http", "command", "component", "space"];

/// Behaviour of every handler.
const HANDLER: &str = "async ({ text, count }) => {
    if (text === 'missing') throw new CapabilityError('No such note', { code: 'call.failed' });
    if (text === 'wrong') return { text: 5, count };
    return { text, count: count + 1 };
}";

const PYTHON: &str = r#"
import json, sys
def note(params):
    if params["text"] == "missing": return None
    if params["text"] == "wrong": return {"text": 5, "count": params["count"]}
    return {"text": params["text"], "count": params["count"] + 1}
if sys.argv[1] == "command":
    answer = note(json.load(sys.stdin))
    if answer is None: sys.exit(3)
    print(json.dumps(answer))
else:
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message: continue
        method = message["method"]
        if method == "initialize":
            result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                      "serverInfo": {"name": "desk", "version": "1"}}
        elif method == "tools/list":
            result = {"tools": json.load(open(sys.argv[2]))["tools"]}
        elif method == "tools/call":
            answer = note(message["params"]["arguments"])
            result = {"content": [{"type": "text", "text": "No such note"}], "isError": True} if answer is None else \
                     {"content": [], "structuredContent": answer}
        else:
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

fn schema() -> Value {
    let properties = json!({ "text": { "type": "string" }, "count": { "type": "integer", "maximum": 100 } });
    json!({ "type": "object", "properties": properties, "required": ["text", "count"] })
}

fn definition(function: Value, tool: Value) -> String {
    let mut note = json!({ "name": "note", "description": "Notes", "parameters": schema(), "returns": schema() });
    note.as_object_mut().unwrap().extend(function.as_object().unwrap().clone());
    let mut whole = json!({ "name": "desk", "description": "A desk", "functions": [note] });
    whole.as_object_mut().unwrap().extend(tool.as_object().unwrap().clone());
    whole.to_string()
}

fn has_python() -> bool {
    let is_there = std::process::Command::new("python3").arg("--version").output().is_ok();
    assert!(is_there || std::env::var_os("AGENT_SPACES_CI").is_none(), "there is no python3");
    is_there
}

/// A project whose space `work` has the capability, answered so; and what must live as long.
fn project(kind: &str, policy: &Value) -> Option<(Project, Option<Site>)> {
    if matches!(kind, "mcp" | "command") && !has_python() {
        eprintln!("skipped: {kind} needs python3");
        return None;
    }
    let project = Project::empty();
    let (mut config, mut site) = (json!({}), None);
    let exported = format!("export const note = {HANDLER};");
    let given = "./capabilities/desk.json";
    match kind {
        "typescript" => {
            project.write("capabilities/desk.json", definition(json!({}), json!({})));
            project.write("capabilities/desk.ts", exported);
        }
        "component" => {
            project.write("source/desk.json", definition(json!({}), json!({})));
            project.write("source/desk.ts", exported);
            project.write("capabilities/desk.json", definition(json!({}), json!({ "component": "../desk.wasm" })));
            let done = project.agent_spaces(&["compile", "source/desk.json", "--provider", "-o", "desk.wasm"]);
            assert_eq!(done.status, Some(0), "{done:?}");
        }
        "space" => {
            let script = json!({ "script": { "file": "../desk.ts", "space": "inner" } });
            project.write("capabilities/desk.json", definition(script, json!({})));
            project.write("desk.ts", format!("export default {HANDLER};"));
            config["spaces"]["inner"] = json!({});
        }
        "http" => {
            let server = Site::start(|request| {
                let asked: Value = serde_json::from_slice(&request.body).unwrap();
                let answer = match asked["text"].as_str() {
                    Some("missing") => return Reply::Whole(404, "application/json", b"{}".to_vec()),
                    Some("wrong") => json!({ "text": 5, "count": asked["count"] }),
                    _ => json!({ "text": asked["text"], "count": asked["count"].as_i64().unwrap() + 1 }),
                };
                Reply::Whole(200, "application/json", answer.to_string().into_bytes())
            });
            let request = json!({
                "method": "POST", "url": format!("http://localhost:{}/note", server.port),
                "body": { "text": "{{text}}", "count": "{{count}}" }, "errors": { "404": { "message": "No such note" } },
            });
            project.write("capabilities/desk.json", definition(json!({ "http": request }), json!({})));
            let http = json!({ "domains": ["localhost"], "private": ["localhost"] });
            config["providers"] = json!({ "@capabilities/desk": { "http": http } });
            site = Some(server);
        }
        "command" => {
            project.write("desk.py", PYTHON);
            let command = json!({
                "program": "python3", "args": ["../desk.py", "command"], "stdin": "params",
                "exitCodes": { "3": { "message": "No such note" } },
            });
            project.write("capabilities/desk.json", definition(json!({ "command": command }), json!({})));
        }
        _ => {
            project.write("desk.py", PYTHON);
            let tool =
                json!({ "name": "note", "description": "Notes", "inputSchema": schema(), "outputSchema": schema() });
            project.write("tools.json", json!({ "tools": [tool] }).to_string());
            config["mcpServers"] = json!({ "desk": {
                "command": "python3", "args": ["desk.py", "mcp", "tools.json"], "tools": "./tools.json",
            } });
        }
    }
    let given = if kind == "mcp" { "mcp:desk" } else { given };
    config["spaces"]["work"] = json!({ "capabilities": [given], "policy": policy });
    config["accounting"] = json!({ "file": "calls.jsonl" });
    project.configure(config);
    project.trust();
    Some((project, site))
}

/// Result of a script, with its events and accounts.
#[derive(Clone)]
pub(crate) struct Observed {
    pub(crate) value: Value,
    pub(crate) events: Vec<Value>,
    /// Accounting file: one line per call.
    pub(crate) accounts: String,
    /// Provider in the audit output.
    pub(crate) kind: Value,
}

/// Runs a script with this kind of provider; `None` if a required program is missing.
fn observe(kind: &str, policy: &Value, body: &str) -> Option<Observed> {
    let module = if kind == "mcp" { "mcp-desk" } else { "desk" };
    let script = format!(
        "import {{ desk }} from '@capabilities/{module}';
         const attempt = (params) => desk.note(params).catch((error) => [error.name, error.code, error.message]);
         {body}"
    );
    if kind == "native" {
        return Some(native::observe(policy, &script));
    }
    let (project, _site) = project(kind, policy)?;
    let done = project.run_with(&script, &["--space", "work", "--events", "--json"]);
    let audit = project.agent_spaces(&["audit", "work", "--json"]).json();
    // A provider may be a run with events of its own.
    let is_outer = |line: &Value| line.get("type").is_some() && line.get("parent").is_none();
    Some(Observed {
        value: done.value(),
        events: done.lines().into_iter().filter(is_outer).collect(),
        accounts: project.read("calls.jsonl").unwrap_or_default(),
        kind: audit["modules"][0]["interfaces"][0]["functions"][0]["provider"]["kind"].clone(),
    })
}

impl Observed {
    /// Events of a run without times and ids: their types and keys.
    fn event_shapes(&self) -> Vec<(&str, BTreeSet<&str>)> {
        let events = self.events.iter().map(|event| event.as_object().unwrap());
        events.map(|event| (event["type"].as_str().unwrap(), event.keys().map(String::as_str).collect())).collect()
    }

    /// Accounts of calls: outcome and keys of each line.
    fn account_shapes(&self) -> Vec<(Value, BTreeSet<String>)> {
        let account = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            // Lines of servers name the server, as other programs know them.
            let key = |key: &String| if key == "mcpServer" { "capability".to_owned() } else { key.clone() };
            // And they have the keys that other programs read there, and no more.
            let keys = line.as_object().unwrap().keys().filter(|key| *key != "functionId");
            (line["status"].clone(), keys.map(key).collect())
        };
        self.accounts.lines().map(account).collect()
    }
}

#[test]
fn every_kind_has_the_same_answers_errors_and_events() {
    let body = "export default [
        await attempt({ text: 'a', count: 4 }), await attempt({ text: 'ü \\n \"\\u{1f600}', count: 0 }),
        await attempt({ text: 'missing', count: 1 }), await attempt({ text: 'wrong', count: 1 }),
        await attempt({ text: 'a', count: 101 }), await attempt({ text: 'a' } as any),
    ];";
    let mut first: Option<Observed> = None;
    for kind in KINDS {
        let Some(seen) = observe(kind, &json!({}), body) else { continue };
        let said = &seen.value;
        assert_eq!(said[0], json!({ "text": "a", "count": 5 }), "{kind}");
        assert_eq!(said[1], json!({ "text": "ü \n \"\u{1f600}", "count": 1 }), "{kind}");
        assert_eq!(said[2], json!(["CapabilityError", "call.failed", "No such note"]), "{kind}");
        assert_eq!(said[3][1], "call.failed", "{kind}: {said}");
        assert!(said[3][2].as_str().unwrap().contains("does not fit its type"), "{kind}: {said}");
        assert_eq!((&said[4][1], &said[5][1]), (&json!("call.invalid"), &json!("call.invalid")), "{kind}");
        // The last one was refused for its type, and is a call all the same.
        let statuses: Vec<Value> = seen.account_shapes().into_iter().map(|(status, _)| status).collect();
        assert_eq!(statuses, ["ok", "ok", "failed", "failed", "failed", "failed"], "{kind}: {}", seen.accounts);
        let first = first.get_or_insert_with(|| seen.clone());
        assert_eq!(seen.event_shapes(), first.event_shapes(), "{kind}");
        assert_eq!(seen.account_shapes(), first.account_shapes(), "{kind}");
    }
}

#[test]
fn rules_and_approvals_are_the_same_for_every_kind() {
    let body = "export default await attempt({ text: 'a', count: 4 });";
    for kind in KINDS {
        let said = |rule: Value| Some(observe(kind, &json!({ "functions": { "desk.note": rule } }), body)?.value);
        // A denied function has no module to import.
        let Some(asked) = said(json!("approve")) else { continue };
        assert_eq!(asked[1], "call.approval_denied", "{kind}: {asked}");
        let bound = said(json!({ "arguments": { "count": { "max": 3 } } })).unwrap();
        let message = "desk.note: the policy does not allow this value of `count`";
        assert_eq!((&bound[1], &bound[2]), (&json!("call.denied"), &json!(message)), "{kind}");
        assert_eq!(said(json!("allow")).unwrap(), json!({ "text": "a", "count": 5 }), "{kind}");
    }
}

#[test]
fn the_audit_shows_the_kind_of_provider() {
    for kind in KINDS {
        let Some(seen) = observe(kind, &json!({}), "export default 1;") else { continue };
        assert_eq!(seen.kind, kind);
    }
}
