//! Order of the pipeline steps, for every caller.

use super::rig::{Rig, ScriptedApprover, rules, with_scopes};
use agent_spaces::{Caller, CapabilityError};
use agent_spaces_approvals::Decision;
use serde_json::{Value, json};

/// Faults of a call, in the order of the checks.
const STEPS: [(&str, &str, &str); 8] = [
    ("grant", "call.denied", "was revoked"),
    ("caller", "call.denied", "no such function, or this caller may not call it"),
    ("scope", "call.denied", "no such function, or this caller may not call it"),
    ("validate", "call.invalid", "amount"),
    ("arguments", "call.denied", "the policy does not allow this value of `repo`"),
    ("rate", "call.rate_limited", "Rate limit exceeded."),
    ("counts", "call.denied", "call limit reached for today"),
    ("approval", "call.approval_denied", "was not approved: no"),
];

/// Function under test, and one that shares its rates and counts.
struct Subject {
    label: &'static str,
    sibling: &'static str,
    interface: &'static str,
    has_schema: bool,
}

const SUBJECTS: [Subject; 3] = [
    Subject { label: "crm.find", sibling: "crm.note", interface: "capabilities:crm/crm@1.0.0", has_schema: true },
    Subject {
        label: "github.createIssue",
        sibling: "github.closeIssue",
        interface: "capabilities:mcp-github/github@1.0.0",
        has_schema: true,
    },
    Subject { label: "post.send", sibling: "crm.note", interface: "test:post/post@1.0.0", has_schema: false },
];

/// A space in which everything from this step on is wrong with calls of the subject, and such a call.
async fn wrong_from(first: usize, subject: &Subject) -> (Rig, Caller, Value, std::sync::Arc<ScriptedApprover>) {
    let is_wrong = |name: &str| STEPS.iter().position(|(step, ..)| *step == name).unwrap() >= first;
    let Subject { label, sibling, interface, has_schema } = subject;
    let mut own = json!({ "timeout": "1m" });
    own["decision"] = json!(match (is_wrong("caller"), is_wrong("approval")) {
        (true, _) => "deny",
        (false, true) => "approve",
        (false, false) => "allow",
    });
    own["scopes"] = json!(["desk"]);
    own["arguments"] = json!({ "repo": { "matches": "acme/*" } });
    let mut functions = json!({ *label: own, "*": { "maxPerRun": 9 } });
    if is_wrong("rate") {
        functions["*.*"] = json!({ "rateLimit": { "requests": 1, "period": "day" } });
    }
    if is_wrong("counts") {
        functions["*"] = json!({ "maxPerDay": 1 });
    }
    let rig = Rig::new(rules(functions));
    rig.host(sibling, json!({})).await.unwrap();
    let person = ScriptedApprover::new((0..9).map(|_| Ok(Decision::deny("ada", Some("no".into())))));
    rig.space.approvals().ask(person.clone());
    if is_wrong("grant") {
        assert!(rig.space.grants().revoke(interface));
    }
    let caller = if is_wrong("scope") { with_scopes(&["other"]) } else { with_scopes(&["desk"]) };
    let repo = if is_wrong("arguments") { "acme/../x" } else { "acme/x" };
    let amount = if is_wrong("validate") && *has_schema { json!(5000) } else { json!(1) };
    (rig, caller, json!({ "repo": repo, "amount": amount }), person)
}

/// Calls from the host and from a script, which must get the same error.
async fn both(rig: &Rig, caller: &Caller, label: &str, params: &Value) -> Result<Value, CapabilityError> {
    let by_host = rig.host_as(caller.clone(), label, params.clone()).await;
    let by_script = rig.script_as(caller.clone(), &[(label, params.clone())]).await.remove(0);
    assert_eq!(by_host, by_script, "{label} {params}");
    by_host
}

/// Only the first fault is reported, and neither a person nor a provider sees the call; scripts and hosts get the same
/// code, text and details.
#[tokio::test]
async fn the_first_failing_step_is_reported() {
    for subject in &SUBJECTS {
        for (first, (name, code, text)) in STEPS.into_iter().enumerate() {
            if name == "validate" && !subject.has_schema {
                continue;
            }
            let (rig, caller, params, person) = wrong_from(first, subject).await;
            let before = rig.count();
            let error = both(&rig, &caller, subject.label, &params).await.unwrap_err();
            assert_eq!(error.code, code, "{} {name}: {error:?}", subject.label);
            assert!(error.message.contains(text), "{} {name}: {error:?}", subject.label);
            assert_eq!(rig.count(), before, "{} {name}", subject.label);
            assert_eq!(person.count(), if name == "approval" { 2 } else { 0 }, "{} {name}", subject.label);
        }
        let (rig, caller, params, person) = wrong_from(STEPS.len(), subject).await;
        let before = rig.count();
        assert_eq!(both(&rig, &caller, subject.label, &params).await.unwrap(), json!("done"));
        assert_eq!((rig.count(), person.count()), (before + 2, 0));
    }
}

/// Provider errors are the same for scripts and hosts too.
#[tokio::test]
async fn provider_failures_are_reported_alike_to_scripts_and_hosts() {
    let rig = Rig::new(rules(json!({ "*": { "timeout": "300ms" } })));
    for (mode, code) in [
        ("fail it broke", "call.failed"),
        ("busy", "call.unavailable"),
        ("detail x", "call.failed"),
        ("sleep 60000", "call.timeout"),
    ] {
        for label in ["crm.find", "github.createIssue", "post.send"] {
            let error = both(&rig, &Caller::default(), label, &json!({ "mode": mode })).await.unwrap_err();
            assert_eq!(error.code, code, "{label} {mode}");
        }
    }
    let unknown = both(&rig, &Caller::default(), "crm.nothing", &json!({})).await.unwrap_err();
    assert_eq!(
        (unknown.code.as_str(), unknown.message.as_str()),
        ("call.denied", "crm.nothing: no such function, or this caller may not call it")
    );
}

/// Type errors are refused in the guest, with the same code.
#[tokio::test]
async fn type_errors_have_the_same_code() {
    let rig = Rig::new(rules(json!({})));
    for label in ["crm.find", "github.createIssue"] {
        let params = json!({ "amount": "many" });
        let by_host = rig.host(label, params.clone()).await.unwrap_err();
        let by_script = rig.script_one(label, params).await.unwrap_err();
        assert_eq!((by_host.code.as_str(), by_script.code.as_str()), ("call.invalid", "call.invalid"));
        let place = |error: &CapabilityError| error.details.as_ref().unwrap()["issues"][0]["path"].clone();
        assert_eq!((place(&by_host), place(&by_script)), (json!("amount"), json!("amount")));
    }
    assert_eq!(rig.count(), 0);
}
