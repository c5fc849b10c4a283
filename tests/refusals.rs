//! Values that cannot cross, refused before the call with their path: the deny twins of `roundtrip.rs`.

use crate::roundtrip::everything::{self, Everything, plain};
use agent_spaces_tests::{engine, value};
use serde_json::{Value, json};

/// Makes one change to a valid value, passes it on, and tells what the script caught.
async fn refused(everything: &Everything, change: &str) -> Value {
    everything.offer(vec![Value::Object(plain())]);
    let script = format!(
        "import {{ echo }} from '@test/echo';
         const [v] = await echo.offered();
         const point = {{ x: 1, label: 'a' }};
         {change};
         try {{ await echo.passOn(v); return 'accepted' }}
         catch (e) {{ return {{ is: e instanceof CapabilityError, code: e.code, message: e.message, path: e.details?.issues?.[0]?.path }} }}"
    );
    value(&everything.space, &script).await
}

/// Asserts the path and parts of the message for each change.
async fn all_refused(cases: &[(&str, &str, &str)]) {
    let everything = Everything::new(engine());
    let mut failures = Vec::new();
    for (change, path, part) in cases {
        let caught = refused(&everything, change).await;
        let message = caught["message"].as_str().unwrap_or("");
        let is_refused = caught["is"] == true && caught["code"] == "call.invalid" && caught["path"] == *path;
        if !is_refused || !message.contains(path) || !message.contains(part) || !everything.received().is_empty() {
            failures
                .push(format!("{change}: expected {path}: {part}, got {caught}; received {:?}", everything.received()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn integers_out_of_range_are_refused() {
    all_refused(&[
        ("v.scalars.aU8 = 256", "scalars.aU8", "from 0 to 255"),
        ("v.scalars.aU8 = -1", "scalars.aU8", "from 0 to 255"),
        ("v.scalars.aU16 = 65536", "scalars.aU16", "65535"),
        ("v.scalars.aU32 = 2 ** 32", "scalars.aU32", "4294967295"),
        ("v.scalars.aU64 = -1", "scalars.aU64", "18446744073709551615"),
        ("v.scalars.aU64 = 2n ** 64n", "scalars.aU64", "18446744073709551615"),
        ("v.scalars.aU64 = 2n ** 5000n", "scalars.aU64", "18446744073709551615"),
        ("v.scalars.aU64 = 2 ** 53", "scalars.aU64", "BigInt"),
        ("v.scalars.aS8 = -129", "scalars.aS8", "-128"),
        ("v.scalars.aS16 = 32768", "scalars.aS16", "32767"),
        ("v.scalars.aS32 = 2 ** 31", "scalars.aS32", "2147483647"),
        ("v.scalars.aS64 = 2n ** 63n", "scalars.aS64", "9223372036854775807"),
        ("v.scalars.aS64 = -(2n ** 63n) - 1n", "scalars.aS64", "-9223372036854775808"),
        ("v.scalars.bytes = [256]", "scalars.bytes[0]", "255"),
        ("v.maybes = [1, 70000]", "maybes[1]", "65535"),
    ])
    .await;
}

#[tokio::test]
async fn non_finite_numbers_are_refused() {
    all_refused(&[
        ("v.scalars.aU8 = 1.5", "scalars.aU8", "an integer"),
        ("v.scalars.aU8 = NaN", "scalars.aU8", "an integer"),
        ("v.scalars.aU8 = '1'", "scalars.aU8", "an integer"),
        ("v.scalars.aU8 = null", "scalars.aU8", "an integer"),
        ("v.scalars.aU8 = new Number(1)", "scalars.aU8", "an integer"),
        ("v.scalars.aF64 = NaN", "scalars.aF64", "finite"),
        ("v.scalars.aF64 = Infinity", "scalars.aF64", "finite"),
        ("v.scalars.aF64 = '1'", "scalars.aF64", "number"),
        ("v.scalars.aF64 = 1n", "scalars.aF64", "BigInt"),
        ("v.matrix = [[0], [1, -Infinity]]", "matrix[1][1]", "finite"),
    ])
    .await;
}

/// A number that single precision turns into infinity does not arrive as it is.
#[tokio::test]
async fn a_number_beyond_single_precision_is_refused() {
    all_refused(&[("v.scalars.aF32 = 1e300", "scalars.aF32", "")]).await;
}

#[tokio::test]
async fn invalid_strings_are_refused() {
    all_refused(&[
        ("v.scalars.text = 5", "scalars.text", "a string"),
        ("v.scalars.text = new String('a')", "scalars.text", "a string"),
        ("v.scalars.text = 'a\\ud800b'", "scalars.text", "surrogate"),
        ("v.scalars.aChar = ''", "scalars.aChar", "one character"),
        ("v.scalars.aChar = 'ab'", "scalars.aChar", "one character"),
        ("v.scalars.aChar = '\\udc00'", "scalars.aChar", "one character"),
        ("v.scalars.flag = 1", "scalars.flag", "a boolean"),
        ("v.scalars.flag = 'true'", "scalars.flag", "a boolean"),
        ("v.scalars.bytes = 'AAEC'", "scalars.bytes", "an array"),
        ("v.points = [{ ...point, label: '\\udfff' }]", "points[0].label", "surrogate"),
    ])
    .await;
}

#[tokio::test]
async fn unknown_and_missing_members_are_refused() {
    all_refused(&[
        ("v.points = [point, { ...point, yAxes: 2 }]", "points[1].yAxes", "did you mean `yAxis`?"),
        ("v.points = [{ x: 1 }]", "points[0].label", "missing"),
        ("v.points = [{ x: 1, label: undefined }]", "points[0].label", "missing"),
        ("v.points = point", "points", "an array"),
        ("v.points = [[1, 2]]", "points[0]", "an object"),
        ("v.points = [null]", "points[0]", "an object"),
        ("v.scalrs = 1", "scalrs", "did you mean `scalars`?"),
        (
            "v.__proto__ = { extra: 1 }; Object.defineProperty(v, '__proto__', { value: 1, enumerable: true })",
            "__proto__",
            "unknown name",
        ),
        ("delete v.pair", "pair", "missing"),
        ("v.rights = { canRaed: true }", "rights", "did you mean `canRead`?"),
        ("v.rights = { run: 1 }", "rights.run", "a boolean"),
        ("v.rights = ['run']", "rights", "an object"),
    ])
    .await;
}

#[tokio::test]
async fn unknown_cases_are_refused() {
    all_refused(&[
        ("v.color = 'deepBlue'", "color", "`deep-blue`, got `deepBlue`"),
        ("v.color = 0", "color", "a string"),
        ("v.figure = { tag: 'dots', val: point }", "figure.tag", "did you mean `dot`?"),
        ("v.figure = 'empty'", "figure", "{ tag, val }"),
        ("v.figure = { tag: 'dot' }", "figure.val", "an object"),
        ("v.figure = { tag: 'many', val: [point, { ...point, x: '1' }] }", "figure.val[1].x", "an integer"),
        ("v.figures = [{ tag: 'empty' }, { tag: 'maybe', val: [{}] }]", "figures[1].val[0].x", "missing"),
        ("v.outcome = { tag: 'okay', val: 1 }", "outcome.tag", "`ok`"),
        ("v.outcome = { tag: 'err', val: 1 }", "outcome.val", "a string"),
        ("v.twice = 5", "twice", "{ tag, val }"),
        ("v.twice = { tag: 'some', val: 'x' }", "twice.val", "an integer"),
        ("v.pair = [1, 'a']", "pair", "3 items"),
        ("v.pair = [1, 'a', null, 4]", "pair", "3 items"),
        ("v.pair = [1, 2, null]", "pair[1]", "a string"),
    ])
    .await;
}

/// Nothing is dropped silently: extra members of a case are refused.
#[tokio::test]
async fn extra_members_beside_a_case_are_refused() {
    all_refused(&[
        ("v.figure = { tag: 'empty', val: 5 }", "figure.val", "carries no value"),
        ("v.figure = { tag: 'dot', val: point, vla: 1 }", "figure", "vla"),
        ("v.done = { tag: 'ok', val: 'lost' }", "done.val", "carries no value"),
    ])
    .await;
}

#[tokio::test]
async fn values_outside_json_are_refused() {
    all_refused(&[
        ("v.anything = {}; v.anything.a = [v.anything]", "anything.a[0]", "contains itself"),
        ("v.anything = { a: 1n }", "anything.a", "BigInt"),
        ("v.anything = [() => 1]", "anything[0]", "function"),
        ("v.anything = { a: Symbol('s') }", "anything.a", "symbol"),
        ("v.anything = { a: { b: NaN } }", "anything.a.b", "NaN"),
        ("v.anything = [1, undefined]", "anything[1]", "undefined"),
        ("v.anything = [,1]", "anything[0]", "undefined"),
        ("v.anything = { m: new Map() }", "anything.m", "Map"),
        ("v.anything = new Set([1])", "anything", "Set"),
        ("v.anything = { p: Promise.resolve(1) }", "anything.p", "await"),
        ("v.anything = '\\ud83d'", "anything", "surrogate"),
        ("v.anything = { 'a b': ['\\ud83d'] }", "anything[\"a b\"][0]", "surrogate"),
        ("v.entries = [['k', 1n]]", "entries[0][1]", "BigInt"),
        ("v.figure = { tag: 'raw', val: 1n }", "figure.val", "BigInt"),
    ])
    .await;
}

/// No reader on the way has to recurse further than this.
#[tokio::test]
async fn too_deeply_nested_json_is_refused() {
    let everything = Everything::new(engine());
    let nest = |depth: u32| format!("let d = 1; for (let i = 0; i < {depth}; i++) d = [d]; v.anything = d");
    assert_eq!(refused(&everything, &nest(100)).await, json!("accepted"));
    let caught = refused(&everything, &nest(101)).await;
    assert_eq!(caught["code"], "call.invalid");
    assert!(caught["message"].as_str().is_some_and(|message| message.contains("100 levels")), "{caught}");
    assert!(everything.received().is_empty());
}

/// A key is text too.
#[tokio::test]
async fn a_key_with_a_lone_surrogate_is_refused() {
    all_refused(&[("v.anything = { a: { '\\ud800': 1 } }", "anything.a", "surrogate")]).await;
}

/// A `json` that would arrive with another value than it was given is refused or arrives.
#[tokio::test]
async fn negative_zero_in_json_is_preserved() {
    let everything = Everything::new(engine());
    everything.offer(vec![Value::Object(plain())]);
    let script = "import { echo } from '@test/echo';
        const [v] = await echo.offered();
        Object.is((await echo.passOn({ ...v, anything: -0 })).anything, -0)";
    assert_eq!(value(&everything.space, script).await, json!(true));
}

#[tokio::test]
async fn a_wrong_number_of_arguments_is_refused() {
    let everything = Everything::new(engine());
    for (call, part) in [
        ("passOn(v, v)", "one argument, got 2"),
        ("passOn()", "an object"),
        ("passOn(null)", "an object"),
        ("passOn([v])", "an object"),
        ("several(1)", "argument 2"),
        ("several(1, [], 1, 2)", "3 arguments, got 4"),
        ("several(1, [{ tag: 'dot', val: { x: 1 } }])", "argument 2[0].val.label"),
        ("offered(1)", "0 arguments, got 1"),
    ] {
        everything.offer(vec![Value::Object(plain())]);
        let script = format!(
            "import {{ echo }} from '@test/echo';
             const [v] = await echo.offered();
             try {{ await echo.{call}; return 'accepted' }} catch (e) {{ return [e.code, e.message] }}"
        );
        let caught = value(&everything.space, &script).await;
        assert_eq!(caught[0], "call.invalid", "{call}: {caught}");
        let message = caught[1].as_str().unwrap_or_default();
        assert!(message.contains(part) && message.starts_with("echo."), "{call}: {message}");
        assert!(everything.received().is_empty(), "{call}");
    }
}

/// A getter's exception reaches the caller unchanged, without a call.
#[tokio::test]
async fn a_throwing_getter_fails_the_call() {
    let everything = Everything::new(engine());
    let caught = refused(
        &everything,
        "Object.defineProperty(v, 'color', { enumerable: true, get() { throw new RangeError('mine') } })",
    )
    .await;
    assert_eq!(caught["message"], "mine");
    assert!(everything.received().is_empty());
}

/// An integer that a number cannot hold is refused on its way to the script too.
#[tokio::test]
async fn an_unsafe_integer_in_a_json_answer_is_refused() {
    let everything = Everything::new(engine());
    everything.offer(vec![everything::plain_with("anything", json!({ "id": 9007199254740993u64 }))]);
    let script = "import { echo } from '@test/echo';
        try { const [v] = await echo.offered(); return String(v.anything.id) } catch (e) { return [e.code, e.message.includes('anything.id')] }";
    let seen = value(&everything.space, script).await;
    assert!(seen == json!("9007199254740993") || seen == json!(["call.failed", true]), "{seen}");
}
