//! `agent-spaces policy explain`.

use crate::standard::support::{CommandOutput, Project};
use serde_json::json;

fn project() -> Project {
    let functions = json!({
        "fs.*": "approve", "fs.stat": "allow", "fs.delete": "deny",
        "fs.writeFile": {
            "decision": "allow", "arguments": { "path": { "matches": "out/*" } }, "maxPerRun": 2, "scopes": ["writer"],
        },
    });
    let project = Project::new(json!({
        "policy": { "functions": { "json.parse": { "rateLimit": { "requests": 5, "period": "minute" } } } },
        "spaces": { "work": { "policy": { "functions": functions } } },
    }));
    project.write("script.ts", "");
    project
}

fn explain(project: &Project, arguments: &[&str]) -> CommandOutput {
    project.agent_spaces(&[&["policy", "explain"], arguments].concat())
}

#[test]
fn the_deciding_rule_is_named_with_its_exit_status() {
    let project = project();
    let place = |name: &str| format!("$.spaces.work.policy.functions[\"{name}\"]");
    for (function, first, status) in [
        ("fs.stat", format!("fs.stat: allow, by {}", place("fs.stat")), 0),
        ("fs.delete", format!("fs.delete: deny, by {}", place("fs.delete")), 4),
        ("fs.list", format!("fs.list: approve, by {}", place("fs.*")), 4),
        ("time.now", "time.now: allow, by default".to_owned(), 0),
    ] {
        let done = explain(&project, &["work", function]);
        assert_eq!((done.stdout.lines().next(), done.status), (Some(first.as_str()), Some(status)), "{done:?}");
    }
    let done = explain(&project, &["work", "fs.stat"]);
    let overruled = format!("  `fs.*` says approve, but is overridden ({})", place("fs.*"));
    assert!(done.stdout.lines().any(|line| line == overruled), "{}", done.stdout);
    // Capabilities of all scripts, without a space.
    let done = explain(&project, &["-", "fs.delete"]);
    assert_eq!((done.stdout.as_str(), done.status), ("fs.delete: allow, by default\n", Some(0)));
    let done = explain(&project, &["-", "json.parse"]);
    assert!(done.stdout.contains("5") && done.stdout.contains("minute"), "{}", done.stdout);
}

#[test]
fn given_arguments_are_checked() {
    let project = project();
    let all = explain(&project, &["work", "fs.writeFile"]);
    for part in ["the argument `path` must match `out/*`", "at most 2 calls in one run", "the scope `writer`"] {
        assert!(all.stdout.contains(part), "{}", all.stdout);
    }
    assert_eq!(all.status, Some(0));
    let given = |path: &str| {
        explain(&project, &["work", "fs.writeFile", "--args", &json!({ "path": path, "text": "" }).to_string()])
    };
    let good = given("out/a");
    assert!(good.stdout.contains("passes: the argument `path`"), "{}", good.stdout);
    assert_eq!(good.status, Some(0));
    for path in ["in/a", "out/../a", "out/a/b"] {
        let bad = given(path);
        assert!(bad.stdout.contains("fails: the argument `path`"), "{}", bad.stdout);
        assert!(bad.stdout.ends_with("so the outcome is deny\n"), "{}", bad.stdout);
        assert_eq!(bad.status, Some(4), "{path}");
    }
}

