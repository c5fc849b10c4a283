//! Round trip of values: a handler receives what a script passes, and the script sees what the handler returns.
//!
//! `roundtrip/` holds the interface with every type that is supported, and how values of it are made.

pub(crate) mod everything;
mod generate;

use agent_spaces_tests::{engine, space, value};
use everything::{Everything, SAME};
use generate::{finite, whole};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};

/// Batches of the property test; with [`BATCH`] values each, well over a thousand values.
const BATCHES: u32 = 300;
const BATCH: usize = 10;

fn property<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 400, ..Config::default() };
    TestRunner::new(config).run(&strategy, test).unwrap_or_else(|error| panic!("{error}"));
}

/// Each value goes handler → script → handler → script; both ends compare.
fn echoed(
    everything: &Everything,
    runtime: &tokio::runtime::Runtime,
    function: &str,
    batch: Vec<Value>,
) -> Result<(), TestCaseError> {
    everything.offer(batch.clone());
    let script = format!(
        "import {{ echo }} from '@test/echo';
         {SAME}
         const values = await echo.offered();
         for (let i = 0; i < values.length; i++) {{
             const back = await echo.{function}(values[i]);
             if (!same(values[i], back)) return `value ${{i}} came back changed`;
         }}
         return values.length"
    );
    let outcome = runtime.block_on(value(&everything.space, &script));
    prop_assert_eq!(outcome, json!(batch.len()));
    let received = everything.received();
    prop_assert_eq!(received.len(), batch.len());
    for (sent, received) in batch.iter().zip(&received) {
        prop_assert!(everything::same(sent, received), "offered {}\nreceived {}", sent, received);
    }
    Ok(())
}

/// Random values of every type, batches of them in one run each, through an async function.
#[test]
fn every_value_round_trips() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let everything = Everything::new(engine());
    let batches = proptest::collection::vec(generate::everything(), BATCH);
    property(BATCHES, batches, |batch| echoed(&everything, &runtime, "passOn", batch));
}

/// The same through a function that is not async.
#[test]
fn every_value_round_trips_through_a_synchronous_function() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let everything = Everything::new(engine());
    let batches = proptest::collection::vec(generate::everything(), BATCH);
    property(15, batches, |batch| echoed(&everything, &runtime, "passOnNow", batch));
}

/// The same, each value in a space and a sandbox of its own.
#[test]
fn every_value_round_trips_through_a_fresh_sandbox() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    property(12, generate::everything(), |value| echoed(&Everything::new(engine()), &runtime, "passOn", vec![value]));
}

/// A `json` holds any JSON number, so every double survives it.
#[test]
fn every_double_in_json_round_trips() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let everything = Everything::new(engine());
    let doubles =
        proptest::collection::vec(finite().prop_filter("negative zero has its own test", |double| *double != 0.0), 20);
    property(50, doubles, |doubles| {
        let batch =
            doubles.into_iter().map(|double| everything::plain_with("anything", json!({ "a": [double] }))).collect();
        echoed(&everything, &runtime, "passOn", batch)
    });
}

/// Integers up to 2^53 are numbers of a `json` too.
#[test]
fn every_safe_integer_in_json_round_trips() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let everything = Everything::new(engine());
    property(20, proptest::collection::vec(whole(), 20), |integers| {
        let batch = integers.into_iter().map(|integer| everything::plain_with("anything", integer)).collect();
        echoed(&everything, &runtime, "passOn", batch)
    });
}

/// Several parameters reach the handler under their names.
#[tokio::test]
async fn several_parameters_are_passed_by_name() {
    let everything = Everything::new(engine());
    let script = "import { echo } from '@test/echo';
        const [first, second, third] = await echo.several(2n ** 64n - 1n, [{ tag: 'empty' }], null);
        [typeof first, String(first), second, third]";
    assert_eq!(
        value(&everything.space, script).await,
        json!(["bigint", "18446744073709551615", [{"tag": "empty"}], null])
    );
    let received = everything.received();
    assert_eq!(received, [json!({"first": u64::MAX, "second": [{"tag": "empty"}], "third": null})]);
}

