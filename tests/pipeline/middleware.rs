//! Middleware of allowed calls: timeout, concurrency, cache and retries.

use super::rig::{Rig, import, named, rules, with_scopes};
use agent_spaces::{CapabilityError, Limits};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn mode(mode: &str) -> Value {
    json!({ "mode": mode })
}

fn code(outcome: &Result<Value, CapabilityError>) -> &str {
    outcome.as_ref().map_or_else(|error| error.code.as_str(), |_| "ok")
}

#[tokio::test]
async fn a_slow_call_times_out() {
    let rig = Rig::new(rules(json!({ "crm.find": { "timeout": "300ms" }, "crm.*": { "timeout": "1m" } })));
    let begun = Instant::now();
    let long = mode("sleep 60000");
    for outcome in [rig.host("crm.find", long.clone()).await, rig.script_one("crm.find", long).await] {
        let error = outcome.unwrap_err();
        assert_eq!((error.code.as_str(), error.retryable), ("call.timeout", false), "{error:?}");
        assert_eq!(error.details.unwrap(), json!({ "afterMs": 300, "hint": "timeout" }));
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    // A longer timeout of another rule applies, and timely answers are unchanged.
    let long = mode("sleep 500");
    for outcome in [rig.host("crm.note", long.clone()).await, rig.script_one("crm.note", long).await] {
        assert_eq!(outcome.unwrap(), json!("slept"));
    }
    assert!(rig.host("crm.find", mode("sleep 1")).await.is_ok());
}

fn many(label: &str, count: usize, mode: &str) -> String {
    let capability = label.split_once('.').unwrap().0;
    format!(
        "{}const all = await Promise.all(Array.from({{ length: {count} }}, () => {label}({{ mode: '{mode}' }})));
        export default all.length",
        import(capability)
    )
}

#[tokio::test]
async fn concurrency_is_limited_and_others_wait() {
    for (functions, expected) in [(json!({ "crm.find": { "concurrency": 2 } }), 2), (json!({}), 6)] {
        let rig = Rig::new(rules(functions));
        let report = rig.run(&many("crm.find", 6, "sleep 200"), Limits::default()).await;
        assert_eq!(report.outcome.unwrap(), json!(6));
        assert_eq!(*rig.at_once.lock().unwrap(), (0, expected));
    }
}

/// The bound is the function's, whoever calls: two scripts that import different things, and the host.
#[tokio::test]
async fn the_concurrency_limit_spans_scripts() {
    let rig = Rig::new(rules(json!({ "crm.find": { "concurrency": 1 } })));
    let alone = many("crm.find", 2, "sleep 30");
    let with_another = import("post") + &alone.replace("export default", "post.send; export default");
    let (first, second, third) = tokio::join!(
        rig.run(&alone, Limits::default()),
        rig.run(&with_another, Limits::default()),
        rig.host("crm.find", mode("sleep 30")),
    );
    assert!(first.outcome.is_ok() && second.outcome.is_ok() && third.is_ok());
    assert_eq!(*rig.at_once.lock().unwrap(), (0, 1));
}

/// A dropped call frees its slot for the next.
#[tokio::test]
async fn a_dropped_call_frees_its_slot() {
    let rig = Rig::new(rules(json!({ "crm.find": { "concurrency": 1, "timeout": "300ms" } })));
    let slow = rig.host("crm.find", mode("sleep 60000"));
    let quick = rig.host("crm.find", mode("say quick"));
    let (slow, quick) = tokio::join!(slow, quick);
    assert_eq!((code(&slow), quick), ("call.timeout", Ok(json!("quick"))));
}

#[tokio::test]
async fn an_equal_call_is_answered_from_the_cache() {
    let rig = Rig::new(rules(json!({ "crm.find": { "idempotent": true, "cache": "1m" } })));
    let ask = async |caller: &str, params: Value| {
        let before = rig.count();
        let by_script = rig.script_as(named(caller), &[("crm.find", params.clone())]).await.remove(0);
        let by_host = rig.host_as(named(caller), "crm.find", params).await;
        assert_eq!(by_script, by_host);
        (by_script, rig.count() - before)
    };
    let calls = async |caller, params| ask(caller, params).await.1;
    assert_eq!(calls("ada", mode("say x")).await, 1);
    assert_eq!(calls("ada", mode("say x")).await, 0);
    // The same with its default written out, and in another order.
    assert_eq!(calls("ada", json!({ "n": 1, "mode": "say x" })).await, 0);
    // Another caller, other arguments, another function.
    assert_eq!(calls("bob", mode("say x")).await, 1);
    assert_eq!(calls("ada", mode("say y")).await, 1);
    assert_eq!(calls("ada", json!({ "n": 2, "mode": "say x" })).await, 1);
    rig.host_as(named("ada"), "crm.note", mode("say x")).await.unwrap();
    rig.host_as(named("ada"), "crm.note", mode("say x")).await.unwrap();
    assert_eq!(rig.provided.lock().unwrap().iter().filter(|(label, _)| label == "crm.note").count(), 2);
    // Failures are not kept.
    assert_eq!(calls("ada", mode("fail")).await, 2);
}

/// Scopes are what a caller may do: what one may see is not for one who may less.
#[tokio::test]
async fn the_cache_is_not_shared_across_scopes() {
    let rig = Rig::new(rules(json!({ "crm.find": { "idempotent": true, "cache": "1m" } })));
    for (scopes, count) in [(&["money"][..], 1), (&[], 2), (&["money"], 2), (&["money", "mail"], 3), (&[], 3)] {
        rig.host_as(with_scopes(scopes), "crm.find", json!({})).await.unwrap();
        assert_eq!(rig.count(), count, "{scopes:?}");
    }
}

#[tokio::test]
async fn an_invalid_answer_is_not_cached() {
    let rig = Rig::new(rules(json!({ "post.send": { "idempotent": true, "cache": "1m" } })));
    for count in [1, 2] {
        assert_eq!(code(&rig.script_one("post.send", mode("number")).await), "call.failed");
        assert_eq!(rig.count(), count);
    }
    assert_eq!(code(&rig.host("post.send", mode("number")).await), "call.failed");
    assert_eq!(rig.count(), 3);
}

#[tokio::test]
async fn cached_answers_expire() {
    let rig = Rig::new(rules(json!({ "crm.find": { "idempotent": true, "cache": "1s" } })));
    for expected in [1, 1] {
        rig.host("crm.find", json!({})).await.unwrap();
        assert_eq!(rig.count(), expected);
    }
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    rig.host("crm.find", json!({})).await.unwrap();
    assert_eq!(rig.count(), 2);
}

/// A rule for more functions may say that they can be repeated; one for fewer that some cannot.
#[tokio::test]
async fn non_idempotent_calls_are_neither_cached_nor_retried() {
    let functions = json!({
        "crm.*": { "idempotent": true, "cache": "1m", "retries": 3 },
        "crm.note": { "idempotent": false },
    });
    let rig = Rig::new(rules(functions));
    for (label, params, code_of_it, calls) in [
        ("crm.note", mode("say x"), "ok", 2),
        ("crm.note", mode("busy"), "call.unavailable", 2),
        ("crm.find", mode("say x"), "ok", 1),
        // A failure that will stay is not repeated.
        ("crm.find", mode("fail"), "call.failed", 2),
    ] {
        let before = rig.count();
        for _ in 0..2 {
            assert_eq!(code(&rig.host(label, params.clone()).await), code_of_it, "{label} {params}");
        }
        assert_eq!(rig.count() - before, calls, "{label} {params}");
    }
}

/// Later and later, and no more often than was said.
#[tokio::test]
async fn a_transient_failure_is_retried() {
    let rig = Rig::new(rules(json!({ "crm.find": { "idempotent": true, "retries": 2 } })));
    let begun = Instant::now();
    let error = rig.script_one("crm.find", mode("busy")).await.unwrap_err();
    assert_eq!((error.code.as_str(), rig.count()), ("call.unavailable", 3));
    assert!(begun.elapsed() >= Duration::from_millis(300), "100 ms, then 200 ms");
}
