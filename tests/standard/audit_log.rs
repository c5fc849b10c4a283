//! Contents of the audit log.

use crate::standard::support::{Project, script};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The lines of a project's log.
pub(crate) fn lines(project: &Project) -> Vec<Value> {
    let text = std::fs::read_to_string(project.home("state/agent-spaces/audit/log.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The types of the events of each run, in the order of the log.
fn runs(project: &Project) -> BTreeMap<String, Vec<String>> {
    let mut runs = BTreeMap::<String, Vec<String>>::new();
    for line in lines(project) {
        let text = |name: &str| line["entry"][name].as_str().unwrap().to_owned();
        runs.entry(text("runId")).or_default().push(text("type"));
    }
    runs
}

pub(crate) fn verified(project: &Project) -> Value {
    let done = project.agent_spaces(&["audit", "verify", "--json"]);
    assert_eq!(done.status, Some(0), "{done:?}");
    done.json()
}

#[test]
fn the_log_has_runs_and_calls_but_no_output() {
    let project = Project::with_policy(json!("standard"));
    project.write("files/answer", "what-a-call-answers");
    let done = project.run(&script(
        "console.log('what-is-printed'); console.error('what-is-' + 'complained');
        await fs.readFile('answer'); await attempt(() => fs.readFile('/etc/passwd')); 'what-the-script-gives'",
    ));
    assert_eq!(done.value(), "what-the-script-gives");
    let lines = lines(&project);
    let entries: Vec<&Value> = lines.iter().map(|line| &line["entry"]).collect();
    let types: Vec<&str> = entries.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["runStarted", "callScheduled", "callResult", "callScheduled", "callError", "runFinished"]);
    let report = done.json();
    for (at, (line, entry)) in lines.iter().zip(&entries).enumerate() {
        assert_eq!(line["seq"], at + 1);
        assert_eq!(entry["runId"], report["runId"]);
        assert!(entry["timestamp"].as_str().unwrap().ends_with('Z'), "{entry}");
        let before = if at == 0 { None } else { lines[at - 1]["hash"].as_str() };
        assert!(before.is_none_or(|hash| line["prev"] == hash), "{line}");
    }
    assert_eq!(entries[0]["script"], "script.ts");
    assert_eq!(entries[1]["params"], json!({ "path": "answer" }));
    assert_eq!((&entries[1]["capability"], &entries[1]["function"]), (&json!("fs"), &json!("readFile")));
    assert_eq!((&entries[4]["code"], &entries[4]["callId"]), (&json!("call.denied"), &json!(2)));
    assert_eq!(entries[5]["usage"], report["usage"]);
    let text = std::fs::read_to_string(project.home("state/agent-spaces/audit/log.jsonl")).unwrap();
    for secret in ["what-is-printed", "what-is-complained", "what-a-call-answers", "what-the-script-gives"] {
        assert!(!text.contains(secret), "{secret}");
    }
    assert_eq!(verified(&project)["entries"], 6);
}

#[test]
fn large_arguments_are_logged_by_digest_only() {
    let project = Project::with_policy(json!("standard"));
    let done = project.run(&script(
        "const call = (size) => attempt(() => fs.writeFile('file', 'x'.repeat(size)));
        await call(10); await call(10); await call(11); await call(4000); await call(5000); await call(100_000); 1",
    ));
    assert_eq!(done.value(), 1);
    let lines = lines(&project);
    let calls: Vec<&Value> =
        lines.iter().map(|line| &line["entry"]).filter(|entry| entry["type"] == "callScheduled").collect();
    let digests: Vec<&str> = calls.iter().map(|call| call["digest"].as_str().unwrap()).collect();
    assert!(digests.iter().all(|digest| digest.len() == 64), "{digests:?}");
    assert_eq!(digests[0], digests[1]);
    assert!(digests[1..].iter().collect::<std::collections::BTreeSet<_>>().len() == 5, "{digests:?}");
    assert_eq!(calls[0]["params"], json!({ "path": "file", "text": "xxxxxxxxxx" }));
    assert_eq!(calls[3]["params"]["text"].as_str().unwrap().len(), 4000);
    // {"path":"file","text":"…"} is 25 letters and the text.
    assert_eq!(calls[4]["params"], json!({ "$omitted": 5025 }));
    assert_eq!(calls[5]["params"], json!({ "$omitted": 100_025 }));
    verified(&project);
}

#[test]
fn concurrent_runs_share_one_unbroken_log() {
    let project = Project::with_policy(json!("standard"));
    project
        .write("script.ts", script("for (let n = 0; n < 40; n++) await fs.exists('x' + n); await time.sleep(50); 1"));
    let begun: Vec<_> = (0..3).map(|_| project.start(&["run", "script.ts", "--space", "work", "--json"])).collect();
    let reports: Vec<Value> = begun.into_iter().map(|begun| begun.finish().json()).collect();
    let runs = runs(&project);
    assert_eq!(runs.len(), 3);
    for report in reports {
        let types = &runs[report["runId"].as_str().unwrap()];
        assert_eq!(types.len(), 2 + 41 * 2, "{types:?}");
        assert_eq!((types[0].as_str(), types[83].as_str()), ("runStarted", "runFinished"));
    }
    assert_eq!(verified(&project)["entries"], 3 * 84);
}

#[test]
fn failed_runs_are_logged_too() {
    let project = Project::with_policy(json!("standard"));
    assert_eq!(project.run("throw new Error('x')").status, Some(1));
    assert_eq!(project.run_with("for (;;) {}", &["--fuel", "10M", "--space", "work"]).status, Some(3));
    let last: Vec<Value> = lines(&project).into_iter().map(|line| line["entry"].clone()).collect();
    let types: Vec<&str> = last.iter().map(|entry| entry["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["runStarted", "runFinished", "runStarted", "limitReached", "runFinished"]);
    assert_eq!((&last[1]["ok"], &last[4]["error"]["code"]), (&json!(false), &json!("limit.fuel")));
    verified(&project);
}
