//! Module snapshots of handlers: deterministic modules are evaluated once and snapshotted, others for each call.

use crate::standard::support::Project;
use serde_json::{Value, json};

/// Returns the results of three calls of a handler in one run, and then in another.
fn answers(top: &str, handler: &str, given: Value) -> Vec<Value> {
    let project = Project::empty();
    project
        .write("capabilities/desk.json", r#"{ "name": "desk", "functions": [{ "name": "look", "parameters": {} }] }"#);
    project.write("capabilities/desk.ts", format!("{top}\nexport const look = async () => {{ {handler} }};"));
    project.configure(json!({
        "capabilities": { "global": ["./capabilities/desk.json"] }, "providers": { "@capabilities/desk": given },
    }));
    project.trust();
    let script = "import { desk } from '@capabilities/desk';
        export default [await desk.look(), await desk.look(), await desk.look()];";
    let run = || project.run_with(script, &["--json"]).value().as_array().unwrap().clone();
    [run(), run()].concat()
}

#[test]
fn every_call_starts_from_the_evaluated_modules() {
    let top = "
        const table = new Map(Array.from({ length: 2000 }, (_, index) => [`key ${index}`, { index, list: [index] }]));
        class Point { #x = 3; get x() { return this.#x; } }
        const point = new Point(), pattern = /a(b+)c/g, bytes = new Uint8Array([1, 2, 3]), never = Symbol('mine');
        const later = Promise.resolve(5), wait = await later;
        let calls = 0;";
    let handler = "calls += 1; bytes[0] += 1; table.get('key 7').list.push(1);
        const found = 'xxabbbc'.replace(pattern, '$1');
        return [calls, table.size, table.get('key 1999').index, table.get('key 7').list.length, point.x, found, bytes[0],
            String(never), wait, await later];";
    let all = answers(top, handler, json!({}));
    let one = json!([1, 2000, 1999, 2, 3, "xxbbb", 2, "Symbol(mine)", 5, 5]);
    assert_eq!(all, vec![one; 6]);
}

/// A module that reads the clock, randomness or a variable while it is evaluated sees current values.
#[test]
fn nondeterministic_modules_are_evaluated_for_every_call() {
    let distinct = |all: &[Value]| {
        let texts: std::collections::BTreeSet<String> = all.iter().map(Value::to_string).collect();
        texts.len()
    };
    assert_eq!(distinct(&answers("const id = Math.random();", "return id;", json!({}))), 6);
    assert_eq!(distinct(&answers("const id = crypto.randomUUID();", "return id;", json!({}))), 6);
    assert!(
        distinct(&answers(
            "const at = Date.now(); for (const end = at + 3; Date.now() < end;);",
            "return at;",
            json!({})
        )) > 1
    );
    let given = json!({ "env": { "MODE": "fast" } });
    let all = answers("const mode = process.env.MODE;", "return mode;", given.clone());
    assert_eq!(all, vec![json!("fast"); 6]);
    let caught = "let mode; try { mode = process.env.MODE } catch { mode = 'none' }";
    assert_eq!(answers(caught, "return mode;", given.clone()), vec![json!("fast"); 6]);
    for (top, expected) in [
        ("const seen = { ...process.env };", json!({ "MODE": "fast" })),
        ("const seen = Object.keys(process.env);", json!(["MODE"])),
        ("const seen = 'MODE' in process.env;", json!(true)),
        ("const seen = Object.hasOwn(process.env, 'MODE');", json!(true)),
    ] {
        assert_eq!(answers(top, "return seen;", given.clone()), vec![expected; 6], "{top}");
    }
}

/// The cost of module evaluation is not charged to calls.
#[test]
fn module_evaluation_does_not_count_against_the_calls_limits() {
    let project = Project::empty();
    project
        .write("capabilities/desk.json", r#"{ "name": "desk", "functions": [{ "name": "look", "parameters": {} }] }"#);
    let handlers = "
        const table = Array.from({ length: 20000 }, (_, index) => ({ name: `entry ${index}`, index }));
        export const look = () => table.length;";
    project.write("capabilities/desk.ts", handlers);
    let said = |fuel: &str| {
        project.configure(json!({
            "capabilities": { "global": ["./capabilities/desk.json"] },
            "providers": { "@capabilities/desk": { "limits": { "fuel": fuel } } },
        }));
        project.trust();
        let script = "import { desk } from '@capabilities/desk';
            export default await desk.look().catch((error) => error.message);";
        project.run_with(script, &["--json"]).value()
    };
    let (little, much) = ("2M", "10G");
    let too_little = json!("Its handler failed: it used all of its 2000000 units of fuel");
    // That it did not come to its end this time is not kept.
    assert_eq!(said(little), too_little);
    assert_eq!(said(much), json!(20000));
    assert_eq!(said(little), json!(20000));
}

#[test]
fn randomness_differs_between_calls() {
    let all = answers("const salt = 'fixed';", "return salt + Math.random();", json!({}));
    let texts: std::collections::BTreeSet<String> = all.iter().map(Value::to_string).collect();
    assert_eq!(texts.len(), 6);
}

#[test]
fn a_failing_module_fails_every_call_with_its_location() {
    let project = Project::empty();
    project
        .write("capabilities/desk.json", r#"{ "name": "desk", "functions": [{ "name": "look", "parameters": {} }] }"#);
    project.write("capabilities/desk.ts", "throw new Error('not today');\nexport const look = () => 1;");
    let script = "import { desk } from '@capabilities/desk';
        const attempt = () => desk.look().catch((error) => `${error.code}: ${error.message}`);
        export default [await attempt(), await attempt()];";
    let done = project.run_with(script, &["--capabilities", "capabilities", "--json"]);
    assert_eq!(done.value(), json!(["call.failed: not today", "call.failed: not today"]));
}
