//! Events of calls: the same for every provider, in the published shape.

use super::rig::{Extras, Rig, ScriptedApprover, import, named, rules, settings};
use agent_spaces::{Accounting, Limits};
use agent_spaces_approvals::{ChannelError, Decision};
use agent_spaces_mcp::secrets::Redactor;
use jsonschema::Validator;
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn schema() -> Validator {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../schemas/event.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

/// Returns the events since the last call.
fn drain_events(rig: &Rig) -> Vec<Value> {
    let events = std::mem::take(&mut *rig.events.lock().unwrap());
    events.iter().map(|event| serde_json::to_value(event).unwrap()).collect()
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().filter_map(|event| event["type"].as_str()).collect()
}

/// Kinds of providers: a handler, a tool, handwritten WIT, the standard library.
const KINDS: [&str; 4] = ["crm.find", "github.createIssue", "post.send", "time.now"];

#[tokio::test]
async fn events_are_the_same_for_every_provider() {
    let asked = ["callScheduled", "runPaused", "approvalRequired", "approvalDecided", "runResumed"];
    let with = |last: &'static str| -> Vec<&str> { asked.into_iter().chain([last]).collect() };
    for (rule, decision, expected) in [
        (json!("allow"), None, vec!["callScheduled", "callResult"]),
        (json!("deny"), None, vec!["callScheduled", "callError"]),
        (json!({ "scopes": ["x"] }), None, vec!["callScheduled", "callError"]),
        (json!("approve"), None, vec!["callScheduled", "callError"]),
        (json!("approve"), Some(Ok(Decision::approve("ada"))), with("callResult")),
        (json!("approve"), Some(Ok(Decision::deny("ada", Some("no".into())))), with("callError")),
        (json!("approve"), Some(Err(ChannelError::Nobody("gone".into()))), with("callError")),
        (json!("approve"), Some(Err(ChannelError::Expired)), with("callError")),
    ] {
        for label in KINDS {
            let rig = Rig::new(rules(json!({ label: rule })));
            let person = decision.as_ref().map(|decision| {
                let decide = || match decision {
                    Ok(decision) => Ok(decision.clone()),
                    Err(ChannelError::Expired) => Err(ChannelError::Expired),
                    Err(ChannelError::Nobody(why)) => Err(ChannelError::Nobody(why.clone())),
                };
                let person = ScriptedApprover::new([decide(), decide()]);
                rig.space.approvals().ask(person.clone());
                person
            });
            rig.script_one(label, json!({})).await.ok();
            let by_script = drain_events(&rig);
            let [start, calls @ .., end] = &types(&by_script)[..] else { panic!("{by_script:?}") };
            assert_eq!((*start, *end), ("runStarted", "runFinished"));
            assert_eq!(calls, expected, "{label} {rule}");
            // The observer also gets events of the host's own calls.
            rig.host(label, json!({})).await.ok();
            let by_host = drain_events(&rig);
            assert_eq!(types(&by_host), expected, "{label} {rule}");
            assert_eq!(person.map_or(0, |person| person.count()), if decision.is_some() { 2 } else { 0 });
            for events in [&by_script, &by_host] {
                let ids: BTreeSet<_> = events.iter().map(|event| event["runId"].as_str().unwrap()).collect();
                assert_eq!(ids.len(), 1, "one run");
                let numbers: Vec<_> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
                assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
            }
            assert_ne!(by_script[0]["runId"], by_host[0]["runId"]);
            let scheduled = &by_host[0];
            let name = label.split_once('.').unwrap();
            assert_eq!(
                (scheduled["capability"].as_str(), scheduled["function"].as_str()),
                (Some(name.0), Some(name.1))
            );
        }
    }
}

#[tokio::test]
async fn every_event_and_account_names_the_caller() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calls.jsonl");
    let accounting = Accounting::to_file(&file, Redactor::default()).unwrap();
    let rig = Rig::with(rules(json!({})), Extras { accounting, ..Extras::default() });
    rig.script_as(named("ann"), &[("crm.find", json!({}))]).await;
    rig.host_as(named("ann"), "crm.find", json!({})).await.unwrap();
    let by_ann = drain_events(&rig);
    assert!(by_ann.len() >= 6 && by_ann.iter().all(|event| event["caller"] == "ann"), "{by_ann:?}");
    by_ann.iter().for_each(|event| assert!(schema().is_valid(event), "{event}"));
    rig.host("crm.find", json!({})).await.unwrap();
    let anonymous = drain_events(&rig);
    assert_eq!(types(&anonymous), ["callScheduled", "callResult"]);
    assert!(anonymous.iter().all(|event| event.get("caller").is_none()), "{anonymous:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    let callers: Vec<Value> =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["caller"].clone()).collect();
    assert_eq!(callers, [json!("ann"), json!("ann"), Value::Null]);
}

/// An answer that was kept says so, and only such a one does.
#[tokio::test]
async fn a_cached_answer_is_marked_as_such() {
    let rig = Rig::new(rules(json!({ "crm.find": { "idempotent": true, "cache": "1m" } })));
    let results = |events: Vec<Value>| -> Vec<Value> {
        let results = events.iter().filter(|event| event["type"] == "callResult");
        results.map(|event| event.get("cached").cloned().unwrap_or_default()).collect()
    };
    rig.script(&[("crm.find", json!({})), ("crm.find", json!({})), ("crm.find", json!({ "n": 2 }))]).await;
    assert_eq!(results(drain_events(&rig)), [Value::Null, json!(true), Value::Null]);
    rig.host("crm.find", json!({})).await.unwrap();
    assert_eq!(results(drain_events(&rig)), [json!(true)]);
    assert_eq!(rig.count(), 2);
}

/// Returns events of every kind.
async fn all_events() -> Vec<Value> {
    let functions = json!({
        "crm.note": "deny",
        "crm.find": { "idempotent": true, "cache": "1m", "timeout": "300ms" },
        "post.send": "approve",
        "crm.ping": { "idempotent": true, "retries": 1 },
        "github.*": { "rateLimit": { "requests": 1, "period": "day" } },
    });
    let rig = Rig::new(settings(json!({ "functions": functions })));
    let person = ScriptedApprover::new([
        Ok(Decision::approve("ada")),
        Ok(Decision::deny("ada", Some("no".into()))),
        Ok(Decision::deny("ada", None)),
        Err(ChannelError::Expired),
    ]);
    rig.space.approvals().ask(person);
    let calls = [
        ("crm.find", json!({})),
        ("crm.find", json!({})),
        ("crm.find", json!({ "mode": "sleep 60000" })),
        ("crm.find", json!({ "mode": "fail" })),
        ("crm.find", json!({ "mode": "tell half" })),
        ("crm.find", json!({ "amount": 5000 })),
        ("crm.note", json!({})),
        ("crm.ping", json!({ "mode": "busy" })),
        ("post.send", json!({ "repo": "a" })),
        ("post.send", json!({})),
        ("post.send", json!({})),
        ("post.send", json!({})),
        ("post.send", json!({})),
        ("github.createIssue", json!({})),
        ("github.createIssue", json!({})),
        ("time.now", json!({})),
        ("json.parse", json!({ "text": "{" })),
    ];
    rig.script(&calls).await;
    for (label, params) in calls {
        rig.host(label, params).await.ok();
    }
    let small = Limits { calls: 1, fuel: 400_000_000, console: 100, ..Limits::default() };
    for source in [
        "console.log('a'); console.info('b'); console.warn('c'); console.error('d'); console.debug('e')",
        "throw new TypeError('no')",
        "for (;;);",
        "console.log('x'.repeat(1000))",
        &format!("{}await crm.find({{}}); await crm.find({{}})", import("crm")),
        "export default 'x'",
    ] {
        rig.run(source, small.clone()).await.outcome.ok();
    }
    drain_events(&rig)
}

/// Every event matches the published schema, which is not empty.
#[tokio::test]
async fn every_event_has_the_published_shape() {
    let schema = schema();
    let events = all_events().await;
    let kinds: BTreeSet<&str> = types(&events).into_iter().collect();
    let expected = [
        "approvalDecided",
        "approvalRequired",
        "callError",
        "callProgress",
        "callRepeated",
        "callResult",
        "callScheduled",
        "console",
        "limitReached",
        "runFinished",
        "runPaused",
        "runResumed",
        "runStarted",
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected, "all kinds are among them");
    let optional = [
        "cached of callResult",
        "reason of approvalDecided",
        "by of approvalDecided",
        "total of callProgress",
        "message of callProgress",
        "error of runFinished",
    ];
    for event in &events {
        let errors: Vec<String> = schema.iter_errors(event).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{event}: {errors:?}");
        let kind = event["type"].as_str().unwrap();
        // Without a member, with another type, or with a value that is none: no longer an event.
        for (key, value) in event.as_object().unwrap() {
            let is_optional = optional.contains(&format!("{key} of {kind}").as_str());
            let mut without = event.clone();
            without.as_object_mut().unwrap().remove(key);
            assert_eq!(schema.is_valid(&without), is_optional, "{kind} without {key}");
            // Parameters may be anything.
            if key != "params" {
                let mut other = event.clone();
                other[key] = if value.is_array() { json!(7) } else { json!([value]) };
                assert!(!schema.is_valid(&other), "{kind} with another {key}: {other}");
            }
        }
        // Further members may come with time.
        let mut more = event.clone();
        more["later"] = json!(1);
        assert!(schema.is_valid(&more), "{kind}");
    }
    for changed in [
        ("runStarted", "type", json!("runBegan")),
        ("runStarted", "seq", json!(-1)),
        ("runStarted", "seq", json!(0.5)),
        ("runStarted", "runId", json!("x")),
        ("runStarted", "interfaces", json!([1])),
        ("console", "level", json!("loud")),
        ("callScheduled", "callId", json!(0)),
        ("callResult", "durationMs", json!(-1)),
        ("callResult", "cached", json!(false)),
        ("callError", "code", json!(7)),
        ("approvalRequired", "approvalId", json!("1")),
        ("approvalRequired", "source", json!("script")),
        ("approvalDecided", "decision", json!("approved")),
        ("runPaused", "reason", json!("lunch")),
        ("limitReached", "code", json!("fuel")),
        ("runFinished", "usage", json!({})),
        ("runFinished", "ok", json!("yes")),
    ] {
        let (kind, key, value) = changed;
        let mut event = events.iter().find(|event| event["type"] == kind).unwrap().clone();
        event[key] = value;
        assert!(!schema.is_valid(&event), "{event}");
    }
}

/// A handler of a library's own may fail with any code.
#[tokio::test]
async fn an_error_with_any_code_has_the_published_shape() {
    let schema = schema();
    let wit = "package test:bank@1.0.0;
    interface bank {
        use agent-spaces:host/types@0.1.0.{capability-error};
        fail: async func(code: string) -> result<string, capability-error>;
    }";
    for code in ["bank.broke", "bank.notEnough", "E42", "bank", "a.b.c", "", "Some words"] {
        let mut handlers = agent_spaces::Handlers::new();
        handlers.add("test:bank/bank@1.0.0", "fail", |call| async move {
            Err(agent_spaces::CapabilityError::new(call.params["code"].as_str().unwrap(), "no"))
        });
        let space = agent_spaces_tests::space(wit, handlers);
        let source = format!("import {{ bank }} from '@test/bank'; await bank.fail('{code}').catch((e) => e.code)");
        let (report, events) = agent_spaces_tests::run_with_events(&space, &source, Limits::default()).await;
        assert!(report.outcome.is_ok());
        let events: Vec<Value> = events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
        assert!(types(&events).contains(&"callError"), "{code}: {events:?}");
        for event in events {
            assert!(schema.is_valid(&event), "{event}");
        }
    }
}
