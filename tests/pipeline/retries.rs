//! Retries and their costs.

use super::rig::{Extras, Rig, import, rules};
use agent_spaces::{Accounting, Limits};
use agent_spaces_mcp::secrets::Redactor;
use serde_json::{Value, json};

fn mode(mode: &str) -> Value {
    json!({ "mode": mode })
}

fn events(rig: &Rig, kind: &str) -> Vec<Value> {
    let events = rig.events.lock().unwrap();
    let shown = events.iter().map(|event| serde_json::to_value(event).unwrap());
    shown.filter(|event| event["type"] == kind).collect()
}

/// It may have taken effect, whatever a rule says of retries.
#[tokio::test]
async fn a_timed_out_call_is_not_retried() {
    let functions = json!({ "crm.find": { "idempotent": true, "retries": 3, "timeout": "20ms" } });
    for by_script in [false, true] {
        let rig = Rig::new(rules(functions.clone()));
        let outcome = match by_script {
            false => rig.host("crm.find", mode("sleep 60000")).await,
            true => rig.script_one("crm.find", mode("sleep 60000")).await,
        };
        let error = outcome.unwrap_err();
        // A script may make it again: its operator says that this does no harm.
        assert_eq!((error.code.as_str(), error.retryable, rig.count()), ("call.timeout", true, 1));
        assert!(events(&rig, "callRepeated").is_empty());
    }
    // Nor one of which the provider itself says that it took too long.
    let rig = Rig::new(rules(json!({ "crm.find": { "idempotent": true, "retries": 3 } })));
    let error = rig.host("crm.find", mode("code call.timeout")).await.unwrap_err();
    assert_eq!((error.code.as_str(), rig.count()), ("call.timeout", 1));
}

#[tokio::test]
async fn retries_have_events_and_accounting_lines() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let accounting = Accounting::to_file(&file, Redactor::default()).unwrap();
    let functions = json!({ "crm.find": { "idempotent": true, "retries": 2 } });
    let rig = Rig::with(rules(functions), Extras { accounting, ..Extras::default() });
    rig.script_one("crm.find", mode("busy")).await.unwrap_err();
    assert_eq!(rig.count(), 3);
    let repeated = events(&rig, "callRepeated");
    let shown = |event: &Value| json!([event["callId"], event["repetition"], event["code"], event["message"]]);
    assert_eq!(
        repeated.iter().map(shown).collect::<Vec<_>>(),
        [json!([1, 1, "call.unavailable", "busy"]), json!([1, 2, "call.unavailable", "busy"])]
    );
    assert_eq!(events(&rig, "callError").len(), 1);
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(written.lines().count(), 3, "{written}");
    assert!(written.lines().all(|line| line.contains("\"status\":\"failed\"") && line.contains("busy")), "{written}");
}

/// The call limit of a run includes the host's retries.
#[tokio::test]
async fn retries_count_towards_the_call_limit_of_a_run() {
    let rig = Rig::new(rules(json!({ "crm.find": { "idempotent": true, "retries": 5 } })));
    let source = format!("{}export default await crm.find({{ mode: 'busy' }}).catch((e) => e.code)", import("crm"));
    let report = rig.run(&source, Limits { calls: 3, ..Limits::default() }).await;
    // The script gets the call's own error; an exhausted call limit for retries does not end the run.
    assert_eq!((report.outcome.unwrap(), report.usage.calls, rig.count()), (json!("call.unavailable"), 3, 3));
    let again = format!("{}await crm.find({{ mode: 'busy' }}).catch(() => 0); await crm.find({{}})", import("crm"));
    let report = rig.run(&again, Limits { calls: 3, ..Limits::default() }).await;
    assert_eq!(report.outcome.unwrap_err().code, "limit.calls");
}

/// Each is a call for everybody else: it takes a turn, and counts.
#[tokio::test]
async fn retries_count_towards_rate_and_call_limits() {
    let rate = json!({ "requests": 2, "period": "day" });
    for (rule, after) in [
        (json!({ "idempotent": true, "retries": 5, "rateLimit": rate }), "call.rate_limited"),
        (json!({ "idempotent": true, "retries": 5, "maxPerRun": 2 }), "call.denied"),
    ] {
        let rig = Rig::new(rules(json!({ "crm.find": rule })));
        let outcomes = rig.script(&[("crm.find", mode("busy")), ("crm.find", json!({}))]).await;
        let codes: Vec<&str> = outcomes.iter().map(|outcome| outcome.as_ref().unwrap_err().code.as_str()).collect();
        assert_eq!((codes, rig.count()), (vec!["call.unavailable", after], 2));
    }
}
