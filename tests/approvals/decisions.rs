//! Invalid, repeated and late decisions.

use crate::approvals::support::{FILE_SYSTEM, PipedRun};
use serde_json::json;

/// One call after the other; none ends the script.
const CALLS: &str = "const attempt = (path) => fileSystem.deleteFile({ path }).catch((error) => error.code);
    export default [await attempt('a'), await attempt('b')];";

#[test]
fn an_unknown_decision_is_refused_and_reported() {
    let mut run = PipedRun::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.attempt(), &[]);
    let (id, _) = run.asks();
    run.decides("apr_000000000000000000000000", "approve");
    run.decides("*", "approve");
    run.decides(&id.to_uppercase(), "approve");
    run.decides(&id, "deny");
    let ended = run.ends();
    assert!(ended.value().as_str().unwrap().starts_with("call.approval_denied"), "{ended:?}");
    let refused = ended.stderr.matches("a decision was refused: no pending request").count();
    assert_eq!(refused, 3, "{}", ended.stderr);
}

#[test]
fn the_first_of_two_decisions_counts() {
    for (first, second, said) in [("deny", "approve", "call.approval_denied"), ("approve", "deny", "deleted a")] {
        let mut run = PipedRun::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.script(CALLS), &[]);
        let (id, _) = run.asks();
        run.decides(&id, first);
        run.decides(&id, second);
        // The other call shows that both lines were read.
        let (other, _) = run.asks();
        run.decides(&other, "approve");
        let ended = run.ends();
        assert_eq!(ended.value(), json!([said, "deleted b"]));
        assert!(ended.stderr.contains(&format!("{id} is already decided: the first decision counts")), "{ended:?}");
    }
}

#[test]
fn a_late_decision_is_refused_and_reported() {
    let home = FILE_SYSTEM.home_with(&json!({ "expires": "1s" }));
    let mut run = PipedRun::starts(&home, &FILE_SYSTEM.script(CALLS), &[]);
    let (late, _) = run.asks();
    let (other, _) = run.asks();
    run.decides(&late, "approve");
    run.decides(&other, "approve");
    let ended = run.ends();
    assert_eq!(ended.value(), json!(["call.approval_expired", "deleted b"]));
    assert!(ended.stderr.contains(&format!("the decision on {late} came too late")), "{}", ended.stderr);
}

#[test]
fn a_decision_applies_only_to_its_request() {
    let body = "const attempt = (path) => fileSystem.deleteFile({ path }).catch((error) => error.code);
        export default await Promise.all(['a', 'b'].map(attempt));";
    let mut run = PipedRun::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.script(body), &[]);
    let asked = [run.asks(), run.asks()];
    let (second, _) = asked.iter().find(|(_, event)| event["params"]["path"] == "b").unwrap();
    run.decides(second, "approve");
    assert_eq!(run.next("approvalDecided")["approvalId"], json!(second));
    assert_eq!(run.ends().value(), json!(["call.approval_denied", "deleted b"]));
}

#[test]
fn invalid_lines_are_reported_and_skipped() {
    let mut run = PipedRun::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.attempt(), &[]);
    let (id, _) = run.asks();
    let lines = [
        "approve".to_owned(),
        "y".to_owned(),
        json!([{ "id": id, "decision": "approve" }]).to_string(),
        json!({ "id": id, "decision": "APPROVE" }).to_string(),
        json!({ "id": id, "decision": true }).to_string(),
        json!({ "id": id, "decision": "approve", "for": "ever" }).to_string(),
        json!({ "id": id, "decision": "approve", "for": "run", "all": true }).to_string(),
        format!(r#"{{"id":"{id}","decision":"deny","decision":"approve"}}"#),
        json!({ "id": id, "decision": "approve", "reason": "x".repeat(100_000) }).to_string(),
    ];
    lines.iter().for_each(|line| run.writes(line));
    run.writes("");
    run.decides(&id, "deny");
    let ended = run.ends();
    assert!(ended.value().as_str().unwrap().starts_with("call.approval_denied"), "{ended:?}");
    assert_eq!(ended.stderr.matches("a decision was refused").count(), lines.len(), "{}", ended.stderr);
}

#[test]
fn the_end_of_the_stream_denies_pending_and_later_calls() {
    let mut run = PipedRun::starts(&FILE_SYSTEM.home(), &FILE_SYSTEM.script(CALLS), &[]);
    run.asks();
    run.closes();
    let ended = run.ends();
    assert_eq!(ended.value(), json!(["call.approval_denied", "call.approval_denied"]));
    let decided = ended.events("approvalDecided");
    assert!(!decided.is_empty() && decided.iter().all(|event| event["decision"] == "deny"), "{decided:?}");
    let uncaught = FILE_SYSTEM.script("await fileSystem.deleteFile({ path: 'a' });");
    assert_eq!(PipedRun::starts(&FILE_SYSTEM.home(), &uncaught, &[]).ends().status, Some(4));
}

#[test]
fn stdin_cannot_be_both_script_and_decisions() {
    let refused = FILE_SYSTEM.home().finish(&["run", "-", "--approvals", "pipe", "--json"]);
    assert_eq!((refused.status, refused.code().as_str()), (Some(2), "config.usage"), "{refused:?}");
}
