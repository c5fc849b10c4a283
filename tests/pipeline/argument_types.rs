//! Type errors in arguments: refused like any other call, with all faults.

use super::rig::{Extras, Rig, import, rules, with_scopes};
use agent_spaces::{Accounting, CapabilityError, EventKind, Limits};
use agent_spaces_mcp::secrets::{Redactor, Secret};
use serde_json::{Value, json};

fn open_rig() -> Rig {
    Rig::new(rules(json!({})))
}

/// Paths of faults, in reported order.
fn paths(error: &CapabilityError) -> Vec<&str> {
    let issues = error.details.as_ref().and_then(|details| details["issues"].as_array());
    issues.into_iter().flatten().filter_map(|issue| issue["path"].as_str()).collect()
}

/// Error that the script caught.
async fn caught(rig: &Rig, call: &str) -> Value {
    let source = format!(
        "{}try {{ {call}; }} catch (e) {{ return {{ code: e.code, message: e.message, details: e.details ?? null }}; }}",
        import("shop") + &import("post")
    );
    rig.run(&source, Limits::default()).await.outcome.unwrap_or_else(|error| panic!("{call}: {error:?}"))
}

/// A type, a range and a word that is none of an enum's, of one call: one list, in the order of the parameters.
#[tokio::test]
async fn all_faults_are_reported_at_once() {
    let rig = open_rig();
    let wrong = json!({ "colour": "gren", "n": "many", "amount": 5000, "repo": 7, "more": true });
    let error = rig.script_one("shop.paint", wrong.clone()).await.unwrap_err();
    assert_eq!(error.code, "call.invalid");
    assert_eq!(paths(&error), ["more", "repo", "amount", "n", "colour"], "{error:?}");
    assert!(error.message.starts_with("shop.paint: more: ") && error.message.ends_with("(and 4 more)"), "{error:?}");
    // The host's own calls are told of the same places.
    let by_host = rig.host("shop.paint", wrong).await.unwrap_err();
    let mut expected = paths(&by_host);
    expected.sort_unstable();
    let mut told = paths(&error);
    told.sort_unstable();
    assert_eq!(told, expected);
    assert_eq!(rig.count(), 0, "no provider hears of it");
}

/// Valid values are not reported, in any form.
#[tokio::test]
async fn only_faults_are_reported() {
    let rig = open_rig();
    for (call, expected) in [
        // Defaults hold for members that are not there.
        ("await shop.paint({ amount: 'x' })", &["amount"][..]),
        ("await shop.paint({ n: 5n, amount: 'x' })", &["amount"]),
        ("await shop.paint({ n: undefined, amount: 'x', repo: new Date(0) })", &["repo", "amount"]),
        ("await shop.paint({ icon: new Uint8Array([1, 2]), amount: 'x' })", &["amount"]),
        ("await shop.paint({ amount: NaN, colour: 'blue' })", &["amount", "colour"]),
        ("await shop.paint({ tags: ['a', 5, 'b', 'c'] })", &["tags[1]", "tags"]),
        ("await shop.paint({ tags: new Map() })", &["tags"]),
        ("await shop.paint({ repo: Promise.resolve('x'), amount: 2000 })", &["repo", "amount"]),
        ("await shop.paint({ repo: () => 1, amount: 2000, self: globalThis })", &["self", "repo", "amount"]),
        ("await shop.paint({ repo: 'a\\ud800', amount: 2000 })", &["repo", "amount"]),
        ("await shop.paint(5)", &[""]),
        // Their contents would be lost silently.
        ("await shop.paint(new Map([['repo', 'a']]))", &[""]),
        ("await shop.paint(Promise.resolve({ repo: 'a' }))", &[""]),
        ("await shop.paint(new URL('https://a.test/'))", &[""]),
        ("await shop.paint(new Error('x'))", &[""]),
        ("await shop.paint({}, { amount: 2000 })", &[""]),
        ("await post.send({ amount: 'x', n: -1 })", &["amount", "n"]),
    ] {
        let error = caught(&rig, call).await;
        let issues = error["details"]["issues"].as_array().unwrap_or_else(|| panic!("{call}: {error}"));
        let told: Vec<_> = issues.iter().map(|issue| issue["path"].as_str().unwrap()).collect();
        assert_eq!(told, expected, "{call}: {error}");
    }
    let missing = caught(&rig, "await shop.sell({ amount: 'x' })").await;
    assert_eq!(missing["details"]["hint"], "missing_fields", "{missing}");
}

/// Throwing, changing and endless getters, and endless values: the script gets an error, or reaches its own limits.
#[tokio::test]
async fn hostile_arguments_are_harmless() {
    let rig = open_rig();
    let huge = "'x'.repeat(3 << 20)";
    for call in [
        "let n = 0; await shop.paint({ amount: 'x', get repo() { if (n++) throw new Error('second'); return 1; } })",
        "const o = { amount: 'x' }; o.repo = o; await shop.paint(o)",
        "let deep = []; for (let i = 0; i < 5000; i++) deep = [deep]; await shop.paint({ amount: 'x', repo: deep })",
        &format!("await shop.paint({{ amount: 'x', repo: {huge} }})"),
        "await shop.paint({ amount: 'x', ['\\ud800']: 1 })",
        "await shop.paint(new Proxy({}, { ownKeys: () => ['amount'], get: () => 'x',
            getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) }))",
    ] {
        assert_eq!(caught(&rig, call).await["code"], "call.invalid", "{call}");
    }
    let endless =
        format!("{}await shop.paint({{ amount: 'x', repo: {{ toJSON() {{ for (;;); }} }} }})", import("shop"));
    let limits = Limits { fuel: 50_000_000, ..Limits::default() };
    assert_eq!(rig.run(&endless, limits).await.outcome.unwrap_err().code, "limit.fuel");
    // It counts as what was sent.
    let long = format!("{}await shop.paint({{ amount: 'x', repo: 'y'.repeat(5000) }})", import("shop"));
    let limits = Limits { call_bytes: 1_000, ..Limits::default() };
    assert_eq!(rig.run(&long, limits).await.outcome.unwrap_err().code, "limit.bytes");
}