/// Script representation of each type.
#[tokio::test]
async fn a_script_sees_each_type_in_its_own_form() {
    let everything = Everything::new(engine());
    let offered = json!({
        "scalars": {"flag": true, "aU8": 255, "aU16": 65535, "aU32": 4294967295u32, "aU64": u64::MAX,
            "aS8": -128, "aS16": -32768, "aS32": i32::MIN, "aS64": i64::MIN, "aF32": 0.5, "aF64": -0.25,
            "aChar": "🚂", "text": "a\u{0}b", "bytes": "AAH/"},
        "twice": {"tag": "some", "val": null}, "thrice": {"tag": "some", "val": {"tag": "none"}},
        "color": "deep-blue", "rights": {"canRead": true, "canWrite": false, "run": true},
        "figure": {"tag": "maybe", "val": null}, "pair": [1, "x", null],
        "outcome": {"tag": "err", "val": "no"}, "outcomes": [{"tag": "ok"}, {"tag": "err", "val": "red"}], "done": {"tag": "ok"},
        "anything": {"__proto__": {"a": 1}}, "perhaps": null, "points": [{"x": 1, "label": ""}],
        "matrix": [[], [1.5]], "maybes": [null, 7], "blobs": ["", "AA=="], "entries": [["k", [null]]]
    });
    everything.offer(vec![offered]);
    let script = "import { echo } from '@test/echo';
        const [v] = await echo.offered();
        const s = v.scalars;
        ({
            kinds: [s.aU32, s.aU64, s.aS64, s.aF32, s.aChar, s.text].map(x => typeof x),
            big: [String(s.aU64), String(s.aS64)],
            bytes: [s.bytes instanceof Uint8Array, [...s.bytes]],
            character: s.aChar.length, text: s.text.length,
            absent: ['maybe' in v, 'yAxis' in v.points[0], 'perhaps' in v],
            twice: v.twice, thrice: v.thrice, color: v.color, rights: v.rights, figure: v.figure, pair: v.pair,
            outcome: v.outcome, outcomes: v.outcomes, done: v.done, maybes: v.maybes, entries: v.entries, perhaps: v.perhaps,
            proto: [Object.keys(v.anything), Object.getPrototypeOf(v.anything) === Object.prototype, v.anything.a === undefined],
        })";
    assert_eq!(
        value(&everything.space, script).await,
        json!({
            "kinds": ["number", "bigint", "bigint", "number", "string", "string"],
            "big": ["18446744073709551615", "-9223372036854775808"],
            "bytes": [true, [0, 1, 255]], "character": 2, "text": 3,
            "absent": [false, false, true],
            "twice": {"tag": "some", "val": null}, "thrice": {"tag": "some", "val": {"tag": "none"}},
            "color": "deep-blue", "rights": {"canRead": true, "canWrite": false, "run": true},
            "figure": {"tag": "maybe", "val": null}, "pair": [1, "x", null],
            "outcome": {"tag": "err", "val": "no"}, "outcomes": [{"tag": "ok"}, {"tag": "err", "val": "red"}], "done": {"tag": "ok"},
            "maybes": [null, 7], "entries": [["k", [null]]], "perhaps": null,
            "proto": [["__proto__"], true, true],
        })
    );
}

/// A record may have members with the names of `Object.prototype`'s.
#[tokio::test]
async fn an_absent_member_is_not_taken_from_the_prototype() {
    let wit = "package test:names@1.0.0;
        interface names {
            use agent-spaces:host/types@0.1.0.{capability-error};
            record params { %constructor: option<string>, to-string: option<string>, value-of: option<u8> }
            get: async func(params: params) -> result<params, capability-error>;
        }";
    let mut handlers = agent_spaces::Handlers::new();
    handlers.add("test:names/names@1.0.0", "get", |call| async move { Ok(call.params) });
    let space = space(wit, handlers);
    let script = "import { names } from '@test/names'; await names.get({ toString: 'x' })";
    assert_eq!(value(&space, script).await, json!({"toString": "x"}));
    assert_eq!(value(&space, "import { names } from '@test/names'; await names.get({})").await, json!({}));
}
