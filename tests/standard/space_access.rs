//! Access of a space, in `agent-spaces audit SPACE` and `agent-spaces spaces show`.

use crate::standard::support::Project;
use serde_json::{Value, json};

fn project() -> Project {
    let functions = json!({
        "pay.find": { "idempotent": true, "cache": "90s", "retries": 2, "concurrency": 4, "timeout": "5s" },
        "pay.send": {
            "arguments": { "amount": { "max": 100 } }, "maxPerDay": 5, "scopes": ["money"],
            "rateLimit": { "requests": 2, "period": "minute" }, "requiresApproval": true,
        },
        "crypto.*": "deny", "fs.delete": "approve",
    });
    let project = Project::new(json!({
        "capabilities": { "global": ["./tools/pay.json"] },
        "spaces": { "work": {
            "workspace": "./files",
            "policy": { "preset": "standard", "functions": functions, "http": { "domains": ["api.example"] } },
        } },
    }));
    let function =
        |name: &str| json!({ "name": name, "description": name, "parameters": { "amount": { "type": "number" } } });
    let functions = ["find", "send", "list"].map(function);
    let definition = json!({ "name": "pay", "functions": functions });
    project.write("tools/pay.json", definition.to_string());
    project.write("tools/pay.ts", "export const find = () => 1, send = find, list = find;");
    project.write("files/a.txt", "a");
    project
}

#[test]
fn text_output_shows_decisions_limits_and_middleware() {
    let project = project();
    let done = project.agent_spaces(&["audit", "work"]);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = done.stdout.lines().map(words).collect();
    let after = |line: &str, expected: &[&str]| {
        let at = lines.iter().position(|each| each == line);
        let at = at.unwrap_or_else(|| panic!("no {line:?} in\n{}", done.stdout));
        assert_eq!(lines[at + 1..][..expected.len()], *expected, "after {line:?} in\n{}", done.stdout);
    };
    let middleware = [
        "answers are cached for 1m 30s",
        "transient failures are retried up to 2 times",
        "at most 4 concurrent calls, others wait",
        "timeout 5s",
        "pay.send asks for approval",
    ];
    after("pay.find asks for approval", &middleware);
    let bounds = [
        "the argument `amount` must be at most 100",
        "the caller must have the scope `money`",
        "at most 5 calls in one day",
        "2 requests per minute",
        "pay.list asks for approval",
    ];
    after("pay.send asks for approval", &bounds);
    after("@agent-spaces/std", &["provider: the host", "crypto.* denied", "csv.* allowed"]);
    let files = format!(
        "files: reads and writes {}, at most 9.5M each and 95.4M in all",
        project.path("files").canonicalize().unwrap().display()
    );
    for line in [
        "fs.delete asks for approval",
        "fs.readFile allowed",
        &files,
        "network: GET, HEAD of api.example",
        "limits: 30s, 64.0M, 500 calls, 10000000000 units of fuel",
    ] {
        assert!(lines.iter().any(|each| each == line), "no {line:?} in\n{}", done.stdout);
    }
}

#[test]
fn json_output_has_the_same_contents() {
    let project = project();
    let audit = project.agent_spaces(&["audit", "work", "--json"]).json();
    let function = |module: usize, name: &str| -> Value {
        let interfaces = audit["modules"][module]["interfaces"].as_array().unwrap();
        let mut functions = interfaces.iter().flat_map(|interface| interface["functions"].as_array().unwrap());
        functions.find(|function| function["function"] == name).cloned().unwrap()
    };
    assert_eq!(audit["modules"][0]["module"], "@capabilities/pay");
    assert_eq!(
        function(0, "pay.list"),
        json!({
            "function": "pay.list", "id": "capabilities:pay/pay@1.0.0#list", "owner": null, "tags": [],
            "decision": "approve", "because": "the preset `standard`", "terms": [],
            "provider": { "kind": "typescript", "description": "tools/pay.ts in a sandbox of its own" },
        })
    );
    assert_eq!(function(0, "pay.find")["terms"].as_array().unwrap().len(), 4);
    assert_eq!(audit["modules"][1]["module"], "@agent-spaces/std");
    assert_eq!(function(1, "crypto.uuid")["decision"], "deny");
    assert_eq!(function(1, "crypto.uuid")["provider"]["kind"], "native");
    let shown = project.agent_spaces(&["spaces", "show", "work", "--json"]).json();
    for part in ["files", "network", "limits"] {
        assert_eq!(audit[part], shown[part], "{part}");
        assert!(audit[part].is_object(), "{part}");
    }
    let text = project.agent_spaces(&["spaces", "show", "work"]).stdout;
    assert!(text.contains("\nnetwork: GET, HEAD of api.example\nlimits: 30s, 64.0M, 500 calls"), "{text}");
}