/// It is an event and a line of the accounts, without the secrets that were passed.
#[tokio::test]
async fn a_refused_call_has_an_event_and_an_accounting_line() {
    const SECRET: &str = "hunter2-and-more";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let accounting = Accounting::to_file(&file, Redactor::default()).unwrap();
    let redactor = Redactor::default();
    redactor.add(&Secret::new(SECRET));
    let rig = Rig::with(rules(json!({})), Extras { redactor, accounting, ..Extras::default() });
    let wrong = json!({ "repo": SECRET, "amount": SECRET, SECRET: 1 });
    let error = rig.script_one("shop.paint", wrong).await.unwrap_err();
    assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    let events: Vec<_> = rig.events.lock().unwrap().iter().map(|event| event.kind.clone()).collect();
    let scheduled = events.iter().find_map(|kind| match kind {
        EventKind::CallScheduled { call_id, function, params, .. } => {
            Some((*call_id, function.to_string(), params.clone()))
        }
        _ => None,
    });
    let (id, function, params) = scheduled.expect("the call is an event");
    assert_eq!((function.as_str(), &params["repo"]), ("paint", &json!("[redacted]")));
    let ended = events.iter().find_map(|kind| match kind {
        EventKind::CallError { call_id, code, message, .. } => Some((*call_id, code.clone(), message.clone())),
        _ => None,
    });
    let (ended, code, message) = ended.expect("its end is an event");
    assert_eq!((ended, code.as_str(), &message), (id, "call.invalid", &error.message));
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1, "{text}");
    assert_eq!((&lines[0]["command"], &lines[0]["status"]), (&json!("paint"), &json!("failed")));
    assert_eq!(lines[0]["error"], json!(error.message));
    assert!(lines[0]["charactersIn"].as_u64().unwrap() > 10, "{text}");
    assert!(!text.contains(SECRET) && !format!("{events:?}").contains(SECRET));
}

/// Each counts towards the limits of a run, whether the script catches it or not.
#[tokio::test]
async fn refused_calls_count_towards_the_runs_limits() {
    let rig = open_rig();
    let source = format!(
        "{}for (let i = 0; i < 10; i++) await crm.find({{ amount: 'x' }}).catch(() => {{}}); export default 'end'",
        import("crm")
    );
    let report = rig.run(&source, Limits::default()).await;
    assert_eq!((report.outcome.unwrap(), report.usage.calls), (json!("end"), 10));
    for (limits, code) in [
        (Limits { calls: 9, ..Limits::default() }, "limit.calls"),
        (Limits { failures: 9, ..Limits::default() }, "limit.failures"),
    ] {
        assert_eq!(rig.run(&source, limits).await.outcome.unwrap_err().code, code);
    }
    for limits in [Limits { calls: 10, ..Limits::default() }, Limits { failures: 10, ..Limits::default() }] {
        assert_eq!(rig.run(&source, limits).await.outcome.unwrap(), json!("end"));
    }
}

/// A caller without access learns nothing of the parameters, nor that they are wrong.
#[tokio::test]
async fn denial_comes_before_schema_validation() {
    let wrong = json!({ "amount": "x", "n": 1.5, "nonsense": 1 });
    let told = |outcome: Result<Value, CapabilityError>, label: &str| {
        let error = outcome.unwrap_err();
        assert_eq!((error.code.as_str(), &error.details), ("call.denied", &None), "{label}: {error:?}");
        for word in ["amount", "expected", "nonsense", "unknown"] {
            assert!(!error.message.contains(word), "{label}: {error:?}");
        }
    };
    let rig = Rig::new(rules(json!({ "crm.note": "deny" })));
    told(rig.script_one("crm.note", wrong.clone()).await, "denied");
    told(rig.script_one("crm.pay", wrong.clone()).await, "a scope that is missing");
    assert_eq!(
        rig.script_as(with_scopes(&["money"]), &[("crm.pay", wrong.clone())]).await[0].as_ref().unwrap_err().code,
        "call.invalid"
    );
    assert!(rig.space.grants().revoke("capabilities:crm/crm@1.0.0"));
    told(rig.script_one("crm.find", wrong).await, "taken back");
}

/// Refused calls do not count towards rate and call limits.
#[tokio::test]
async fn a_refused_call_does_not_count_towards_rate_and_call_limits() {
    let rig = Rig::new(rules(json!({ "crm.find": { "maxPerRun": 1 } })));
    let wrong = json!({ "amount": "x" });
    let calls = [
        ("crm.find", wrong.clone()),
        ("crm.find", wrong.clone()),
        ("crm.find", json!({})),
        ("crm.ping", wrong.clone()),
        ("crm.ping", wrong),
        ("crm.ping", json!({})),
        ("crm.ping", json!({})),
    ];
    let outcomes = rig.script(&calls).await;
    let codes: Vec<_> =
        outcomes.iter().map(|each| each.as_ref().err().map_or("ok", |error| error.code.as_str())).collect();
    assert_eq!(codes, ["call.invalid", "call.invalid", "ok", "call.invalid", "call.invalid", "ok", "ok"]);
}
