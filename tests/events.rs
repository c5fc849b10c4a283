//! Event stream of a run: order and shapes.

use agent_spaces::{CapabilityError, Event, Handlers, Limits, RunOptions, Space};
use agent_spaces_tests::{empty_space, run_with_events, space};
use serde_json::{Value, json};

const SHOP: &str = "package test:shop@1.0.0;
interface shop {
    use agent-spaces:host/types@0.1.0.{capability-error};
    record params { name: string, count: option<u32> }
    buy-item: async func(params: params) -> result<u32, capability-error>;
}";

fn shop() -> Space {
    let mut handlers = Handlers::new();
    handlers.add("test:shop/shop@1.0.0", "buy-item", |call| async move {
        match call.params["count"].as_u64() {
            Some(count) => Ok(count.into()),
            None => Err(CapabilityError::new("call.unavailable", "sold out")),
        }
    });
    space(SHOP, handlers)
}

/// Every event as JSON; asserts what all of them have.
fn shapes(events: &[Event], run_id: &str) -> Vec<Value> {
    let shapes: Vec<Value> =
        events.iter().map(|event| serde_json::to_value(event).expect("an event is JSON")).collect();
    for (seq, shape) in shapes.iter().enumerate() {
        assert_eq!(shape["seq"], json!(seq), "no gap: {shape}");
        assert_eq!(shape["runId"], json!(run_id));
        let timestamp = shape["timestamp"].as_str().expect("a timestamp");
        let is_rfc3339 = timestamp.len() == "2026-01-01T00:00:00.000Z".len()
            && timestamp.ends_with('Z')
            && timestamp.as_bytes()[10] == b'T';
        assert!(is_rfc3339, "{timestamp}");
    }
    let timestamps: Vec<&str> = shapes.iter().filter_map(|shape| shape["timestamp"].as_str()).collect();
    assert!(timestamps.is_sorted(), "{timestamps:?}");
    shapes
}

fn types(shapes: &[Value]) -> Vec<&str> {
    shapes.iter().filter_map(|shape| shape["type"].as_str()).collect()
}