#[test]
fn json_output_is_one_value() {
    let project = project();
    let done = explain(&project, &["work", "fs.writeFile", "--args", r#"{"path": "x"}"#, "--json"]);
    let value = done.json();
    assert_eq!((&value["space"], &value["function"], done.status), (&json!("work"), &json!("fs.writeFile"), Some(4)));
    let explanation = &value["explanation"];
    assert_eq!((&explanation["decision"], &explanation["outcome"]), (&json!("allow"), &json!("deny")));
    assert_eq!(
        explanation["because"],
        json!({ "rule": { "place": "$.spaces.work.policy.functions[\"fs.writeFile\"]" } })
    );
    let failed: Vec<bool> =
        explanation["checks"].as_array().unwrap().iter().filter_map(|check| check["passes"].as_bool()).collect();
    assert_eq!(failed, [false]);
}

#[test]
fn bad_usage_has_exit_status_2() {
    let project = project();
    for (arguments, said) in [
        (&["none", "fs.stat"][..], "there is no space `none`"),
        (&["work", "fs.stat", "--args", "{"], "--args is not JSON"),
        (&["work"], "CAPABILITY.FUNCTION"),
    ] {
        let done = explain(&project, arguments);
        assert_eq!(done.status, Some(2), "{done:?}");
        assert!(done.stderr.contains(said), "{done:?}");
    }
}

#[test]
fn an_unknown_function_is_refused_with_the_nearest_name() {
    let done = explain(&project(), &["work", "fs.writeFle"]);
    assert!(done.stderr.contains("Did you mean `fs.writeFile`?"), "{done:?}");
    assert!(!done.stderr.contains("--approve"), "{done:?}");
    assert_eq!(done.status, Some(2));
}

/// A definition may be one function, which scripts call by its name alone. Rules are about it too.
#[test]
fn a_rule_matches_a_single_function_capability() {
    let project = Project::empty();
    let tool =
        json!({ "name": "get_thing", "description": "Gets it", "parameters": { "type": "object", "properties": {} } });
    project.write("tools/thing.json", tool.to_string());
    project.write("tools/thing.ts", "export const getThing = () => 'thing';");
    let policy = json!({ "functions": { "getThing.*": "deny" } });
    project.configure(json!({ "capabilities": { "global": ["./tools"] }, "spaces": { "work": { "policy": policy } } }));
    project.trust();
    let source = "import { getThing } from '@capabilities/thing'; export default await getThing({});";
    assert_eq!(project.run_with(source, &["--json"]).value(), "thing");
    let done = project.run(source);
    // Its module lacks the function, and no output reveals it.
    assert_eq!((done.error().0.as_str(), done.status), ("import.unknown", Some(1)));
    assert_eq!(explain(&project, &["work", "getThing"]).status, Some(4));
}

#[test]
fn a_standard_library_function_can_be_preapproved() {
    let project = Project::with_policy(json!({ "functions": { "fs.mkdir": "approve" } }));
    let source =
        "import { fs } from '@agent-spaces/std'; await fs.mkdir('made'); export default await fs.exists('made');";
    assert_eq!(project.run(source).error().0, "call.approval_denied");
    let done = project.run_with(source, &["--space", "work", "--approve", "fs.mkdir", "--json"]);
    assert_eq!(done.value(), true);
}

/// Parameters of an explanation are validated like those of a call; defaults count as given.
#[test]
fn parameters_are_validated_by_the_functions_schema() {
    let project = Project::new(json!({
        "capabilities": { "global": ["./tools/pay.json"] },
        "policy": { "functions": { "pay.send": { "arguments": { "amount": { "max": 100 } } } } },
    }));
    let amount = json!({ "type": "number", "default": 500 });
    let function = json!({ "name": "send", "description": "Pays", "parameters": { "amount": amount, "to": { "type": "string", "required": true } } });
    project.write("tools/pay.json", json!({ "name": "pay", "functions": [function] }).to_string());
    let explain = |args: &str| explain(&project, &["-", "pay.send", "--args", args]);
    let good = explain(r#"{"to": "ada", "amount": 7}"#);
    assert!(good.stdout.contains("passes: the parameters must fit their schema"), "{good:?}");
    assert_eq!(good.status, Some(0));
    let wrong = explain(r#"{"amount": "7"}"#);
    assert!(wrong.stdout.contains("fails: the parameters must fit their schema"), "{wrong:?}");
    assert!(wrong.stdout.contains("to: ") && wrong.stdout.ends_with("so the outcome is deny\n"), "{wrong:?}");
    assert_eq!(wrong.status, Some(4));
    let silent = explain(r#"{"to": "ada"}"#);
    assert!(silent.stdout.contains("fails: the argument `amount`"), "{silent:?}");
}

/// A slip in the name of a function that should be denied would allow it.
#[test]
fn an_unused_rule_is_reported() {
    let project = Project::with_policy(json!({ "functions": { "fs.writefile": "deny", "fs.delete": "deny" } }));
    let done = project.run("export default 1;");
    assert_eq!(done.value(), 1);
    let told: Vec<&str> = done.stderr.lines().filter(|line| line.contains("fs.")).collect();
    assert!(told.len() == 1 && told[0].contains("fs.writefile") && told[0].contains("fs.writeFile"), "{done:?}");
}

/// A capability may have a function of its own name among others, as many servers do.
#[test]
fn a_rule_matches_a_function_named_like_its_capability() {
    let project = Project::empty();
    let function = |name: &str| json!({ "name": name, "description": name, "parameters": {} });
    let tool = json!({ "name": "fetch", "functions": [function("fetch"), function("other")] });
    project.write("tools/fetch.json", tool.to_string());
    project.write("tools/fetch.ts", "export const fetch = () => 'fetched', other = () => 'other';");
    let policy = json!({ "functions": { "fetch.fetch": "deny" } });
    project.configure(json!({ "capabilities": { "global": ["./tools"] }, "spaces": { "work": { "policy": policy } } }));
    project.trust();
    let source = "import { fetch as it } from '@capabilities/fetch';
        export default [await it.other({}), await it.fetch({}).catch((error) => error.code)];";
    assert_eq!(project.run_with(source, &["--json"]).value(), json!(["other", "fetched"]));
    assert_eq!(project.run(source).value(), json!(["other", "call.denied"]));
    assert_eq!(explain(&project, &["work", "fetch.fetch"]).status, Some(4));
}

#[test]
fn texts_of_a_definition_have_no_control_characters() {
    let project = Project::new(json!({ "capabilities": { "global": ["./desk.json"] } }));
    let scope = "a\u{1b}[2J\u{202e}\n  so the outcome is allow";
    project.write(
        "desk.json",
        json!({ "name": "desk", "functions": [{ "name": "note", "description": "Notes", "config": { "scopes": [scope] } }] })
            .to_string(),
    );
    let done = explain(&project, &["-", "desk.note"]);
    let told = "  the caller must have the scope `a<U+001B>[2J<U+202E>   so the outcome is allow` (the definition of desk.note)";
    assert!(done.stdout.lines().any(|line| line == told), "{}", done.stdout);
    assert!(!done.stdout.contains(['\u{1b}', '\u{202e}']), "{}", done.stdout);
}
