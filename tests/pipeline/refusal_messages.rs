//! Refusal messages: a script learns what it did, and nothing of the rules; the operator learns the rule.

use super::rig::{Rig, rules, with_scopes};
use serde_json::{Value, json};

/// Words that stand in rules and in no script.
const PRIVATE: [&str; 9] =
    ["hidden-corp", "hidden-scope", "hidden-name", "4711", "4712", "$.policy", "maxPer", "crm.*", "hidden"];

fn policy() -> Value {
    json!({
        "crm.remove": "deny",
        "crm.pay": { "scopes": ["hidden-scope"] },
        "crm.find": { "arguments": {
            "repo": { "matches": "hidden-corp/*", "optional": true },
            "amount": { "min": 4711, "max": 4712, "optional": true },
            "mode": { "oneOf": ["hidden-name"], "optional": true }
        } },
        "crm.note": { "maxPerRun": 1 },
        "github.createIssue": { "maxPerDay": 1 },
        "post.send": { "arguments": { "repo": { "not": "hidden-corp/**" }, "amount": { "max": 4711, "optional": true } } },
    })
}

/// A call, and the path and words of the rule that refuses it; `None` if it passes.
type Refused = (&'static str, Value, Option<(String, &'static str)>);

#[tokio::test]
async fn refusals_name_rules_to_the_operator_but_not_to_the_script() {
    let rig = Rig::new(rules(policy()));
    let place = |function: &str, rest: &str| format!("$.policy.functions[\"{function}\"]{rest}");
    let calls: Vec<Refused> = vec![
        ("crm.remove", json!({}), Some((place("crm.remove", ""), "write \"allow\""))),
        ("crm.pay", json!({}), Some((place("crm.pay", ".scopes"), "`hidden-scope`"))),
        ("crm.find", json!({ "repo": "acme/x" }), Some((place("crm.find", ".arguments"), "`hidden-corp/*`"))),
        ("crm.find", json!({ "repo": "acme/../x" }), Some((place("crm.find", ".arguments"), "segment of dots"))),
        ("crm.find", json!({ "amount": 1 }), Some((place("crm.find", ".arguments"), "at least 4711"))),
        ("crm.find", json!({ "mode": "x" }), Some((place("crm.find", ".arguments"), "hidden-name"))),
        ("crm.note", json!({}), None),
        ("crm.note", json!({}), Some((place("crm.note", ".maxPerRun"), "is 1"))),
        ("github.createIssue", json!({}), None),
        ("github.createIssue", json!({}), Some((place("github.createIssue", ".maxPerDay"), "is 1"))),
        ("post.send", json!({ "repo": "Hidden-Corp/x" }), Some((place("post.send", ".arguments"), "`hidden-corp/**`"))),
    ];
    let listed: Vec<_> = calls.iter().map(|(label, params, _)| (*label, params.clone())).collect();
    let caller = with_scopes(&["money"]);
    let outcomes = rig.script_as(caller, &listed).await;
    let told = rig.operator_notices();
    for ((label, params, expected), outcome) in calls.iter().zip(outcomes) {
        let Some((place, words)) = expected else {
            assert!(outcome.is_ok(), "{label} {params}: {outcome:?}");
            continue;
        };
        let error = outcome.unwrap_err();
        assert_eq!((error.code.as_str(), &error.details), ("call.denied", &None), "{label} {params}");
        assert!(error.message.starts_with(label), "{error:?}");
        for word in PRIVATE {
            assert!(!error.message.contains(word), "{label} {params} tells `{word}`: {error:?}");
        }
        // Arguments are not repeated either: they may contain secrets.
        for value in params.as_object().unwrap().values().filter_map(Value::as_str).filter(|text| text.len() > 1) {
            assert!(!error.message.contains(value), "{error:?}");
        }
        let has = |text: &&String| text.contains(place.as_str()) && text.contains(words) && text.starts_with(label);
        assert!(told.iter().any(|text| has(&text)), "{place} {words}: {told:#?}");
    }
}

/// Events and accounts of a refused call have the script's message.
#[tokio::test]
async fn events_of_refused_calls_do_not_reveal_rules() {
    let rig = Rig::new(rules(policy()));
    for (label, params) in
        [("crm.find", json!({ "repo": "acme/x" })), ("crm.pay", json!({})), ("crm.remove", json!({}))]
    {
        rig.host(label, params).await.unwrap_err();
    }
    let shown = serde_json::to_string(&*rig.events.lock().unwrap()).unwrap();
    assert!(shown.contains("callError"));
    for word in PRIVATE {
        assert!(!shown.contains(word), "{word}: {shown}");
    }
}

/// Each message is sent once, however often a script tries.
#[tokio::test]
async fn repeated_operator_messages_are_suppressed() {
    let rig = Rig::new(rules(policy()));
    for _ in 0..5 {
        rig.host("crm.remove", json!({})).await.unwrap_err();
    }
    assert_eq!(rig.operator_notices().len(), 1);
    for index in 0..300 {
        rig.host("crm.find", json!({ "repo": "acme/x", "n": index })).await.unwrap_err();
    }
    assert_eq!(rig.operator_notices().len(), 2);
}

/// A rate has a place like every other rule.
#[tokio::test]
async fn the_operator_learns_which_rate_limit_was_exceeded() {
    let rig = Rig::new(rules(json!({ "crm.find": { "rateLimit": { "requests": 1, "period": "day" } } })));
    rig.host("crm.find", json!({})).await.unwrap();
    rig.host("crm.find", json!({})).await.unwrap_err();
    let told = rig.operator_notices();
    assert!(told.iter().any(|text| text.contains("$.policy.functions[\"crm.find\"].rateLimit")), "{told:?}");
}
