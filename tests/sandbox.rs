//! Sandbox smoke tests.

use agent_spaces::Handlers;
use agent_spaces_tests::{empty_space, run, space, value};
use serde_json::json;

#[tokio::test]
async fn a_script_has_a_value() {
    let space = empty_space();
    assert_eq!(value(&space, "export default 1 + 1").await, json!(2));
    assert_eq!(value(&space, "const x: number = 20; x * 2").await, json!(40));
    assert_eq!(value(&space, "return { a: [1, 'x', null] }").await, json!({"a": [1, "x", null]}));
    assert_eq!(value(&space, "export default async () => { await 0; return 'called' }").await, json!("called"));
    let report = run(&space, "console.log('hello', { a: 1 }); await new Promise(r => setTimeout(r, 5)); 'slept'").await;
    assert_eq!(report.outcome.unwrap(), json!("slept"));
    assert_eq!(report.console[0].text, "hello { a: 1 }");
}

#[tokio::test]
async fn a_capability_is_called() {
    let mut handlers = Handlers::new();
    handlers.add("capabilities:train-schedule/train-schedule@1.0.0", "get-schedule", |call| async move {
        assert_eq!(call.params, json!({"station": "Central", "extra": {"a": [1, null]}}));
        Ok(json!([{"id": "t1", "hour": 7}, {"id": "t2", "hour": 13, "platform": "4a"}]))
    });
    let wit = "package capabilities:train-schedule@1.0.0;
        interface train-schedule {
            use agent-spaces:host/types@0.1.0.{capability-error, json};
            record params { station: option<string>, extra: option<json> }
            record trip { id: string, hour: s64, platform: option<string> }
            get-schedule: async func(params: params) -> result<list<trip>, capability-error>;
        }";
    let space = space(wit, handlers);
    let report = run(
        &space,
        "import { trainSchedule } from '@capabilities/train-schedule';
        const trips = await trainSchedule.getSchedule({ station: 'Central', extra: {a: [1, null]} });
        trips.filter(t => t.hour < 12)",
    )
    .await;
    assert_eq!(report.outcome.unwrap(), json!([{"id": "t1", "hour": 7}]));
    assert_eq!(report.usage.calls, 1);
    let report = run(
        &space,
        "import { trainSchedule } from '@capabilities/train-schedule';
        await trainSchedule.getSchedule({ statoin: 'Central' })",
    )
    .await;
    let error = report.outcome.unwrap_err();
    assert_eq!(error.code, "call.invalid");
    assert!(error.message.contains("did you mean `station`?"), "{error}");
}

/// Fuel is exact, so it shows what no clock on a busy machine can: that an engine, a binding or the host's preparation
/// became slower. A change that means to cost more moves the bounds.
#[tokio::test]
async fn fuel_of_runs_and_calls_stays_within_bounds() {
    let mut handlers = Handlers::new();
    handlers.add("test:cost/cost@1.0.0", "get", |_| async { Ok(json!([{"id": "a", "n": 1}])) });
    let wit = "package test:cost@1.0.0; interface cost {
        record item { id: string, n: s64 }
        get: async func() -> result<list<item>, string>;
    }";
    let space = space(wit, handlers);
    let fuel = async |calls: u32| {
        let source =
            format!("import {{ cost }} from '@test/cost'; for (let i = 0; i < {calls}; i++) await cost.get();");
        run(&space, &source).await.usage.fuel
    };
    let trivial = run(&empty_space(), "1 + 1").await.usage.fuel;
    assert!((8_000..13_000).contains(&trivial), "a trivial script: {trivial}");
    let call = (fuel(101).await - fuel(1).await) / 100;
    // Much of it is the stack of the call, which names its line where the call fails later.
    assert!((2_000..16_000).contains(&call), "a typed call: {call}");
}

/// A journal replays on another processor, whose NaN may have another sign.
#[tokio::test]
async fn nan_has_the_same_bits_on_every_processor() {
    let source = "const zero = Number('0');
        const numbers = new Float64Array([zero / zero, Math.sqrt(-1 - zero), (Infinity - zero) * zero]);
        Array.from(new Uint8Array(numbers.buffer))";
    let bits = run(&empty_space(), source).await.outcome.unwrap();
    assert_eq!(bits, json!([[0, 0, 0, 0, 0, 0, 248, 127]; 3].concat()));
}
