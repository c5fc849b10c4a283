//! Scripts that tamper with their own realm, without effect on the engine or the next run.

use agent_spaces_tests::{empty_space, error, run, value};
use serde_json::{Value, json};

async fn all(cases: &[(&str, Value)]) {
    let space = empty_space();
    let mut failures = Vec::new();
    for (source, expected) in cases {
        match run(&space, source).await.outcome {
            Ok(value) if value == *expected => {}
            other => failures.push(format!("{source}: expected {expected}, got {other:?}")),
        }
        assert_eq!(
            value(&space, "[[3, 1].sort(), JSON.stringify({ a: 1 }), `${1}`, typeof x]").await,
            json!([[1, 3], "{\"a\":1}", "1", "undefined"]),
            "after {source}"
        );
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A script may replace its globals; its value is still returned.
#[tokio::test]
async fn replaced_globals_do_not_change_the_value() {
    all(&[
        ("JSON.stringify = () => 'forged'; JSON.parse = null; globalThis.JSON = null; ({ a: [1] })", json!({"a": [1]})),
        ("globalThis.Promise = null; Promise; await 0; ({ a: 1 })", json!({"a": 1})),
        ("Promise.prototype.then = () => { throw 1 }; export default async () => 5", json!(5)),
        ("Array.prototype.push = Array.prototype.map = Array.prototype[Symbol.iterator] = null; ({ a: [1, 2] })", json!({"a": [1, 2]})),
        ("Object.keys = Object.getOwnPropertyNames = Reflect.ownKeys = () => ['forged']; ({ a: 1 })", json!({"a": 1})),
        ("globalThis.Error = globalThis.CapabilityError = null; ({ a: 1 })", json!({"a": 1})),
        ("for (const k of Object.getOwnPropertyNames(globalThis)) { try { delete globalThis[k] } catch {} } ({ a: 1 })", json!({"a": 1})),
        ("Object.setPrototypeOf(globalThis, new Proxy({}, { get() { throw 1 }, has() { throw 1 } })); ({ a: 1 })", json!({"a": 1})),
        ("Object.freeze(Object.prototype); Object.freeze(Array.prototype); ({ a: [1] })", json!({"a": [1]})),
        ("String.prototype.toString = Number.prototype.valueOf = () => 'forged'; ({ s: 'x', n: 1 })", json!({"s": "x", "n": 1})),
    ])
    .await;
}

/// Pollution stays in its run, and does not reach what crosses.
#[tokio::test]
async fn prototype_pollution_stays_in_its_run() {
    all(&[
        ("Object.prototype.polluted = 1; Array.prototype.x = 2; ({ a: [1] })", json!({"a": [1]})),
        ("({}).__proto__.toString = () => 'forged'; ({ a: 1 })", json!({"a": 1})),
        ("Object.defineProperty(Object.prototype, 'then', { get() { return undefined } }); ({ a: 1 })", json!({"a": 1})),
        ("Object.prototype.tag = 'forged'; Object.prototype.val = 1; ({ a: 1 })", json!({"a": 1})),
        ("Object.defineProperty(Object.prototype, 'a', { set() { throw 1 }, configurable: true }); JSON.parse('{\"a\": 1}')", json!({"a": 1})),
    ])
    .await;
    assert_eq!(value(&empty_space(), "[({}).polluted ?? null, [].x ?? null]").await, json!([null, null]));
}

/// The function constructor leads to the same realm and no further.
#[tokio::test]
async fn the_function_constructor_does_not_escape() {
    all(&[
        ("const g = [].constructor.constructor('return this')(); [g === globalThis, typeof g.process, typeof g.std, typeof g.require]", json!([true, "undefined", "undefined", "undefined"])),
        ("const g = (async () => {}).constructor('return typeof process')(); await g", json!("undefined")),
        ("const g = (function* () {}).constructor('yield 1')(); [...g]", json!([1])),
        ("new Error().constructor.constructor('return typeof Deno')()", json!("undefined")),
    ])
    .await;
}

/// Any thrown value is reported.
#[tokio::test]
async fn any_thrown_value_is_reported() {
    let space = empty_space();
    for (source, part) in [
        ("throw null", "null"),
        ("throw undefined", "undefined"),
        ("throw 'text'", "text"),
        ("throw 5n", "5"),
        ("throw { a: 1 }", "{\"a\":1}"),
        ("throw [1]", "[1]"),
        ("throw Symbol('s')", "Uncaught"),
        ("throw () => 1", "Uncaught"),
        ("const e = {}; e.e = e; throw e", "Uncaught"),
        ("const e = new Error('cyclic'); e.cause = e; throw e", "cyclic"),
        ("throw new AggregateError([new Error('x')], 'many')", "many"),
        ("throw new Proxy(new Error('proxied'), {})", "Uncaught"),
        ("throw Object.create(Error.prototype)", "Uncaught"),
        ("throw Object.assign(new Error('m'), { message: { toString() { return 'from toString' } } })", ""),
        ("throw Object.defineProperty(new Error('m'), 'message', { get() { throw new Error('again') } })", ""),
        (
            "throw Object.defineProperties(new Error('m'), { stack: { get() { throw 1 } }, name: { get() { throw 2 } } })",
            "m",
        ),
        ("throw Object.assign(new Error('m'), { stack: 'forged\\n    at /etc/passwd:1:1' })", "m"),
        ("throw new Error('x'.repeat(1e6))", "xxx"),
        ("throw new Error('lone \\ud800 surrogate')", "lone"),
        ("throw new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 }, getPrototypeOf() { throw 3 } })", "Uncaught"),
        ("await Promise.reject(null)", "null"),
        ("export default () => { throw 'from default' }", "from default"),
        ("export default { get then() { throw new Error('from then') } }", "from then"),
        ("export default { toJSON() { throw new Error('from toJSON') } }", "from toJSON"),
        ("export default { get a() { throw new Error('from a getter') } }", "from a getter"),
    ] {
        let ended = error(&space, source).await;
        assert_eq!(ended.code, "script.error", "{source}: {ended:?}");
        assert!(ended.message.contains(part) && ended.message.len() < 100_000, "{source}: {ended:?}");
        assert_eq!(value(&space, "1 + 1").await, json!(2));
    }
}

/// Getters that never end are fuel like other loops.
#[tokio::test]
async fn an_error_with_endless_getters_runs_out_of_fuel() {
    let space = empty_space();
    for source in [
        "throw Object.defineProperty(new Error(), 'message', { get() { for (;;); } })",
        "throw Object.defineProperty(new Error(), 'stack', { get() { for (;;); } })",
        "throw { get a() { for (;;); } }",
        "throw { toJSON() { for (;;); } }",
        "Promise.reject(Object.defineProperty(new Error(), 'message', { get() { for (;;); } })); 1",
    ] {
        let ended = agent_spaces_tests::error_with(&space, source, agent_spaces_tests::low_limits()).await;
        assert_eq!(ended.code, "limit.fuel", "{source}: {ended:?}");
    }
}

/// Reserved codes cannot be forged, own ones can be given.
#[tokio::test]
async fn a_script_cannot_forge_the_hosts_codes() {
    let space = empty_space();
    for code in [
        "limit.memory",
        "run.cancelled",
        "host.engine",
        "host.engine_fault",
        "config.wit",
        "script.syntax",
        "import.denied",
        "call.denied",
        "call.approval_denied",
    ] {
        let ended = error(&space, &format!("throw new CapabilityError('m', {{ code: '{code}' }})")).await;
        let is_own = code.starts_with("call.") || code.starts_with("import.");
        assert!(ended.code == "script.error" || (is_own && ended.code == code), "{ended:?}");
    }
}

#[tokio::test]
async fn finalizers_and_weak_references_are_harmless() {
    all(&[
        ("let n = 0; const r = new FinalizationRegistry(() => { n++; throw new Error('in a finalizer') });
          for (let i = 0; i < 20000; i++) r.register({ i }, i); await new Promise(done => setTimeout(done, 5)); typeof n", json!("number")),
        ("const target = {}; const w = new WeakRef(target); typeof w.deref()", json!("object")),
        ("const m = new WeakMap(); for (let i = 0; i < 50000; i++) { const k = {}; m.set(k, { k }) } 'done'", json!("done")),
    ])
    .await;
}

/// Modules are strict: neither `with` nor `arguments.callee` is available.
#[tokio::test]
async fn scripts_run_in_strict_mode() {
    let space = empty_space();
    match space.prepare("script.ts", "with ({}) {}") {
        Err(_) => {}
        Ok(program) => {
            let report = program.run(Default::default()).await;
            assert_eq!(report.outcome.unwrap_err().code, "script.syntax");
        }
    }
    assert_eq!(error(&space, "undeclared = 1").await.name.as_deref(), Some("ReferenceError"));
    all(&[
        ("new Function('o', 'with (o) { return a }')({ a: 1 })", json!(1)),
        ("eval('var local = 1'); typeof local", json!("undefined")),
        ("(function () { return this === undefined })()", json!(true)),
    ])
    .await;
}

/// Iterators, species and hooks that lie.
#[tokio::test]
async fn lying_hooks_are_contained() {
    all(&[
        ("class A extends Array { static get [Symbol.species]() { return function () { return [] } } } new A(1, 2, 3).map(x => x)", json!([1, 2, 3])),
        ("const a = [1, 2, 3]; a.sort(() => { a.length = 0; return 1 }); Array.isArray(a)", json!(true)),
        ("const a = [3, 2, 1]; a.sort(() => NaN); a.length", json!(3)),
        ("const b = new Uint8Array(8); const v = { valueOf() { b.buffer.transfer?.(); return 1 } }; try { b.fill(v) } catch {} b.length", json!(0)),
        ("const a = [1, 2]; [...a.entries()].length + Reflect.ownKeys(new Proxy([], { ownKeys: () => ['length'] })).length", json!(3)),
        ("let s = ''; for (const c of { *[Symbol.iterator]() { try { yield 'a'; yield 'b' } finally { s += 'closed' } } }) { s += c; break } s", json!("aclosed")),
        ("const [a = (() => 'default')()] = { [Symbol.iterator]: () => ({ next: () => ({ done: true }) }) }; a", json!("default")),
        ("'abc'.replace(/b/, () => { 'x'.match(/x/); return RegExp.$1 ?? '-' })", json!("a-c")),
        ("const r = /a/g; r.lastIndex = 2 ** 53; r.exec('aaa')", json!(null)),
        ("parseInt({ toString: () => '12px' }) + Number(new Date(NaN)) || 'NaN'", json!("NaN")),
    ])
    .await;
}
