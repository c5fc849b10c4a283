//! Rate limits.

use super::rig::{Extras, Rig, import, rules, settings};
use agent_spaces::{CapabilityError, Limits};
use agent_spaces_policy::RateFile;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// True if the call was refused, with the usual error of rate limits.
fn is_limited(outcome: Result<Value, CapabilityError>, seconds: std::ops::RangeInclusive<u64>) -> bool {
    let Err(error) = outcome else { return false };
    assert_eq!((error.code.as_str(), error.retryable), ("call.rate_limited", true));
    let details = error.details.unwrap();
    let after = details["retryAfter"].as_u64().unwrap();
    assert!(seconds.contains(&after), "{after}");
    let noun = if after == 1 { "second" } else { "seconds" };
    assert_eq!(error.message, format!("Rate limit exceeded. Try again in {after} {noun}."));
    assert_eq!(details["hint"], "rate_limited");
    true
}

async fn limited(rig: &Rig, labels: &[&str], seconds: std::ops::RangeInclusive<u64>) -> Vec<bool> {
    let mut outcomes = Vec::new();
    for (index, label) in labels.iter().enumerate() {
        // Scripts and the host take turns from the same rates.
        let outcome = match index % 2 {
            0 => rig.script_one(label, json!({})).await,
            _ => rig.host(label, json!({})).await,
        };
        outcomes.push(is_limited(outcome, seconds.clone()));
    }
    outcomes
}

#[tokio::test]
async fn a_rate_limit_is_shared_by_its_functions() {
    // Of the function, by its definition: two in a minute.
    let rig = Rig::new(rules(json!({})));
    assert_eq!(
        limited(&rig, &["crm.ping", "crm.ping", "crm.ping", "crm.find", "crm.ping"], 55..=60).await,
        [false, false, true, false, true]
    );
    // Of the capability, by its definition's configuration: two in an hour.
    let labels = ["mail.first", "mail.second", "mail.first", "mail.second", "crm.find"];
    assert_eq!(limited(&rig, &labels, 3_570..=3_600).await, [false, false, true, true, false]);
    // Of a rule, over all functions that it is about.
    let rig = Rig::new(rules(json!({ "*.*ss*": { "rateLimit": { "requests": 3, "period": "day" } } })));
    let labels = [
        "github.closeIssue",
        "github.createIssue",
        "github.listIssues",
        "github.createIssue",
        "crm.find",
        "github.listIssues",
    ];
    assert_eq!(limited(&rig, &labels, 86_370..=86_400).await, [false, false, false, true, false, true]);
    // Of the space, over all functions.
    let rig = Rig::new(settings(json!({ "rateLimit": { "requests": 2, "period": "hour" } })));
    let labels = ["crm.find", "post.send", "github.createIssue", "time.now", "mail.first"];
    assert_eq!(limited(&rig, &labels, 3_570..=3_600).await, [false, false, true, true, true]);
    assert_eq!(rig.count(), 2);
}

/// A call that one rate refuses takes nothing from another.
#[tokio::test]
async fn a_refused_call_does_not_count_at_other_limits() {
    let narrow = json!({ "requests": 1, "period": "day" });
    let functions =
        json!({ "crm.find": { "rateLimit": narrow }, "crm.*": { "rateLimit": { "requests": 3, "period": "day" } } });
    let rig = Rig::new(rules(functions));
    let labels = ["crm.find", "crm.find", "crm.find", "crm.find", "crm.note", "crm.note", "crm.note"];
    let expected = [false, true, true, true, false, false, true];
    assert_eq!(limited(&rig, &labels, 86_370..=86_400).await, expected);
}

/// With `wait`, a call that comes a little early is made later; one that would wait for longer is refused at once.
#[tokio::test]
async fn a_call_may_wait_for_a_slot() {
    let functions = json!({
        "crm.find": { "rateLimit": { "requests": 10, "period": "second", "wait": "2s" } },
        "crm.note": { "rateLimit": { "requests": 1, "period": "hour", "wait": "30s" } },
    });
    let rig = Rig::new(rules(functions));
    let source = format!(
        "{}const all = await Promise.all(Array.from({{ length: 13 }}, () => crm.find({{}}))); export default all.length",
        import("crm")
    );
    let begun = Instant::now();
    assert_eq!(rig.run(&source, Limits::default()).await.outcome.unwrap(), json!(13));
    assert!(begun.elapsed() >= Duration::from_millis(900), "three had to wait until the first was a second ago");
    let begun = Instant::now();
    assert_eq!(limited(&rig, &["crm.note", "crm.note"], 3_570..=3_600).await, [false, true]);
    assert!(begun.elapsed() < Duration::from_secs(20), "nobody waits in vain");
}

/// A rate that is over lets calls through again.
#[tokio::test]
async fn slots_free_up_over_time() {
    let rig = Rig::new(rules(json!({ "crm.find": { "rateLimit": { "requests": 2, "period": "second" } } })));
    for _ in 0..2 {
        assert!(!is_limited(rig.host("crm.find", json!({})).await, 1..=1));
    }
    assert!(is_limited(rig.host("crm.find", json!({})).await, 1..=1));
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(is_limited(rig.host("crm.find", json!({})).await, 1..=1), "not twice as many around the turn of a period");
    tokio::time::sleep(Duration::from_millis(500)).await;
    for _ in 0..2 {
        assert!(!is_limited(rig.host("crm.find", json!({})).await, 1..=1));
    }
    assert!(is_limited(rig.host("crm.find", json!({})).await, 1..=1));
}

/// Several hosts over one file are as one.
#[tokio::test]
async fn processes_share_rate_limits() {
    let folder = tempfile::tempdir().unwrap();
    let rule = json!({ "crm.*": { "rateLimit": { "requests": 3, "period": "hour" } } });
    let rig = || {
        let rates = Some(RateFile::new(folder.path().join("rates.json")));
        Rig::with(rules(rule.clone()), Extras { rates, ..Extras::default() })
    };
    let (first, second) = (rig(), rig());
    let mut outcomes = Vec::new();
    for rig in [&first, &second, &first, &second, &first] {
        outcomes.push(is_limited(rig.script_one("crm.find", json!({})).await, 3_570..=3_601));
    }
    assert_eq!(outcomes, [false, false, false, true, true]);
    assert_eq!(first.count() + second.count(), 3);
    // A call refused by the shared limit does not count against this process.
    std::fs::remove_file(folder.path().join("rates.json")).unwrap();
    assert!(second.host("crm.note", json!({})).await.is_ok() && second.host("crm.note", json!({})).await.is_ok());
}

/// Calls that cannot be counted are refused, and the operator learns why.
#[tokio::test]
async fn an_unreadable_file_refuses_calls() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rates.json");
    std::fs::write(&path, "{").unwrap();
    let rule = rules(json!({ "crm.find": { "rateLimit": { "requests": 3, "period": "hour" } } }));
    let rig = Rig::with(rule, Extras { rates: Some(RateFile::new(&path)), ..Extras::default() });
    let error = rig.script_one("crm.find", json!({})).await.unwrap_err();
    assert_eq!(error.code, "call.denied");
    assert_eq!(error.message, "crm.find cannot be called now: its calls cannot be counted");
    assert!(
        rig.operator_notices().iter().any(|text| text.contains("rates.json") && text.contains("`rateLimit`")),
        "{:?}",
        rig.operator_notices()
    );
    assert_eq!(rig.count(), 0);
    assert!(rig.script_one("crm.note", json!({})).await.is_ok(), "what no rate bounds goes on");
}
