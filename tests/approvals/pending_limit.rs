//! Limit on pending approvals.

use crate::approvals::support::{FILE_SYSTEM, PipedRun};
use serde_json::{Value, json};

fn concurrent_calls(calls: usize) -> String {
    FILE_SYSTEM.script(&format!(
        "const attempt = (_, index) => fileSystem.deleteFile({{ path: `${{index}}` }}).catch((error) => error.message);
         const said = await Promise.all(Array.from({{ length: {calls} }}, attempt));
         export default [...said, await attempt(null, 99)];"
    ))
}

/// So many of `calls` wait, the others are denied at once; when they are decided another may wait.
fn assert_pending_limit(settings: &Value, calls: usize, wait: usize) {
    let mut run = PipedRun::starts(&FILE_SYSTEM.home_with(settings), &concurrent_calls(calls), &[]);
    // Before anybody has decided anything.
    for _ in wait..calls {
        let error = run.next("callError");
        assert_eq!(error["code"], "call.approval_denied");
        assert!(error["message"].as_str().unwrap().contains("too many calls are waiting"), "{error}");
    }
    let ended = run.answers_all(&json!({ "decision": "approve" }));
    let said = ended.value();
    let made = said.as_array().unwrap().iter().filter(|said| said.as_str().unwrap().starts_with("deleted")).count();
    assert_eq!(made, wait + 1, "{said}");
    assert_eq!(said[calls], "deleted 99");
    assert_eq!(ended.events("approvalRequired").len(), wait + 1);
}

#[test]
fn at_most_twenty_approvals_are_pending() {
    assert_pending_limit(&json!({}), 25, 20);
}

#[test]
fn a_policy_can_lower_the_limit() {
    assert_pending_limit(&json!({ "maxPending": 2 }), 3, 2);
}
