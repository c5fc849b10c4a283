//! Argument constraints of a policy.

use super::rig::{Rig, rules};
use serde_json::{Value, json};

/// True if a call passes from a host and from a script, for a compiled function and for handwritten WIT.
async fn passes(constraint: &Value, params: &Value) -> bool {
    let rig = Rig::new(rules(json!({ "*": { "arguments": constraint } })));
    let mut passed = Vec::new();
    for label in ["crm.find", "github.createIssue", "post.send"] {
        for outcome in [rig.host(label, params.clone()).await, rig.script_one(label, params.clone()).await] {
            if let Err(error) = &outcome {
                assert_eq!(error.code, "call.denied", "{label} {constraint} {params}: {error:?}");
            }
            passed.push(outcome.is_ok());
        }
    }
    let count = passed.iter().filter(|passed| **passed).count();
    assert_eq!(rig.count(), count, "{constraint} {params}");
    assert!(count == 0 || count == passed.len(), "not alike: {constraint} {params} {passed:?}");
    count > 0
}

#[tokio::test]
async fn only_matching_values_reach_the_provider() {
    let repo = json!({ "repo": { "matches": "acme/*" } });
    let amount = json!({ "amount": { "min": 0, "max": 100 } });
    for (constraint, params, expected) in [
        (&repo, json!({ "repo": "acme/tools" }), true),
        (&repo, json!({ "repo": "acme/../x" }), false),
        (&repo, json!({ "repo": "acme/%2e%2e" }), false),
        (&repo, json!({ "repo": "acme/x\u{200b}" }), false),
        (&repo, json!({ "repo": "other/x" }), false),
        (&repo, json!({ "repo": "acme/x/y" }), false),
        (&repo, json!({ "repo": "" }), false),
        (&repo, json!({}), false),
        (&json!({ "repo": { "matches": "acme/*", "optional": true } }), json!({}), true),
        (&json!({ "repo": { "matches": "acme/*", "optional": true } }), json!({ "repo": "x" }), false),
        (&json!({ "repo": { "not": "secret/**" } }), json!({ "repo": "open/x" }), true),
        (&json!({ "repo": { "not": "secret/**" } }), json!({ "repo": "SECRET/x/y" }), false),
        (&json!({ "repo": { "oneOf": ["a", "b"] } }), json!({ "repo": "b" }), true),
        (&json!({ "repo": { "oneOf": ["a", "b"] } }), json!({ "repo": "B" }), false),
        (&amount, json!({ "amount": 100 }), true),
        (&amount, json!({ "amount": 0 }), true),
        (&amount, json!({ "amount": 100.000001 }), false),
        (&amount, json!({ "amount": -1 }), false),
        (&amount, json!({ "repo": "100" }), false),
        (
            &json!({ "repo": { "matches": "acme/*" }, "amount": { "max": 100 } }),
            json!({ "repo": "acme/x", "amount": 1 }),
            true,
        ),
        (
            &json!({ "repo": { "matches": "acme/*" }, "amount": { "max": 100 } }),
            json!({ "repo": "acme/x", "amount": 101 }),
            false,
        ),
        // A path to where nothing can be.
        (&json!({ "repo.name": { "matches": "*" } }), json!({ "repo": "x" }), false),
    ] {
        assert_eq!(passes(constraint, &params).await, expected, "{constraint} {params}");
    }
}

/// A rule may tighten what another one allows, and never widen it.
#[tokio::test]
async fn the_constraints_of_all_rules_apply() {
    let functions = json!({
        "*": { "arguments": { "amount": { "max": 100 } } },
        "crm.*": { "arguments": { "amount": { "max": 10 } } },
        "crm.find": { "decision": "allow", "arguments": { "amount": { "max": 1000 } } },
    });
    let rig = Rig::new(rules(functions));
    for (label, amount, expected) in
        [("crm.find", 10, true), ("crm.find", 11, false), ("post.send", 100, true), ("post.send", 101, false)]
    {
        assert_eq!(rig.host(label, json!({ "amount": amount })).await.is_ok(), expected, "{label} {amount}");
    }
}

/// Defaults are checked like the script's own values.
#[tokio::test]
async fn constraints_apply_to_defaults() {
    for (most, expected) in [(1, true), (0, false)] {
        let rig = Rig::new(rules(json!({ "crm.find": { "arguments": { "n": { "min": -1, "max": most } } } })));
        let outcome = rig.script_one("crm.find", json!({})).await;
        assert_eq!(outcome.is_ok(), expected, "{outcome:?}");
    }
}
