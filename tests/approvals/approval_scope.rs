//! Scope of approvals: once, per run, or per arguments.

use crate::approvals::support::{FILE_SYSTEM, PipedRun, RunOutput, TerminalUser};
use serde_json::{Value, json};

/// One after the other.
const LOOP: &str = "const done = [];
    for (const path of ['a', 'a', 'b', 'a']) done.push(await fileSystem.deleteFile({ path }).catch((error) => error.code));
    export default done;";

fn answered(body: &str, decision: &Value) -> RunOutput {
    PipedRun::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.script(body), &[]).answers_all(decision)
}

fn asked(ended: &RunOutput) -> Vec<Value> {
    ended.events("approvalRequired").iter().map(|asked| asked["params"]["path"].clone()).collect()
}

#[test]
fn an_approval_covers_its_scope() {
    for (lasts, asks) in [
        (json!({}), json!(["a", "a", "b", "a"])),
        (json!({ "for": "once" }), json!(["a", "a", "b", "a"])),
        (json!({ "for": "arguments" }), json!(["a", "b"])),
        (json!({ "for": "run" }), json!(["a"])),
    ] {
        let mut decision = json!({ "decision": "approve" });
        decision.as_object_mut().unwrap().extend(lasts.as_object().unwrap().clone());
        let ended = answered(LOOP, &decision);
        assert_eq!(ended.value(), json!(["deleted a", "deleted a", "deleted b", "deleted a"]));
        assert_eq!(json!(asked(&ended)), asks, "{lasts}");
    }
}

#[test]
fn a_denial_covers_only_its_call() {
    let ended = answered(LOOP, &json!({ "decision": "deny", "for": "run" }));
    assert_eq!(ended.value(), json!(vec!["call.approval_denied"; 4]));
    assert_eq!(asked(&ended).len(), 4);
}

#[test]
fn an_approval_for_the_run_covers_waiting_calls() {
    let body = "export default await Promise.all(['a', 'a', 'b'].map((path) => fileSystem.deleteFile({ path })));";
    let mut run = PipedRun::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.script(body), &[]);
    let asked: Vec<(String, Value)> = (0..3).map(|_| run.asks()).collect();
    let id = |path: &str| &asked.iter().find(|(_, event)| event["params"]["path"] == path).unwrap().0;
    run.approves_for(id("a"), "arguments");
    for _ in 0..2 {
        assert_eq!(run.next("approvalDecided")["decision"], "approve");
    }
    run.approves_for(id("b"), "once");
    assert_eq!(run.ends().value(), json!(["deleted a", "deleted a", "deleted b"]));
}

#[test]
fn an_approval_does_not_cover_other_functions_of_the_capability() {
    let home = FILE_SYSTEM.home_under(&json!({ "functions": { "fileSystem.readFile": "approve" } }));
    let body = "await fileSystem.deleteFile({ path: 'a' });
        await fileSystem.readFile({ path: 'a' });
        await fileSystem.deleteFile({ path: 'b' });";
    let ended = PipedRun::starts(&home, &FILE_SYSTEM.script(body), &[])
        .answers_all(&json!({ "decision": "approve", "for": "run" }));
    let functions: Vec<Value> =
        ended.events("approvalRequired").iter().map(|asked| asked["function"].clone()).collect();
    assert_eq!(functions, ["deleteFile", "readFile"]);
    assert_eq!(ended.status, Some(0));
}

#[test]
fn an_approval_ends_with_its_run() {
    let home = FILE_SYSTEM.home();
    for _ in 0..2 {
        let run = PipedRun::starts(&home, &FILE_SYSTEM.attempt(), &[]);
        let ended = run.answers_all(&json!({ "decision": "approve", "for": "run" }));
        assert_eq!(asked(&ended).len(), 1);
    }
}

#[test]
fn the_prompt_offers_every_scope() {
    std::thread::scope(|scope| {
        for (key, prompts) in [("y", 4), ("a", 2), ("r", 1)] {
            scope.spawn(move || {
                let person = TerminalUser::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.script(LOOP), &[]);
                (1..=prompts).for_each(|prompt| person.answers(prompt, &format!("{key}\n")));
                let (status, text) = person.ends();
                assert_eq!((status, text.matches("A call needs your approval").count()), (Some(0), prompts), "{text}");
            });
        }
    });
}
