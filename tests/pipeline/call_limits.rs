//! Call limits per run and per day, and the limit on consecutive failures.

use super::rig::{Extras, Rig, import, rules};
use agent_spaces::{CapabilityError, Limits};
use agent_spaces_policy::{DayFile, DayMemory};
use serde_json::{Value, json};
use std::sync::Arc;

fn is_ok(outcomes: &[Result<Value, CapabilityError>]) -> Vec<bool> {
    outcomes.iter().map(Result::is_ok).collect()
}

#[tokio::test]
async fn the_run_limit_resets_with_the_next_run() {
    let rig = Rig::new(rules(json!({ "crm.*": { "maxPerRun": 2 } })));
    let calls = ["crm.find", "crm.note", "crm.find", "github.createIssue", "crm.note"].map(|label| (label, json!({})));
    for run in 1..=2 {
        let outcomes = rig.script(&calls).await;
        // All functions of the rule share its count; others have none.
        assert_eq!(is_ok(&outcomes), [true, true, false, true, false]);
        assert_eq!(outcomes[2].as_ref().unwrap_err().code, "call.denied");
        assert_eq!(rig.count(), 3 * run);
    }
    // A call of the host is a run of its own.
    for _ in 0..3 {
        assert!(rig.host("crm.find", json!({})).await.is_ok());
    }
}

/// Calls refused before the count are free; calls denied by a person were counted.
#[tokio::test]
async fn calls_refused_earlier_do_not_count() {
    let functions = json!({
        "crm.*": { "maxPerRun": 2, "arguments": { "amount": { "max": 9, "optional": true } } },
        "crm.note": { "rateLimit": { "requests": 1, "period": "day" } },
    });
    let rig = Rig::new(rules(functions));
    let (fits, large, wrong) = (json!({}), json!({ "amount": 10 }), json!({ "amount": 5000 }));
    let calls = [
        ("crm.find", large.clone()),
        ("crm.find", wrong.clone()),
        ("crm.pay", fits.clone()),
        ("crm.note", fits.clone()),
        ("crm.note", fits.clone()),
        ("crm.remove", fits.clone()),
        ("crm.find", fits.clone()),
    ];
    let outcomes = rig.script(&calls).await;
    let codes: Vec<&str> =
        outcomes.iter().map(|outcome| outcome.as_ref().map_or_else(|error| error.code.as_str(), |_| "ok")).collect();
    let expected = [
        "call.denied",
        "call.invalid",
        "call.denied",
        "ok",
        "call.rate_limited",
        "call.approval_denied",
        "call.denied",
    ];
    assert_eq!(codes, expected);
    assert!(outcomes[6].as_ref().unwrap_err().message.contains("call limit reached for this run"));
}

#[tokio::test]
async fn the_day_limit_spans_all_runs() {
    let days = Arc::new(DayMemory::default());
    let rig = |days: &Arc<DayMemory>| {
        let extras = Extras { days: Some(days.clone()), ..Extras::default() };
        Rig::with(rules(json!({ "crm.*": { "maxPerDay": 3 } })), extras)
    };
    let first = rig(&days);
    assert!(first.host("crm.find", json!({})).await.is_ok());
    let outcomes = first.script(&[("crm.note", json!({})), ("crm.note", json!({})), ("crm.note", json!({}))]).await;
    assert_eq!(is_ok(&outcomes), [true, true, false]);
    let message = &outcomes[2].as_ref().unwrap_err().message;
    assert_eq!(message, "crm.note: call limit reached for today");
    // Another space that counts in the same place, and one that does not.
    assert!(rig(&days).host("crm.find", json!({})).await.is_err());
    assert!(rig(&Arc::default()).host("crm.find", json!({})).await.is_ok());
}

#[tokio::test]
async fn the_day_file_persists_and_a_corrupt_one_refuses_calls() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts.json");
    let rig = || {
        let extras = Extras { days: Some(Arc::new(DayFile::new(&file))), ..Extras::default() };
        Rig::with(rules(json!({ "crm.find": { "maxPerDay": 2 }, "crm.*": { "maxPerDay": 3 } })), extras)
    };
    assert!(rig().host("crm.find", json!({})).await.is_ok());
    assert!(rig().script_one("crm.find", json!({})).await.is_ok());
    // Full for the one function; a call that is refused is not counted for all of them.
    for _ in 0..3 {
        assert!(rig().host("crm.find", json!({})).await.is_err());
    }
    assert!(rig().host("crm.note", json!({})).await.is_ok());
    assert!(rig().host("crm.note", json!({})).await.is_err());

    std::fs::write(&file, "no counts").unwrap();
    let broken = rig();
    let error = broken.host("crm.find", json!({})).await.unwrap_err();
    assert_eq!(error.code, "call.denied");
    assert_eq!(error.message, "crm.find cannot be called now: its calls cannot be counted");
    assert!(broken.operator_notices()[0].contains("counts.json"), "{:?}", broken.operator_notices());
    assert_eq!(broken.count(), 0);
    // A function without a daily limit does not read the file.
    assert!(broken.host("github.createIssue", json!({})).await.is_ok());
}

/// Calls that fail one after the other end a run, refused ones among them; one that succeeds starts the count anew.
#[tokio::test]
async fn too_many_consecutive_failures_end_the_run() {
    let rig = Rig::new(rules(json!({ "crm.note": "deny" })));
    let limits = Limits { failures: 2, ..Limits::default() };
    let attempts = |modes: &[&str]| {
        let calls: String = modes
            .iter()
            .map(|mode| match *mode {
                "denied" => "await crm.note({}).catch(() => 0);".to_owned(),
                mode => format!("await crm.find({{ mode: '{mode}' }}).catch(() => 0);"),
            })
            .collect();
        format!("{}{calls} export default 'over'", import("crm"))
    };
    let report = rig.run(&attempts(&["fail", "denied", "", "denied", "fail"]), limits.clone()).await;
    assert_eq!(report.outcome.unwrap(), json!("over"));
    let before = rig.count();
    let report = rig.run(&attempts(&["fail", "denied", "denied", "", ""]), limits.clone()).await;
    assert_eq!(report.outcome.unwrap_err().code, "limit.failures");
    assert_eq!(rig.count(), before + 1);
    let report = rig.run(&attempts(&["fail"; 5]), Limits::default()).await;
    assert_eq!(report.outcome.unwrap(), json!("over"));
}
