//! Rule precedence and required scopes.

use super::presets::{Decided, decided};
use super::rig::{Rig, rules, settings, with_scopes};
use Decided::{Allowed, Asked, Denied};
use serde_json::json;

#[tokio::test]
async fn the_most_specific_rule_decides_and_of_equals_the_strictest() {
    for (functions, expected) in [
        // A rule without a match has no effect.
        (json!({ "gitlab.*": "deny", "github.delete*": "deny" }), Allowed),
        (json!({ "*": "deny" }), Denied),
        (json!({ "*.*": "deny" }), Denied),
        (json!({ "github.*": "deny" }), Denied),
        (json!({ "*.createIssue": "deny" }), Denied),
        (json!({ "*.create*": "approve" }), Asked),
        (json!({ "g*b.*e*e": "deny" }), Denied),
        (json!({ "git.*": "deny", "githubs.*": "deny", "*.createissue": "deny", "*.reateIssue": "deny" }), Allowed),
        // A whole name over everything else.
        (
            json!({ "*": "deny", "github.*": "deny", "github.createIssu*": "deny", "github.createIssue": "allow" }),
            Allowed,
        ),
        (json!({ "*": "allow", "github.createIssue": "deny" }), Denied),
        (json!({ "github.*": "allow", "github.createIssue": "approve" }), Asked),
        // More letters over fewer, in either order and direction.
        (json!({ "github.*": "deny", "github.create*": "allow" }), Allowed),
        (json!({ "github.*": "allow", "github.create*": "deny" }), Denied),
        (json!({ "*.createIssue": "deny", "github.*": "allow" }), Denied),
        (json!({ "*": "deny", "*.c*": "allow" }), Allowed),
        // As many letters: the strictest.
        (json!({ "github.*": "allow", "*.create*": "deny" }), Denied),
        (json!({ "github.*": "deny", "*.create*": "allow" }), Denied),
        (json!({ "github.*": "approve", "*.create*": "allow" }), Asked),
        // A rule that decides nothing leaves it to the others.
        (json!({ "github.*": "deny", "github.createIssue": { "timeout": "1m" } }), Denied),
        (json!({ "github.createIssue": { "requiresApproval": true } }), Asked),
        (json!({ "github.*": "deny", "github.createIssue": { "requiresApproval": false } }), Allowed),
    ] {
        let rig = Rig::new(rules(functions.clone()));
        let outcome = rig.host("github.createIssue", json!({})).await;
        assert_eq!(decided(&outcome), expected, "{functions}: {outcome:?}");
        assert_eq!(rig.count(), usize::from(expected == Allowed), "{functions}");
    }
}

/// Rules of all spaces and of one: both hold, and of equals the strictest.
#[tokio::test]
async fn rules_of_a_space_and_global_rules_both_apply() {
    for (all, own, expected) in [
        ("allow", "deny", Denied),
        ("deny", "allow", Denied),
        ("approve", "allow", Asked),
        ("allow", "approve", Asked),
        ("allow", "allow", Allowed),
    ] {
        let (all, own) = (rules(json!({ "crm.find": all })), rules(json!({ "crm.find": own })));
        let rig = Rig::new(own.over(&all));
        assert_eq!(decided(&rig.host("crm.find", json!({})).await), expected, "{all:?} {own:?}");
    }
    let (all, own) = (rules(json!({ "crm.*": "deny" })), rules(json!({ "crm.find": "allow" })));
    assert_eq!(decided(&Rig::new(own.over(&all)).host("crm.find", json!({})).await), Allowed);
    assert_eq!(decided(&Rig::new(all.over(&own)).host("crm.note", json!({})).await), Denied);
    // The preset of the space alone.
    let (all, own) = (settings(json!("restrictive")), settings(json!("permissive")));
    assert_eq!(decided(&Rig::new(own.over(&all)).host("crm.find", json!({})).await), Allowed);
    assert_eq!(decided(&Rig::new(all.over(&own)).host("crm.find", json!({})).await), Asked);
}

/// Scopes of rules and definitions are required of every caller.
#[tokio::test]
async fn a_caller_without_every_scope_is_refused() {
    let functions = json!({ "crm.*": { "scopes": ["desk"] }, "crm.pay": { "scopes": ["boss", "desk"] } });
    let rig = Rig::new(rules(functions));
    for (label, scopes, expected) in [
        ("crm.find", &[][..], Denied),
        ("crm.find", &["Desk", "desks", "boss", "money"], Denied),
        ("crm.find", &["desk"], Allowed),
        ("crm.find", &["boss", "desk"], Allowed),
        // Of the definition, of the rule for all, of the rule for the one.
        ("crm.pay", &["desk", "boss"], Denied),
        ("crm.pay", &["money", "boss"], Denied),
        ("crm.pay", &["money", "desk"], Denied),
        ("crm.pay", &["money", "desk", "boss"], Allowed),
        ("github.createIssue", &[], Allowed),
    ] {
        let before = rig.count();
        let by_host = rig.host_as(with_scopes(scopes), label, json!({})).await;
        let by_script = rig.script_as(with_scopes(scopes), &[(label, json!({}))]).await.remove(0);
        assert_eq!((decided(&by_host), decided(&by_script)), (expected, expected), "{label} {scopes:?}");
        assert_eq!(rig.count() - before, if expected == Allowed { 2 } else { 0 }, "{label} {scopes:?}");
    }
}
