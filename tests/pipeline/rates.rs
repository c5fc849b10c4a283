//! How fast calls may follow one another.

use super::rig::{Rig, import, rules, settings};
use agent_spaces::{CapabilityError, Limits};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Whether the call was refused, and then as every call that comes too early is.
fn is_limited(outcome: Result<Value, CapabilityError>, seconds: std::ops::RangeInclusive<u64>) -> bool {
    let Err(error) = outcome else { return false };
    assert_eq!((error.code.as_str(), error.retryable), ("call.rate_limited", true));
    let details = error.details.unwrap();
    let after = details["retryAfter"].as_u64().unwrap();
    assert!(seconds.contains(&after), "{after}");
    assert_eq!(error.message, format!("Rate limit exceeded. Try again in {after} seconds."));
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
async fn every_rate_is_kept_for_all_that_share_it() {
    // Of the function, by its definition: two in a minute.
    let rig = Rig::new(rules(json!({})));
    assert_eq!(
        limited(&rig, &["crm.ping", "crm.ping", "crm.ping", "crm.find", "crm.ping"], 20..=30).await,
        [false, false, true, false, true]
    );
    // Of the capability, by its definition's configuration: two in an hour.
    let labels = ["mail.first", "mail.second", "mail.first", "mail.second", "crm.find"];
    assert_eq!(limited(&rig, &labels, 1_770..=1_800).await, [false, false, true, true, false]);
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
    assert_eq!(limited(&rig, &labels, 28_770..=28_800).await, [false, false, false, true, false, true]);
    // Of the space, over all functions.
    let rig = Rig::new(settings(json!({ "rateLimit": { "requests": 2, "period": "hour" } })));
    let labels = ["crm.find", "post.send", "github.createIssue", "time.now", "mail.first"];
    assert_eq!(limited(&rig, &labels, 1_770..=1_800).await, [false, false, true, true, true]);
    assert_eq!(rig.count(), 2);
}

/// A call that one rate refuses takes nothing from another.
#[tokio::test]
async fn a_refused_call_costs_nothing_elsewhere() {
    let narrow = json!({ "requests": 1, "period": "day" });
    let functions =
        json!({ "crm.find": { "rateLimit": narrow }, "crm.*": { "rateLimit": { "requests": 3, "period": "day" } } });
    let rig = Rig::new(rules(functions));
    let labels = ["crm.find", "crm.find", "crm.find", "crm.find", "crm.note", "crm.note", "crm.note"];
    let expected = [false, true, true, true, false, false, true];
    assert_eq!(limited(&rig, &labels, 28_770..=86_400).await, expected);
}

/// With `wait`, a call that comes a little early is made later; one that would wait for longer is refused at once.
#[tokio::test]
async fn a_call_may_wait_for_its_turn() {
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
    assert!(begun.elapsed() >= Duration::from_millis(250), "three had to wait");
    let begun = Instant::now();
    assert_eq!(limited(&rig, &["crm.note", "crm.note"], 3_570..=3_600).await, [false, true]);
    assert!(begun.elapsed() < Duration::from_secs(20), "nobody waits in vain");
}

/// A rate that is over lets calls through again.
#[tokio::test]
async fn time_brings_new_turns() {
    let rig = Rig::new(rules(json!({ "crm.find": { "rateLimit": { "requests": 2, "period": "second" } } })));
    for _ in 0..2 {
        assert!(!is_limited(rig.host("crm.find", json!({})).await, 1..=1));
    }
    assert!(is_limited(rig.host("crm.find", json!({})).await, 1..=1));
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert!(!is_limited(rig.host("crm.find", json!({})).await, 1..=1));
    assert!(is_limited(rig.host("crm.find", json!({})).await, 1..=1));
}