fn keys(shape: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = shape.as_object().expect("an object").keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[tokio::test]
async fn events_are_in_order() {
    let source = "import { shop } from '@test/shop';
        console.log('start', { a: 1 });
        const bought = await shop.buyItem({ name: 'tea', count: 2 });
        try { await shop.buyItem({ name: 'milk' }) } catch { console.warn('none') }
        bought";
    let (report, events) = run_with_events(&shop(), source, Limits::default()).await;
    let shapes = shapes(&events, &report.run_id);
    let expected = [
        "runStarted",
        "console",
        "callScheduled",
        "callResult",
        "callScheduled",
        "callError",
        "console",
        "runFinished",
    ];
    assert_eq!(types(&shapes), expected);

    assert_eq!(keys(&shapes[0]), ["interfaces", "runId", "script", "seq", "timestamp", "type"]);
    assert_eq!(
        (&shapes[0]["script"], &shapes[0]["interfaces"]),
        (&json!("script.ts"), &json!(["test:shop/shop@1.0.0"]))
    );

    assert_eq!(keys(&shapes[1]), ["level", "runId", "seq", "text", "timestamp", "type"]);
    assert_eq!((&shapes[1]["level"], &shapes[1]["text"]), (&json!("log"), &json!("start { a: 1 }")));

    assert_eq!(
        keys(&shapes[2]),
        ["callId", "capability", "function", "functionId", "interface", "params", "runId", "seq", "timestamp", "type"]
    );
    assert_eq!(shapes[2]["callId"], json!(1));
    assert_eq!(shapes[2]["interface"], json!("test:shop/shop@1.0.0"));
    assert_eq!(shapes[2]["capability"], json!("shop"));
    assert_eq!(shapes[2]["function"], json!("buyItem"));
    assert_eq!(shapes[2]["params"], json!({"name": "tea", "count": 2}));

    assert_eq!(keys(&shapes[3]), ["callId", "durationMs", "runId", "seq", "timestamp", "type"]);
    assert_eq!(keys(&shapes[5]), ["callId", "code", "durationMs", "message", "runId", "seq", "timestamp", "type"]);
    let failed = (&shapes[5]["callId"], &shapes[5]["code"], &shapes[5]["message"]);
    assert_eq!(failed, (&json!(2), &json!("call.unavailable"), &json!("sold out")));

    assert_eq!(keys(&shapes[7]), ["ok", "runId", "seq", "timestamp", "type", "usage"]);
    assert_eq!(shapes[7]["ok"], json!(true));
    assert_eq!(shapes[7]["usage"], serde_json::to_value(report.usage).unwrap());
}

/// Usage is reported with every run.
#[tokio::test]
async fn usage_is_reported() {
    let source = "import { shop } from '@test/shop'; await shop.buyItem({ name: 'tea', count: 2 }); new Array(100000).fill(1).length";
    let (report, events) = run_with_events(&shop(), source, Limits::default()).await;
    let shapes = shapes(&events, &report.run_id);
    let usage = &shapes.last().unwrap()["usage"];
    assert_eq!(keys(usage), ["bytesIn", "bytesOut", "calls", "fuel", "memoryBytes", "wallMs"]);
    assert_eq!(usage["calls"], json!(1));
    for member in ["fuel", "memoryBytes", "wallMs", "bytesIn", "bytesOut"] {
        assert!(usage[member].as_f64().is_some_and(|used| used > 0.0), "{member}: {usage}");
    }
    let (idle, _) = run_with_events(&empty_space(), "1", Limits::default()).await;
    assert_eq!((idle.usage.calls, idle.usage.bytes_in, idle.usage.bytes_out), (0, 0, 0));
    assert!(idle.usage.fuel < report.usage.fuel);
}

#[tokio::test]
async fn a_failed_run_reports_its_error() {
    let (report, events) = run_with_events(&empty_space(), "\nnull.x", Limits::default()).await;
    let shapes = shapes(&events, &report.run_id);
    assert_eq!(types(&shapes), ["runStarted", "runFinished"]);
    assert_eq!(shapes[1]["ok"], json!(false));
    let error = &shapes[1]["error"];
    assert_eq!(error["code"], json!("script.error"));
    assert_eq!(error["name"], json!("TypeError"));
    assert_eq!(error["location"], json!({"file": "script.ts", "line": 2, "column": 6}), "{error}");
    assert_eq!(error, &serde_json::to_value(report.outcome.unwrap_err()).unwrap());
}

#[tokio::test]
async fn limit_reached_comes_before_the_end() {
    let limits = Limits { fuel: 50_000_000, ..Limits::default() };
    let (report, events) = run_with_events(&empty_space(), "for (;;) {}", limits).await;
    let shapes = shapes(&events, &report.run_id);
    assert_eq!(types(&shapes), ["runStarted", "limitReached", "runFinished"]);
    assert_eq!((&shapes[1]["limit"], &shapes[1]["code"]), (&json!("fuel"), &json!("limit.fuel")));
    assert_eq!(shapes[2]["error"]["code"], json!("limit.fuel"));
    let (report, events) = run_with_events(&empty_space(), "throw new Error('no limit')", Limits::default()).await;
    assert!(!types(&self::shapes(&events, &report.run_id)).contains(&"limitReached"));
}

/// A script cannot make a limit of its own.
#[tokio::test]
async fn a_script_cannot_fake_a_limit_event() {
    let source = "throw new CapabilityError('no', { code: 'limit.fuel' })";
    let (report, events) = run_with_events(&empty_space(), source, Limits::default()).await;
    assert_eq!(types(&shapes(&events, &report.run_id)), ["runStarted", "runFinished"]);
    assert_eq!(report.outcome.unwrap_err().code, "script.error");
}

#[tokio::test]
async fn a_cancelled_run_reports_cancellation() {
    let space = empty_space();
    let program = space.prepare("agent.ts", "await new Promise(r => setTimeout(r, 60000))").unwrap();
    let mut run = program.start(RunOptions::default());
    let id = run.id().to_owned();
    let mut events = vec![run.next_event().await.expect("runStarted")];
    run.cancellation_token().cancel();
    while let Some(event) = run.next_event().await {
        events.push(event);
    }
    let shapes = shapes(&events, &id);
    assert_eq!(types(&shapes), ["runStarted", "runFinished"]);
    assert_eq!(shapes[0]["script"], json!("agent.ts"));
    assert_eq!(shapes[1]["error"]["code"], json!("run.cancelled"));
    let report = run.finish().await;
    assert_eq!(*report.run_id, *id);
    assert!(id.starts_with("run_") && id.len() == "run_".len() + 24, "{id}");
}

/// A run continues without listeners.
#[tokio::test]
async fn a_listener_may_disconnect() {
    let space = empty_space();
    let program = space.prepare("script.ts", "console.log(1); 2").unwrap();
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    drop(receiver);
    let report = program.run(RunOptions { events: Some(sender), ..RunOptions::default() }).await;
    assert_eq!(report.outcome.unwrap(), json!(2));
}

/// Two runs have two streams.
#[tokio::test]
async fn event_streams_of_two_runs_do_not_mix() {
    let space = empty_space();
    let ((first, first_events), (second, second_events)) = tokio::join!(
        run_with_events(&space, "console.log('a')", Limits::default()),
        run_with_events(&space, "console.log('b')", Limits::default())
    );
    assert_ne!(first.run_id, second.run_id);
    assert_eq!(shapes(&first_events, &first.run_id)[1]["text"], json!("a"));
    assert_eq!(shapes(&second_events, &second.run_id)[1]["text"], json!("b"));
}
