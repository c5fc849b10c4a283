//! Shape of the `approvalRequired` event.

use crate::approvals::support::{CRM, PipedRun};
use serde_json::{Value, json};

#[test]
fn the_event_has_exactly_these_members() {
    let mut run = PipedRun::starts(&CRM.home(), &CRM.attempt(), &[]);
    let (id, event) = run.asks();
    let mut keys: Vec<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let ids = ["approvalId", "callId", "expiresAt", "functionId", "runId", "seq"];
    let mut expected = ["type", "timestamp", "source", "capability", "function", "params", "message"].to_vec();
    expected.extend(ids);
    expected.sort_unstable();
    assert_eq!(keys, expected);
    let shown = |key: &str| event[key].clone();
    assert_eq!(
        ["type", "source", "capability", "function", "params", "message", "callId"].map(shown),
        [
            json!("approvalRequired"),
            json!("capability"),
            json!("crm"),
            json!("createTicket"),
            json!({ "customerId": "cus_1", "subject": "Integration issue", "priority": "high" }),
            json!("Create high ticket for customer cus_1?"),
            json!(1),
        ]
    );
    assert_eq!(shown("functionId"), json!("capabilities:company-crm/crm@1.0.0#create-ticket"));
    assert!(id.starts_with("apr_") && shown("runId").as_str().unwrap().starts_with("run_"), "{event}");
    let time = |key: &str| event[key].as_str().unwrap().to_owned();
    // Ten minutes, unless the policy says otherwise; the same form sorts by time.
    assert!(time("expiresAt") > time("timestamp") && time("timestamp").ends_with('Z'), "{event}");
    run.decides(&id, "deny");
    let ended = run.ends();
    let order: Vec<Value> = ended.lines().iter().map(|line| line["type"].clone()).collect();
    let paused = order.iter().position(|kind| kind == "runPaused").unwrap();
    let expected = ["runPaused", "approvalRequired", "approvalDecided", "runResumed", "callError"];
    assert_eq!(order[paused..paused + 5], expected.map(|kind| json!(kind)), "{}", ended.stdout);
}

#[test]
fn a_message_that_is_not_text_is_omitted() {
    for (function, expected) in [
        ("() => { throw new Error('x') }", "Allow crm.createTicket?"),
        ("() => 'x'.repeat(100_000)", "xxxx"),
        ("(p) => p.subject", "Integration issue"),
    ] {
        let home = CRM.home();
        let file = home.project("capabilities/company-crm.ts");
        let text = std::fs::read_to_string(&file).unwrap();
        let written = "(p) => `Create ${p.priority} ticket for customer ${p.customerId}?`";
        assert!(text.contains(written));
        std::fs::write(&file, text.replace(written, function)).unwrap();
        let ended = PipedRun::starts(&home, &CRM.attempt(), &[]).answers_all(&json!({ "decision": "deny" }));
        let message = ended.events("approvalRequired")[0]["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with(expected) && message.chars().count() <= 500, "{function}: {message}");
    }
}
