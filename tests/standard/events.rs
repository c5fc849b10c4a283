//! `agent-spaces run --events`.

use crate::standard::support::{Project, script};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../schemas/event.schema.json");

/// The events of a run, and its report.
fn events(project: &Project, source: &str, more: &[&str]) -> (Vec<Value>, Value, Option<i32>) {
    let done = project.run_with(source, &[&["--space", "work", "--events"], more].concat());
    let mut lines = done.lines();
    let report = lines.pop().unwrap();
    (lines, report, done.status)
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn events_of_the_standard_library_have_the_documented_shape() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let project = Project::with_policy(json!({ "functions": { "fs.mkdir": "approve", "fs.delete": "deny" } }));
    let source = script(
        "console.log('said'); await fs.writeFile('a', 'x'); json.parse('[1]');
        for (const work of [() => fs.mkdir('b'), () => fs.delete('a'), () => json.parse('[')]) await attempt(work); 1",
    );
    let (events, report, status) = events(&project, &source, &[]);
    let (call, fails) = (["callScheduled", "callResult"], ["callScheduled", "callError"]);
    let expected = [&["runStarted", "console"][..], &call, &call, &fails, &fails, &fails, &["runFinished"]].concat();
    assert_eq!(types(&events), expected);
    for (at, event) in events.iter().enumerate() {
        let faults: Vec<String> = validator.iter_errors(event).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{event}: {faults:?}");
        assert_eq!((&event["seq"], &event["runId"]), (&json!(at), &report["runId"]), "{event}");
    }
    let codes: Vec<&Value> =
        events.iter().filter(|event| event["type"] == "callError").map(|event| &event["code"]).collect();
    assert_eq!(codes, ["call.approval_denied", "call.denied", "call.invalid"]);
    let started = &events[0];
    assert_eq!(started["interfaces"], json!(["agent-spaces:std/fs@1.0.0", "agent-spaces:std/json@1.0.0"]));
    assert_eq!((report["value"].clone(), status), (json!(1), Some(0)));
    // Another value of the same shape is no event: the schema says something.
    assert!(!validator.is_valid(&json!({ "type": "callError", "timestamp": "", "runId": "run_1", "seq": 0 })));
}

#[test]
fn events_are_deterministic() {
    let project = Project::with_policy(json!("standard"));
    let source = script(
        "await fs.writeFile('a', 'x'); await fs.readFile('a');
        await attempt(() => fs.readFile('none')); csv.parse('a').length",
    );
    let stripped = || {
        let (events, ..) = events(&project, &source, &[]);
        let strip = |mut event: Value| {
            for name in ["timestamp", "runId", "durationMs", "usage"] {
                event.as_object_mut().unwrap().remove(name);
            }
            event
        };
        events.into_iter().map(strip).collect::<Vec<_>>()
    };
    let first = stripped();
    assert_eq!(first.len(), 10);
    assert_eq!(stripped(), first);
}

#[test]
fn a_denial_that_ends_a_run_has_exit_status_4() {
    let functions = json!({
        "fs.stat": "deny", "fs.mkdir": "approve", "fs.list": { "maxPerRun": 1 },
        "fs.exists": { "arguments": { "path": { "matches": "a/*" } } },
    });
    let project = Project::with_policy(json!({ "functions": functions }));
    for (call, code) in [
        ("await fs.stat('a')", "call.denied"),
        ("await fs.exists('b/c')", "call.denied"),
        ("await fs.list(); await fs.list()", "call.denied"),
        ("await fs.readFile('.git/config')", "call.denied"),
        ("await fs.readFile('../a')", "call.denied"),
        ("await http.get('http://a.example')", "call.denied"),
        ("await fs.mkdir('a')", "call.approval_denied"),
    ] {
        let (events, report, status) = events(&project, &script(call), &[]);
        assert_eq!((report["error"]["code"].as_str(), status), (Some(code), Some(4)), "{call}: {report}");
        assert_eq!(types(&events).last(), Some(&"runFinished"), "{call}");
        let ended: Vec<&Value> =
            events.iter().filter(|event| event["type"] == "callError").map(|event| &event["code"]).collect();
        assert_eq!(ended, [code], "{call}");
    }
}
